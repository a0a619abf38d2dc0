// The plots that scroll: force, tick time, slow step by stage.
import uPlot from "uplot";
import { Frame, kTickFields } from "./frame";

const kSeconds = 5; // shown
const kColours = ["#e2483d", "#2f9e44", "#3d7fe2", "#8a8f98"];
const kStageColours = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2"];

class Scroll {
  readonly data: number[][];
  private readonly plot: uPlot;
  private last = -Infinity;

  constructor(private readonly parent: HTMLElement, title: string, series: { label: string; colour: string; fill?: string }[]) {
    this.data = Array.from({ length: series.length + 1 }, () => []);
    const ink = () => getComputedStyle(document.documentElement).getPropertyValue("--ink-soft").trim() || "#888";
    const grid = () => getComputedStyle(document.documentElement).getPropertyValue("--line").trim() || "#ccc";
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "11px system-ui" };
    this.plot = new uPlot(
      {
        title, width: 300, height: 130, cursor: { show: false }, legend: { show: true, live: false }, scales: { x: { time: false } },
        axes: [{ ...axis, size: 26 }, { ...axis, size: 44 }],
        series: [{}, ...series.map((s) => ({ label: s.label, stroke: s.colour, fill: s.fill, width: 1, points: { show: false } }))],
      },
      this.data as uPlot.AlignedData, parent,
    );
  }

  add(time: number, values: number[]): void {
    if (time < this.last - 0.5) this.clear();
    if (time <= this.last) return;
    this.last = time;
    this.data[0].push(time);
    values.forEach((v, i) => this.data[i + 1].push(v));
  }

  clear(): void {
    for (const d of this.data) d.length = 0;
    this.last = -Infinity;
  }

  draw(): void {
    const width = this.parent.clientWidth;
    const height = Math.max(60, this.parent.clientHeight - 58);
    if (width === 0) return;
    if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    const t = this.data[0];
    let old = 0;
    while (old < t.length && t[old] < this.last - kSeconds) ++old;
    if (old > 0) for (const d of this.data) d.splice(0, old);
    this.plot.setData(this.data as uPlot.AlignedData, false);
    this.plot.setScale("x", { min: this.last - kSeconds, max: this.last });
  }
}

export class Plots {
  private readonly force: Scroll;
  private readonly tick: Scroll;
  private step: Scroll | undefined;

  constructor(private readonly parent: HTMLElement) {
    this.force = new Scroll(this.box(), "Force on the hand [N]", [
      { label: "x", colour: kColours[0] }, { label: "y", colour: kColours[1] }, { label: "z", colour: kColours[2] }, { label: "size", colour: kColours[3] },
    ]);
    this.tick = new Scroll(this.box(), "Tick of the fast loop [µs]", [{ label: "tick", colour: kColours[2] }]);
  }

  private box(): HTMLElement {
    const box = document.createElement("div");
    box.className = "plot";
    this.parent.append(box);
    return box;
  }

  setStages(names: string[]): void {
    this.step ??= new Scroll(this.box(), "Slow step by stage [ms]", names.map((label, i) => ({ label, colour: kStageColours[i], fill: kStageColours[i] + "55" })).reverse());
  }

  add(frame: Frame): void {
    const t = frame.ticks;
    for (let i = 0; i + kTickFields <= t.length; i += kTickFields) {
      this.force.add(t[i], [t[i + 1], t[i + 2], t[i + 3], Math.hypot(t[i + 1], t[i + 2], t[i + 3])]);
      this.tick.add(t[i], [t[i + 4]]);
    }
    const fields = 8;
    for (let i = 0; i + fields <= frame.steps.length; i += fields) {
      let sum = 0;
      const stacked = Array.from(frame.steps.subarray(i + 2, i + fields), (v) => (sum += v)).reverse();
      this.step?.add(frame.steps[i], stacked);
    }
  }

  clear(): void {
    for (const p of [this.force, this.tick, this.step]) p?.clear();
  }

  draw(): void {
    for (const p of [this.force, this.tick, this.step]) p?.draw();
  }
}
