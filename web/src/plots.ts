// The plots that scroll: force, tick time, slow step by stage, each with the percentiles of what it shows.
import uPlot from "uplot";
import { Frame, kStepFields, kTickFields } from "./frame";

const kSeconds = 5; // shown
const kGap = 0.3; // more than this between two samples is a gap [s]; a slow step takes up to 0.1 s
const kColours = ["#e2483d", "#2f9e44", "#3d7fe2", "#8a8f98"];
const kStageColours = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2"];
const kPercentilePeriod = 250; // [ms]

interface Series {
  label: string;
  colour: string;
  fill?: string;
}

export interface Percentiles {
  p50: number;
  p99: number;
}

function percentilesOf(values: (number | null)[]): Percentiles | undefined {
  const sorted = values.filter((v): v is number => Number.isFinite(v)).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  return { p50: sorted[Math.floor(0.5 * (sorted.length - 1))], p99: sorted[Math.floor(0.99 * (sorted.length - 1))] };
}

/// The unit that a value in `unit` is shown in: microseconds where milliseconds would read as nothing.
function shownUnit(unit: string, largest: number): { unit: string; factor: number } {
  return unit === "ms" && largest < 0.1 ? { unit: "µs", factor: 1e3 } : { unit, factor: 1 };
}

const digits = (x: number) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));

/// Of an axis whose longest label must fit [px].
const widthOf = (labels: string[] | null) => Math.max(40, ...(labels ?? []).map((l) => 16 + 6.5 * l.length));

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";
}

/// What a plot shows: times, then the values of each series.
class Track {
  readonly data: [number[], ...(number | null)[][]];
  last = -Infinity; // time

  constructor(series: number) {
    this.data = [[], ...Array.from({ length: series }, () => [])];
  }

  /// What a page missed is a gap, and no line.
  add(time: number, values: number[]): void {
    if (time <= this.last) return;
    if (time > this.last + kGap && this.data[0].length > 0) this.push(0.5 * (time + this.last), values.map(() => null));
    this.last = time;
    this.push(time, values);
  }

  private push(time: number, values: (number | null)[]): void {
    this.data[0].push(time);
    values.forEach((v, i) => (this.data[i + 1] as (number | null)[]).push(v));
  }

  /// Forgets what is no longer shown.
  trim(): void {
    const t = this.data[0];
    let old = 0;
    while (old < t.length && t[old] < this.last - kSeconds) ++old;
    if (old > 0) for (const d of this.data) d.splice(0, old);
  }
}

/// Where nothing is felt, the axis says so in the unit's tenths and not in hundreds.
function twoSided(_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  const least = 0.1;
  return min === null || max === null || max - min < 0.01 * least ? [-least, least] : uPlot.rangeNum(min, max, 0.1, true);
}

class Scroll {
  track: Track;
  empty = "not measured"; // said where there is nothing to take percentiles of
  percentiles: Percentiles | undefined;
  private readonly plot: uPlot;
  private readonly canvas = document.createElement("div");
  private readonly figures = document.createElement("span");
  private readonly name = document.createElement("b");
  private shown: { unit: string; factor: number };
  private readonly notes: HTMLElement[];
  private measured = 0;

  /// `measure` names the series whose percentiles are shown; its values are what those are of.
  constructor(parent: HTMLElement, private readonly title: string, private readonly unit: string, series: Series[], private readonly measure?: number) {
    this.track = new Track(series.length);
    const head = document.createElement("div");
    head.className = "plot-head";
    this.shown = { unit, factor: 1 };
    this.name.textContent = `${title} [${unit}]`;
    this.figures.className = "figures";
    head.append(this.name, this.figures);
    const legend = document.createElement("div");
    legend.className = "plot-legend";
    this.notes = series.map((s) => {
      const item = document.createElement("span");
      const dot = document.createElement("i");
      dot.style.background = s.colour;
      const note = document.createElement("em");
      item.append(dot, s.label, note);
      legend.append(item);
      return note;
    });
    parent.append(head, this.canvas, legend);
    this.canvas.className = "plot-canvas";
    const axis = { stroke: () => css("--ink-soft"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1 }, font: "11px system-ui" };
    this.plot = new uPlot(
      {
        width: 300, height: 100, cursor: { show: false }, legend: { show: false },
        // Times begin at nothing; a force has two sides.
        scales: { x: { time: false }, y: { range: measure === undefined ? twoSided : (_, __, max) => [0, 1.05 * (max || 1)] } },
        axes: [
          { ...axis, size: 24, values: (_, at) => at.map((t) => (t < 0 ? "" : `${+t.toFixed(2)} s`)) },
          { ...axis, space: (u: uPlot) => (u.height < 90 ? 12 : 22), size: (_, labels) => widthOf(labels), values: (_, at) => at.map((v) => String(+(this.shown.factor * v).toPrecision(4))) },
        ],
        series: [{}, ...series.map((s) => ({ label: s.label, stroke: s.colour, fill: s.fill, width: 1, points: { show: false } }))],
        hooks: { draw: [(u) => this.drawPercentiles(u)] },
      },
      this.track.data as uPlot.AlignedData, this.canvas,
    );
  }

  /// Time has gone back, or what is shown is something else.
  clear(): void {
    this.track = new Track(this.track.data.length - 1);
    this.percentiles = undefined;
  }

  /// A word behind a series' name.
  note(series: number, text: string): void {
    this.notes[series].textContent = text;
  }

  /// Where the percentiles stand, of a plot that has none.
  caption(text: string): void {
    if (this.figures.textContent !== text) this.figures.textContent = text;
  }

  /// A value as the plot's unit has it.
  digits(value: number): string {
    return digits(this.shown.factor * value);
  }

  private drawPercentiles(u: uPlot): void {
    if (!this.percentiles) return;
    const { ctx, bbox } = u;
    ctx.save();
    ctx.setLineDash([4, 4]);
    ctx.strokeStyle = css("--ink");
    for (const value of [this.percentiles.p50, this.percentiles.p99]) {
      const y = u.valToPos(value, "y", true);
      if (y < bbox.top) continue;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }

  draw(now: number): boolean {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (width === 0 || height < 20) return false;
    if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    const { data, last } = this.track;
    this.track.trim();
    const anew = now > this.measured + kPercentilePeriod;
    if (anew && this.measure !== undefined) {
      this.measured = now;
      this.percentiles = percentilesOf(data[this.measure + 1]);
      this.shown = shownUnit(this.unit, this.percentiles?.p99 ?? Infinity);
      this.name.textContent = `${this.title} [${this.shown.unit}]`;
      this.figures.textContent = this.percentiles ? `p50 ${this.digits(this.percentiles.p50)} · p99 ${this.digits(this.percentiles.p99)} ${this.shown.unit}` : this.empty;
    }
    this.plot.setData(data as uPlot.AlignedData, false);
    this.plot.setScale("x", last > -Infinity ? { min: last - kSeconds, max: last } : { min: 0, max: kSeconds });
    return anew;
  }
}

const kNoTorque = 0.05; // below it nothing is plotted [mN·m]

export class Plots {
  private readonly force: Scroll;
  private readonly torque: Scroll;
  private readonly tick: Scroll;
  private step: Scroll | undefined;
  private forces: Track[] = []; // of the tools
  private torques: Track[] = [];
  private turned: boolean[] = []; // there was a torque
  private last = -Infinity;

  constructor(private readonly parent: HTMLElement) {
    const axes = ["x", "y", "z", "size"].map((label, i) => ({ label, colour: kColours[i] }));
    this.force = new Scroll(this.box("force"), "Force on the hand", "N", axes);
    this.torque = new Scroll(this.box("torque"), "Torque on the hand", "mN·m", axes);
    this.tick = new Scroll(this.box("tick"), "Tick of the fast loop", "µs", [{ label: "computing time", colour: kColours[2] }], 0);
  }

  private box(name: string): HTMLElement {
    const box = document.createElement("div");
    box.className = "plot";
    box.dataset.plot = name;
    this.parent.append(box);
    return box;
  }

  // Stages are stacked, the last on top: the first series is the whole step.
  setStages(names: string[]): void {
    this.step ??= new Scroll(this.box("step"), "Slow step by stage", "ms", names.map((label, i) => ({ label, colour: kStageColours[i], fill: `${kStageColours[i]}66` })).reverse(), 0);
  }

  /// Whether there are slow steps that could be plotted.
  setSteps(any: boolean): void {
    if (this.step) this.step.empty = any ? "not measured" : "none: all in the fast loop";
  }

  /// The percentiles that are shown.
  get percentiles(): { tick?: Percentiles; step?: Percentiles } {
    return { tick: this.tick.percentiles, step: this.step?.percentiles };
  }

  /// From when to when the force is plotted [s], and in how many ticks; for tests.
  get span(): { from: number; to: number; ticks: number } {
    const times = this.force.track.data[0];
    return { from: times[0], to: times[times.length - 1], ticks: times.length };
  }

  /// Ticks have a time of their own, which goes on while the scene's hand begins again. Where it goes back (another
  /// scene, a film that is wound back) the plots begin anew.
  add(frame: Frame): void {
    const ticks = frame.tools[0].ticks;
    const newest = ticks[ticks.length - kTickFields] ?? this.last;
    if (newest < this.last - 1e-4) this.clear();
    this.last = newest;
    for (const all of [this.forces, this.torques]) all.length = Math.min(all.length, frame.tools.length);
    frame.tools.forEach(({ ticks: t }, tool) => {
      const force = (this.forces[tool] ??= new Track(4));
      const torque = (this.torques[tool] ??= new Track(4));
      for (let i = 0; i + kTickFields <= t.length; i += kTickFields) {
        const [time, fx, fy, fz, mx, my, mz] = t.subarray(i, i + 7);
        const moment = 1e3 * Math.hypot(mx, my, mz);
        force.add(time, [fx, fy, fz, Math.hypot(fx, fy, fz)]);
        torque.add(time, [1e3 * mx, 1e3 * my, 1e3 * mz, moment]);
        if (moment > kNoTorque) this.turned[tool] = true;
        if (tool === 0) this.tick.track.add(time, [t[i + 7]]); // a tick is timed as a whole
      }
      force.trim();
      torque.trim();
    });
    for (let i = 0; i + kStepFields <= frame.steps.length; i += kStepFields) {
      let sum = 0;
      const stacked = Array.from(frame.steps.subarray(i + 2, i + kStepFields), (v) => (sum += v)).reverse();
      if (sum > 0) this.step?.track.add(frame.steps[i], stacked);
    }
  }

  clear(): void {
    this.last = -Infinity;
    this.forces = [];
    this.torques = [];
    this.turned = [];
    for (const p of [this.force, this.torque, this.tick, this.step]) p?.clear();
  }

  /// With the force of that tool, and its name.
  draw(now: number, tool: number, name = ""): void {
    this.force.caption(name);
    this.torque.caption(name);
    this.parent.classList.toggle("turned", this.turned[tool] ?? false);
    if (this.forces[tool]) this.force.track = this.forces[tool];
    if (this.torques[tool]) this.torque.track = this.torques[tool];
    this.force.draw(now);
    this.torque.draw(now);
    this.tick.draw(now);
    if (!this.step?.draw(now)) return;
    // Each stage is the difference to the one below it.
    const d = this.step.track.data;
    for (let s = 1; s < d.length; ++s) {
      const own = percentilesOf(d[s].map((v, i) => (v === null ? null : (v as number) - (s + 1 < d.length ? (d[s + 1][i] as number) : 0))));
      this.step.note(s - 1, own ? ` ${this.step.digits(own.p50)} · ${this.step.digits(own.p99)}` : "");
    }
  }
}
