// The plots that scroll: force, tick time, slow step by stage, each with the percentiles of what it shows.
import uPlot from "uplot";
import { Frame, kStepFields, kTickFields } from "./frame";

const kSeconds = 5; // shown
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

function percentilesOf(values: number[]): Percentiles | undefined {
  const sorted = values.filter((v) => Number.isFinite(v)).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  return { p50: sorted[Math.floor(0.5 * (sorted.length - 1))], p99: sorted[Math.floor(0.99 * (sorted.length - 1))] };
}

const digits = (x: number) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));

/// Of an axis whose longest label must fit [px].
const widthOf = (labels: string[] | null) => Math.max(40, ...(labels ?? []).map((l) => 16 + 6.5 * l.length));

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";
}

/// What a plot shows: times, then the values of each series.
class Track {
  readonly data: number[][];
  last = -Infinity; // time

  constructor(series: number) {
    this.data = Array.from({ length: series + 1 }, () => []);
  }

  add(time: number, values: number[]): void {
    if (time <= this.last) return;
    this.last = time;
    this.data[0].push(time);
    values.forEach((v, i) => this.data[i + 1].push(v));
  }

  /// Forgets what is no longer shown.
  trim(): void {
    const t = this.data[0];
    let old = 0;
    while (old < t.length && t[old] < this.last - kSeconds) ++old;
    if (old > 0) for (const d of this.data) d.splice(0, old);
  }
}

class Scroll {
  track: Track;
  percentiles: Percentiles | undefined;
  private readonly plot: uPlot;
  private readonly canvas = document.createElement("div");
  private readonly figures = document.createElement("span");
  private readonly notes: HTMLElement[];
  private measured = 0;

  /// `measure` names the series whose percentiles are shown; its values are what those are of.
  constructor(parent: HTMLElement, title: string, private readonly unit: string, series: Series[], private readonly measure?: number) {
    this.track = new Track(series.length);
    const head = document.createElement("div");
    head.className = "plot-head";
    const name = document.createElement("b");
    name.textContent = `${title} [${unit}]`;
    this.figures.className = "figures";
    head.append(name, this.figures);
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
        scales: { x: { time: false }, y: measure === undefined ? {} : { range: (_, __, max) => [0, 1.05 * (max || 1)] } },
        axes: [{ ...axis, size: 24 }, { ...axis, size: (_, labels) => widthOf(labels) }],
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
      this.figures.textContent = this.percentiles ? `p50 ${digits(this.percentiles.p50)} · p99 ${digits(this.percentiles.p99)} ${this.unit}` : "not measured";
    }
    this.plot.setData(data as uPlot.AlignedData, false);
    if (last > -Infinity) this.plot.setScale("x", { min: last - kSeconds, max: last });
    return anew;
  }
}

export class Plots {
  private readonly force: Scroll;
  private readonly tick: Scroll;
  private step: Scroll | undefined;
  private forces: Track[] = []; // of the tools
  private last = -Infinity;

  constructor(private readonly parent: HTMLElement) {
    this.force = new Scroll(this.box(), "Force on the hand", "N", [
      { label: "x", colour: kColours[0] }, { label: "y", colour: kColours[1] }, { label: "z", colour: kColours[2] }, { label: "size", colour: kColours[3] },
    ]);
    this.tick = new Scroll(this.box(), "Tick of the fast loop", "µs", [{ label: "computing time", colour: kColours[2] }], 0);
  }

  private box(): HTMLElement {
    const box = document.createElement("div");
    box.className = "plot";
    this.parent.append(box);
    return box;
  }

  // Stages are stacked, the last on top: the first series is the whole step.
  setStages(names: string[]): void {
    this.step ??= new Scroll(this.box(), "Slow step by stage", "ms", names.map((label, i) => ({ label, colour: kStageColours[i], fill: `${kStageColours[i]}66` })).reverse(), 0);
  }

  /// The percentiles that are shown.
  get percentiles(): { tick?: Percentiles; step?: Percentiles } {
    return { tick: this.tick.percentiles, step: this.step?.percentiles };
  }

  add(frame: Frame): void {
    if (frame.time < this.last - 1e-4) this.clear();
    this.last = frame.time;
    this.forces.length = Math.min(this.forces.length, frame.tools.length);
    frame.tools.forEach(({ ticks: t }, tool) => {
      const force = (this.forces[tool] ??= new Track(4));
      for (let i = 0; i + kTickFields <= t.length; i += kTickFields) {
        force.add(t[i], [t[i + 1], t[i + 2], t[i + 3], Math.hypot(t[i + 1], t[i + 2], t[i + 3])]);
        if (tool === 0) this.tick.track.add(t[i], [t[i + 4]]); // a tick is timed as a whole
      }
      force.trim();
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
    for (const p of [this.force, this.tick, this.step]) p?.clear();
  }

  /// With the force of that tool, and its name.
  draw(now: number, tool: number, name = ""): void {
    this.force.caption(name);
    if (this.forces[tool]) this.force.track = this.forces[tool];
    this.force.draw(now);
    this.tick.draw(now);
    if (!this.step?.draw(now)) return;
    // Each stage is the difference to the one below it.
    const d = this.step.track.data;
    for (let s = 1; s < d.length; ++s) {
      const own = percentilesOf(d[s].map((v, i) => v - (s + 1 < d.length ? d[s + 1][i] : 0)));
      this.step.note(s - 1, own ? ` ${digits(own.p50)} · ${digits(own.p99)}` : "");
    }
  }
}
