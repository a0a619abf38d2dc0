// The panel of a real device: where the hand is in its workspace, what it is asked to feel and feels, how fast and how
// promptly it answers; and the button that takes the force away.
import { get } from "./controls";

export interface Device {
  name: string;
  phase: "lost" | "stopped" | "waiting" | "ready";
  stopped: ("hand" | "pause")[]; // by whom
  loss: string; // why it is lost; empty: it is not
  losses: number;
  workspace: { known: boolean; min: number[]; max: number[] }; // [m]; not known: what was reached
  position: number[]; // of the handle, in the device's own measure [m]
  clutch_button: number; // −1: none
  clutched: boolean;
  asked: number[]; // by the scene, as it would be felt [N]
  sent: number[]; // to the motors [N]
  max_force: number; // 0: not told
  share: number; // of what is asked that is let through
  grip: number;
  buttons: number;
  scale: number; // metres in the scene for one of the hand
  rate: number; // samples a second
  round_trip_edges_us: number[]; // of all bins but the last, which is open
  round_trips: number[]; // of the last ten seconds
}

const kHold = 800; // pressed for so long, the force is let in again [ms]
const kSvg = "http://www.w3.org/2000/svg";

function shape(name: string, attributes: Record<string, string | number>, parent: Element): SVGElement {
  const element = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  parent.append(element);
  return element;
}

/// A rectangle seen along one axis, with the hand in it.
class WorkspaceView {
  private readonly box: SVGElement;
  private readonly hand: SVGElement;

  /// `right`, `up`: which axes go there; `flip`: the second points down.
  constructor(parent: HTMLElement, title: string, private readonly right: number, private readonly up: number, private readonly flip: boolean) {
    const figure = document.createElement("figure");
    const svg = shape("svg", { viewBox: "-52 -42 104 84", role: "img", "aria-label": `The hand in its workspace, ${title}` }, figure);
    this.box = shape("rect", { class: "workspace", rx: 2 }, svg);
    shape("path", { class: "middle", d: "M-3 0H3M0 -3V3" }, svg);
    this.hand = shape("circle", { class: "hand", r: 4 }, svg);
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    figure.append(caption);
    parent.append(figure);
  }

  show(d: Device): void {
    const { min, max } = d.workspace;
    const size = [this.right, this.up].map((a) => Math.max(1e-3, max[a] - min[a]));
    const perMetre = Math.min(92 / size[0], 72 / size[1]);
    const [width, height] = size.map((s) => s * perMetre);
    for (const [key, value] of Object.entries({ x: -width / 2, y: -height / 2, width, height })) this.box.setAttribute(key, value.toFixed(1));
    const place = (a: number, limit: number) => Math.max(-limit, Math.min(limit, (d.position[a] - (min[a] + max[a]) / 2) * perMetre));
    this.hand.setAttribute("cx", place(this.right, 48).toFixed(1));
    this.hand.setAttribute("cy", (place(this.up, 38) * (this.flip ? 1 : -1)).toFixed(1));
    this.hand.classList.toggle("clutched", d.clutched);
    this.hand.classList.toggle("lost", d.phase === "lost");
  }
}

function describePhase(d: Device): string {
  if (d.phase === "lost") return `Lost: ${d.loss || "stale"}. It comes back by itself`;
  if (d.stopped.includes("hand")) return "Stopped: no force";
  if (d.phase === "stopped") return "No force while the scene is paused or slowed";
  if (d.phase === "waiting") return "Waiting: the force comes when nothing is touched";
  if (d.clutched) return "Clutch: the hand moves, the tool stays";
  return d.share < 1 ? "The force comes in" : "Ready";
}

const size = (v: number[]) => Math.hypot(...v);
const micros = (us: number) => (us >= 1000 ? `${us / 1000} ms` : `${us} µs`);

export class DevicePanel {
  readonly real = new Set<number>(); // tools that a device has
  list: (Device | null)[] = []; // of the tools
  private readonly views: WorkspaceView[];
  private pressed = 0; // timer of the button that lets the force in

  constructor(private readonly send: (message: object) => void) {
    const parent = get("device-space");
    this.views = [new WorkspaceView(parent, "from the front", 0, 1, false), new WorkspaceView(parent, "from above", 0, 2, true)];
    get("device-stop").addEventListener("click", () => this.stop());
    const resume = get("device-resume");
    const press = () => {
      if (this.pressed) return;
      resume.classList.add("pressed");
      this.pressed = window.setTimeout(() => {
        this.release();
        this.send({ type: "device", on: true });
      }, kHold);
    };
    resume.addEventListener("pointerdown", press);
    resume.addEventListener("keydown", (e) => (e.key === " " || e.key === "Enter") && (e.preventDefault(), press()));
    for (const end of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) resume.addEventListener(end, () => this.release());
    document.addEventListener("keydown", (e) => e.key === "Escape" && this.real.size > 0 && this.stop());
  }

  stop(): void {
    this.send({ type: "device", on: false });
  }

  private release(): void {
    window.clearTimeout(this.pressed);
    this.pressed = 0;
    get("device-resume").classList.remove("pressed");
  }

  /// Of the tools, in their order.
  receive(devices: (Device | null)[]): void {
    this.list = devices;
    this.real.clear();
    devices.forEach((d, i) => d && this.real.add(i));
  }

  /// The engine knows of no devices any more: another one, or hands of a recording.
  forget(): void {
    this.receive([]);
  }

  nameOf(tool: number): string {
    return this.list[tool]?.name ?? "";
  }

  /// That of the tool that the page plots, or else the first.
  show(tool: number): void {
    const d = this.list[tool] ?? this.list.find((x) => x) ?? undefined;
    get("device").hidden = get("device-switch").hidden = !d;
    if (!d) return;
    const stopped = this.list.some((x) => x?.stopped.includes("hand"));
    get("device-stop").hidden = stopped;
    get("device-resume").hidden = !stopped;
    get("device-name").textContent = d.name;
    const phase = get("device-phase");
    phase.textContent = describePhase(d);
    phase.dataset.phase = d.stopped.includes("hand") ? "lost" : d.phase;
    for (const view of this.views) view.show(d);
    get("device-space").title = d.workspace.known ? "" : "The device does not tell its workspace: this is what was reached";
    this.showForces(d);
    get("device-figures").textContent = [
      `${d.rate.toFixed(0)} samples a second`,
      d.scale !== 1 ? `scale ${+d.scale.toPrecision(3)}` : "",
      d.clutch_button >= 0 ? `clutch: button ${d.clutch_button}${d.clutched ? ", down" : ""}` : "",
      d.grip > 0 ? `grip ${(100 * d.grip).toFixed(0)} %` : "",
      d.losses > 0 ? `lost ${d.losses === 1 ? "once" : `${d.losses} times`}` : "",
    ].filter((x) => x).join(" · ");
    this.showRoundTrips(d);
  }

  private showForces(d: Device): void {
    const most = d.max_force || Math.max(1, size(d.asked));
    for (const [name, force] of [["asked", d.asked], ["sent", d.sent]] as const) {
      const newtons = size(force);
      const bar = get(`device-${name}`);
      (bar.firstElementChild as HTMLElement).style.width = `${Math.min(100, (100 * newtons) / most)}%`;
      bar.classList.toggle("over", newtons > most * 1.0001);
      get(`device-${name}-newtons`).textContent = `${newtons.toFixed(2)} N`;
    }
    get("device-most").textContent = d.max_force ? `of ${+d.max_force.toPrecision(3)} N at most` : "";
  }

  /// The share of each bin, by a logarithm: one late answer in ten thousand must be seen.
  private showRoundTrips(d: Device): void {
    const parent = get("device-trips");
    const total = d.round_trips.reduce((a, b) => a + b, 0);
    const edges = d.round_trip_edges_us;
    if (parent.childElementCount !== d.round_trips.length)
      parent.replaceChildren(...d.round_trips.map(() => document.createElement("i")));
    d.round_trips.forEach((n, i) => {
      const bar = parent.children[i] as HTMLElement;
      const height = n > 0 ? Math.max(6, 100 * (1 + Math.log10(n / total) / 5)) : 0;
      bar.style.height = `${Math.min(100, height)}%`;
      bar.title = `${i === 0 ? "below" : i < edges.length ? `${micros(edges[i - 1])} to` : "above"} ${micros(edges[Math.min(i, edges.length - 1)])}: ${n}`;
    });
    get("device-trips-text").textContent = total > 0 ? `Round trips of 10 s · half below ${micros(this.median(d, total))}` : "No round trips measured";
  }

  private median(d: Device, total: number): number {
    let sum = 0;
    const bin = d.round_trips.findIndex((n) => (sum += n) >= total / 2);
    return d.round_trip_edges_us[Math.min(bin, d.round_trip_edges_us.length - 1)];
  }
}
