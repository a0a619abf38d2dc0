import { Connection } from "./connection";
import { Frame, Geometry, State } from "./frame";
import { Hand } from "./hand";
import { Plots } from "./plots";
import { SceneView } from "./scene_view";

function get<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

const canvas = get<HTMLCanvasElement>("canvas");
const view = new SceneView(canvas);
const plots = new Plots(get("plots"));
let state: State | undefined;
let frame: Frame | undefined;
let pending: Geometry | undefined;

const connection = new Connection({ geometry: onGeometry, frame: onFrame, state: onState, connected: onConnected });
const hand = new Hand(canvas, view, connection);

function banner(text: string, error = false): void {
  const b = get("banner");
  b.textContent = text;
  b.hidden = text === "";
  b.classList.toggle("error", error);
}

function onConnected(yes: boolean): void {
  if (yes) {
    banner("");
    return;
  }
  hand.letGo();
  banner(state ? "Connection lost: the engine has stopped or cannot be reached. Trying again …" : "Connecting …");
}

// Geometry comes before the state that names its scene: kept until then, so that the camera moves only for a new scene.
function onGeometry(geometry: Geometry): void {
  pending = geometry;
  if (state) showGeometry();
}

function showGeometry(): void {
  if (!pending) return;
  view.setGeometry(pending, state?.scene ?? "");
  plots.clear();
  pending = undefined;
}

function onFrame(f: Frame): void {
  frame = f;
  hand.frame(f);
  plots.add(f);
}

function fill(select: HTMLSelectElement, options: { value: string; text: string; disabled?: boolean }[], chosen: string): void {
  const key = JSON.stringify(options);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...options.map((o) => {
      const option = new Option(o.text, o.value);
      option.disabled = o.disabled ?? false;
      return option;
    }));
  }
  if (document.activeElement !== select || select.value !== chosen) select.value = chosen;
}

function onState(s: State): void {
  const scene = state?.scene;
  state = s;
  showGeometry();
  plots.setStages(s.stages);
  document.title = `${s.scene} · Palpate`;
  get("scene-name").textContent = s.scene;
  get("description").textContent = s.description;
  fill(get("scene"), s.scenes.map((name) => ({ value: name, text: name })), s.scene);
  fill(get("method"), s.methods.map((m) => ({ value: m.name, text: m.refused ? `${m.name} (${m.refused})` : m.name, disabled: m.refused !== "" })), s.method);
  get("method-text").textContent = s.methods.find((m) => m.name === s.method)?.description ?? "";
  get("pause").textContent = s.paused ? "Go on" : "Pause";
  get<HTMLButtonElement>("step").disabled = !s.paused;
  get<HTMLSelectElement>("speed").value = String(s.speed);
  get("record").textContent = s.recording ? "Stop recording" : "Record";
  get("record").classList.toggle("on", s.recording);
  const known = get<HTMLSelectElement>("recordings");
  known.hidden = get("play").hidden = s.recordings.length === 0;
  fill(known, s.recordings.map((r) => ({ value: r, text: r.split("/").pop() ?? r })), known.value || s.recordings[s.recordings.length - 1] || "");
  showSliders(s, scene !== s.scene);
  showLoops(s);
  if (s.error) banner(s.error, true);
  else if (get("banner").classList.contains("error")) banner("");
}

function format(value: number): string {
  if (value >= 1e6) return `${+(value / 1e6).toPrecision(3)} M`;
  if (value >= 1e3) return `${+(value / 1e3).toPrecision(3)} k`;
  return String(+value.toPrecision(3));
}

function showSliders(s: State, anew: boolean): void {
  const parent = get("sliders");
  const key = s.sliders.map((x) => x.name).join();
  if (anew || parent.dataset.key !== key) {
    parent.dataset.key = key;
    parent.replaceChildren(...s.sliders.map((x) => {
      const logarithmic = x.max / Math.max(x.min, 1e-9) > 20 && x.min > 0;
      const to = (v: number) => (logarithmic ? Math.log10(v) : v);
      const from = (v: number) => (logarithmic ? 10 ** v : v);
      const label = document.createElement("label");
      label.className = "slider";
      const input = Object.assign(document.createElement("input"), { type: "range", min: String(to(x.min)), max: String(to(x.max)), step: "any", value: String(to(x.value)) });
      input.dataset.name = x.name;
      const output = document.createElement("output");
      const show = () => (output.textContent = `${format(from(+input.value))} ${x.unit}`.trim());
      input.addEventListener("input", show);
      input.addEventListener("change", () => connection.send({ type: "set", name: x.name, value: Math.min(x.max, Math.max(x.min, from(+input.value))) }));
      input.addEventListener("palpate", (e) => {
        input.value = String(to((e as CustomEvent<number>).detail));
        show();
      });
      label.append(x.label, output, input);
      show();
      return label;
    }));
  }
  // What another page changed.
  for (const x of s.sliders) {
    const input = parent.querySelector<HTMLInputElement>(`input[data-name=${x.name}]`);
    if (input && document.activeElement !== input) input.dispatchEvent(new CustomEvent("palpate", { detail: x.value }));
  }
}

function showLoops(s: State): void {
  const { fast, slow } = s.loops;
  const row = (name: string, value: string, bad = false) => {
    const tr = document.createElement("tr");
    const a = document.createElement("td");
    const b = document.createElement("td");
    a.textContent = name;
    b.textContent = value;
    b.className = bad ? "bad" : "";
    tr.append(a, b);
    return tr;
  };
  const percent = (x: number) => `${(100 * x).toFixed(x < 0.1 ? 1 : 0)} %`;
  const rows = [row("Fast loop", `${fast.rate.toFixed(0)} of ${fast.wanted.toFixed(0)} Hz`, s.realtime && fast.rate > 0 && fast.rate < 0.98 * fast.wanted)];
  if (s.realtime) rows.push(row("Tick p50, p99", `${fast.p50_us.toFixed(1)}, ${fast.p99_us.toFixed(1)} µs (${percent(fast.load)})`));
  if (slow.rate > 0) {
    rows.push(row("Slow loop", `${slow.rate.toFixed(0)} of ${slow.wanted.toFixed(0)} Hz`, s.realtime && slow.rate < 0.9 * slow.wanted));
    if (s.realtime) rows.push(row("Step p50, p99", `${slow.p50_ms.toFixed(2)}, ${slow.p99_ms.toFixed(2)} ms (${percent(slow.load)})`));
  }
  if (frame) {
    rows.push(row("Model age", slow.rate > 0 ? `${(1e3 * frame.modelAge).toFixed(0)} ms` : "none: all in the fast loop"));
    rows.push(row("Contacts", String(frame.contacts)));
    rows.push(row("Energy given to the hand", `${(1e3 * frame.energy).toFixed(2)} mJ`, frame.energy > 0.01));
    const names = ["not finite", "clamped", "slew-limited", "coming in", "stale model", "damped"].filter((_, i) => frame && frame.events & (1 << i));
    rows.push(row("Safety", names.length ? names.join(", ") : "quiet", names.some((n) => n !== "coming in")));
  }
  get("loops").querySelector("tbody")?.replaceChildren(...rows);
  get("time-line").firstElementChild?.setAttribute("style", `width: ${Math.min(100, (100 * s.time) / s.seconds)}%`);
}

function draw(): void {
  if (frame && state) {
    view.update(frame, state.tool_radius);
    const size = Math.hypot(...frame.force);
    get("force").textContent = size.toFixed(2);
    const torque = Math.hypot(...frame.torque);
    get("who").textContent = `${hand.held ? "You hold the tool" : state.replaying ? "A recording plays" : "The scene's own hand plays"}${torque > 1e-4 ? ` · ${(1e3 * torque).toFixed(1)} mN·m` : ""}`;
    const label = get("label");
    label.hidden = size < 0.05;
    const at = view.toScreen(frame.tool.position);
    const stage = get("stage").getBoundingClientRect();
    label.style.left = `${at.x - stage.left}px`;
    label.style.top = `${at.y - stage.top}px`;
    label.textContent = `${size.toFixed(2)} N`;
    if (hand.held) get("hint").classList.add("gone");
  }
  view.draw();
  plots.draw();
  requestAnimationFrame(draw);
}

function setTheme(theme: string): void {
  document.documentElement.dataset.theme = theme;
}

get("pause").addEventListener("click", () => connection.send({ type: state?.paused ? "resume" : "pause" }));
get("step").addEventListener("click", () => connection.send({ type: "step" }));
get("reset").addEventListener("click", () => connection.send({ type: "reset" }));
get("speed").addEventListener("change", (e) => connection.send({ type: "speed", value: +(e.target as HTMLSelectElement).value }));
get("scene").addEventListener("change", (e) => connection.send({ type: "scene", name: (e.target as HTMLSelectElement).value }));
get("method").addEventListener("change", (e) => connection.send({ type: "method", name: (e.target as HTMLSelectElement).value }));
get("record").addEventListener("click", () => connection.send({ type: "record", on: !state?.recording }));
get("play").addEventListener("click", () => connection.send({ type: "play", name: get<HTMLSelectElement>("recordings").value }));
get("deformation").addEventListener("change", (e) => (view.colourDeformation = (e.target as HTMLInputElement).checked));
get("picture").addEventListener("click", () => Object.assign(document.createElement("a"), { href: view.picture(), download: `palpate-${state?.scene ?? "scene"}.png` }).click());
get("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
document.addEventListener("keydown", (e) => {
  if (e.key === " " && !(e.target instanceof HTMLButtonElement || e.target instanceof HTMLSelectElement)) {
    e.preventDefault();
    get("pause").click();
  }
});
// For the console, and for tests.
Object.assign(window, { palpate: { picture: () => view.picture(), frame: () => frame, state: () => state, toScreen: (p: number[]) => view.toScreen(p) } });
setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
requestAnimationFrame(draw);
