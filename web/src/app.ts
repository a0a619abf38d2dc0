import { Connection } from "./connection";
import { fill, get, quantity, showLoops, showMethods, showSliders, showTools } from "./controls";
import { DevicePanel } from "./device_panel";
import { Frame, Geometry, State, Surface } from "./frame";
import { Drag, Hand } from "./hand";
import { OpenFile } from "./open_file";
import { Pace } from "./pace";
import { Plots } from "./plots";
import { SceneView } from "./scene_view";
import { showShare } from "./share";
import { Colouring } from "./surfaces";
import { Label } from "./tool_marks";

const canvas = get<HTMLCanvasElement>("canvas");
let state: State | undefined;
let frame: Frame | undefined;
let colouring: Colouring = "plain";
let shownScene = "";

function banner(text: string, error = false): void {
  const b = get("banner");
  b.textContent = text;
  b.hidden = text === "";
  b.classList.toggle("error", error);
}

function makeView(): SceneView {
  try {
    return new SceneView(canvas);
  } catch (error) {
    banner("This browser draws nothing in three dimensions: WebGL is off or missing.", true);
    throw error;
  }
}
const view = makeView();
/// The title above and the hint below are not part of the picture.
view.insets = () => {
  const stage = get("stage").getBoundingClientRect();
  return { top: document.querySelector("header")!.getBoundingClientRect().bottom - stage.top, bottom: stage.bottom - get("below").getBoundingClientRect().top };
};
const plots = new Plots(get("plots"));
const pace = new Pace();
const connection: Connection = new Connection({ geometry: onGeometry, surface: (s: Surface) => view.setSurface(s), frame: onFrame, state: onState, devices: (d) => devices.receive(d), connected: onConnected, greeted: (page) => (hand.page = page) });
const devices = new DevicePanel((message) => connection.send(message));
const hand = new Hand(canvas, view, connection, devices.real);
const openFile = new OpenFile(connection);

function onConnected(yes: boolean): void {
  document.body.classList.toggle("lost", !yes);
  if (yes) {
    banner("");
    if (colouring === "stress") connection.send({ type: "stress", on: true });
    return;
  }
  hand.letGo();
  devices.forget();
  // Nothing is felt any more.
  frame = undefined;
  view.forget();
  showLabels([]);
  get("force").textContent = "–";
  get("who").textContent = "";
  get("share").hidden = true;
  banner(state ? "Connection lost: the engine has stopped or cannot be reached. Trying again …" : "Connecting …");
}

function onGeometry(geometry: Geometry): void {
  if (geometry.name !== shownScene) hand.choose(0);
  shownScene = geometry.name;
  view.setGeometry(geometry);
  view.setColouring(colouring);
  plots.clear();
}

function onFrame(f: Frame): void {
  frame = f;
  hand.frame(f);
  plots.add(f);
}

function onState(s: State): void {
  const scene = state?.scene;
  state = s;
  hand.know(s.tools);
  openFile.show(s);
  if (s.film || s.repeating) devices.forget();
  plots.setStages(s.stages);
  plots.setSteps(!s.all_fast || s.film !== null);
  const shown = s.film?.scene ?? s.scene;
  document.title = `${shown} · Palpate`;
  get("scene-name").textContent = shown;
  get("description").textContent = s.film ? `A recording with ${s.film.method || "a method for each tool"}.` : s.description;
  fill(get("scene"), s.scenes.map((name) => ({ value: name, text: name })), s.scene);
  const several = s.tools.length > 1;
  get("hint-drag").textContent = several ? "Drag a tool" : "Drag the yellow tool";
  get("hint-arrow").textContent = several ? "red arrows are the forces on the hands" : "the red arrow is the force on the hand";
  showMethods(s);
  get("pause").textContent = get("film-play").textContent = s.paused ? "Go on" : "Pause";
  get<HTMLButtonElement>("step").disabled = !s.paused;
  get<HTMLSelectElement>("speed").value = String(s.speed);
  showRecordings(s);
  showFilm(s);
  showSliders(s, connection, scene !== s.scene);
  showLoops(s, frame?.tools[hand.tool], view.reduced);
  if (s.error) banner(s.error, true);
  else if (get("banner").classList.contains("error")) banner("");
}

function showRecordings(s: State): void {
  const record = get<HTMLButtonElement>("record");
  record.textContent = s.recording ? "Stop recording" : "Record";
  record.classList.toggle("on", s.recording);
  record.disabled = s.film !== null;
  const known = get<HTMLSelectElement>("recordings");
  known.hidden = get("repeat").hidden = s.recordings.length === 0;
  const text = (r: State["recordings"][number]) => `${(r.name.split("/").pop() ?? r.name).replace(".palpate", "")} (${r.seconds.toFixed(1)} s)`;
  const newest = s.recordings[s.recordings.length - 1]?.name ?? "";
  const chosen = known.dataset.newest === newest ? known.value : newest;
  known.dataset.newest = newest;
  fill(known, s.recordings.map((r) => ({ value: r.name, text: text(r) })), chosen);
  get("play").hidden = !s.recordings.some((r) => r.name === known.value && r.film);
}

function showFilm(s: State): void {
  get("film").hidden = s.film === null;
  get("hint").classList.toggle("film", s.film !== null);
  hand.enabled = s.film === null;
  get<HTMLInputElement>("film-time").max = String(s.seconds);
}

function showLabels(labels: Label[]): void {
  const parent = get("labels");
  while (parent.children.length > labels.length) parent.lastElementChild?.remove();
  while (parent.children.length < labels.length) parent.append(document.createElement("span"));
  const stage = get("stage").getBoundingClientRect();
  const title = document.querySelector("header")!.getBoundingClientRect();
  labels.forEach((label, i) => {
    const element = parent.children[i] as HTMLElement;
    const at = view.toScreen(label.at.toArray());
    // Of several arrows, none hides behind its own label.
    const before = label.named && at.x < view.toScreen(label.from.toArray()).x;
    element.className = before ? `${label.kind} before` : label.kind;
    element.textContent = label.text;
    const [least, most] = before ? [element.offsetWidth + 8, stage.width] : [0, Math.min(stage.width - 70, stage.width - element.offsetWidth - 10)];
    const left = Math.min(most, Math.max(least, at.x - stage.left));
    const top = 24 + (stage.left + left < title.right ? title.bottom - stage.top : 0); // the title stays readable
    element.style.left = `${left}px`;
    element.style.top = `${Math.min(stage.height - 10, Math.max(top, at.y - stage.top))}px`;
    // None hides another: it goes below that, or above where there is no room.
    for (let k = 0; k < i; ++k) {
      const [own, other] = [element, parent.children[k]].map((e) => e.getBoundingClientRect());
      if (own.right < other.left || own.left > other.right || own.bottom < other.top || own.top > other.bottom) continue;
      const down = other.bottom - own.top + 2;
      const way = own.bottom + down < stage.bottom ? down : other.top - own.bottom - 2;
      element.style.top = `${parseFloat(element.style.top) + way}px`;
    }
  });
}

function showLegend(): void {
  get("legend").hidden = colouring === "plain";
  get("legend").classList.toggle("empty", !view.hasSoftBodies);
  if (colouring === "plain") return;
  if (!view.hasSoftBodies) {
    get("legend-name").textContent = "Nothing to colour: no body here is soft";
    return;
  }
  get("legend-name").textContent = colouring === "stress" ? "Von Mises stress" : "Displacement";
  get("legend-end").textContent = colouring === "stress" ? quantity(view.colourScale, "Pa") : `${+(1e3 * view.colourScale).toPrecision(3)} mm`;
}

function sayWho(s: State): string {
  const several = s.tools.length > 1;
  if (s.film) return "A recording plays";
  if (hand.isOthers(hand.tool)) return `Another page ${s.tools[hand.tool].holder ? "holds" : "may take"} ${several ? s.tools[hand.tool].name : "the tool"}`;
  if (hand.held) return several ? `You hold ${s.tools[hand.tool]?.name}` : "You hold the tool";
  const device = devices.nameOf(hand.tool);
  if (device) return several ? `${device} holds ${s.tools[hand.tool]?.name}` : `${device} holds the tool`;
  if (s.repeating) return several ? "A recording's hands play" : "A recording's hand plays";
  return several ? "The scene's hands play" : "The scene's own hand plays";
}

function draw(now: number): void {
  requestAnimationFrame(draw);
  hand.poll(1e-3 * now);
  if (!pace.take(now)) return;
  if (frame && state) {
    const tool = frame.tools[hand.tool];
    view.update(frame, state, hand.tool, hand.held ? hand.tool : hand.hovered);
    showShare(state, hand.tool, hand.page, connection);
    devices.show(hand.tool);
    showTools(state, hand.tool, (i) => hand.choose(i));
    get("grip").hidden = state.tools[hand.tool]?.kind !== "fingers";
    get("force").textContent = Math.hypot(...tool.force).toFixed(2);
    const torque = Math.hypot(...tool.torque);
    get("torque").textContent = torque > 1e-4 ? `${(1e3 * torque).toFixed(1)} mN·m` : "";
    get("who").textContent = sayWho(state);
    get("sets").textContent = view.sets > 1 ? ` (${view.sets} convex sets)` : "";
    showLabels(view.labels);
    showLegend();
    if (state.film) {
      const slider = get<HTMLInputElement>("film-time");
      if (!slider.matches(":active")) slider.value = String(frame.time);
      get("film-clock").textContent = `${frame.time.toFixed(2)} of ${state.seconds.toFixed(2)} s`;
    }
    const none = state.tools.every((_, i) => devices.real.has(i)); // that a page could take
    if (hand.held || none) get("hint").classList.add("gone");
  }
  view.draw();
  plots.draw(now, hand.tool, state && state.tools.length > 1 ? state.tools[hand.tool]?.name : "");
}

function setTheme(theme: string): void {
  document.documentElement.dataset.theme = theme;
}

function setDrag(drag: Drag): void {
  hand.drag = drag;
  for (const button of get("drag").querySelectorAll("button")) button.classList.toggle("chosen", button.dataset.drag === drag);
}

const value = (e: Event) => (e.target as HTMLInputElement | HTMLSelectElement).value;
const togglePause = () => connection.send({ type: state?.paused ? "resume" : "pause" });
get("pause").addEventListener("click", togglePause);
get("film-play").addEventListener("click", togglePause);
get("film-time").addEventListener("input", (e) => connection.send({ type: "seek", value: +value(e) }));
get("film-time").addEventListener("pointerdown", () => !state?.paused && connection.send({ type: "pause" }));
get("live").addEventListener("click", () => connection.send({ type: "live" }));
get("step").addEventListener("click", () => connection.send({ type: "step" }));
get("reset").addEventListener("click", () => connection.send({ type: "reset" }));
get("speed").addEventListener("change", (e) => connection.send({ type: "speed", value: +value(e) }));
get("scene").addEventListener("change", (e) => connection.send({ type: "scene", name: value(e) }));
get("method").addEventListener("change", (e) => connection.send({ type: "method", name: value(e) }));
get("record").addEventListener("click", () => connection.send({ type: "record", on: !state?.recording }));
get("play").addEventListener("click", () => connection.send({ type: "play", name: get<HTMLSelectElement>("recordings").value }));
get("repeat").addEventListener("click", () => connection.send({ type: "repeat", name: get<HTMLSelectElement>("recordings").value }));
get("recordings").addEventListener("change", () => state && showRecordings(state));
get("colouring").addEventListener("change", (e) => {
  colouring = value(e) as Colouring;
  view.setColouring(colouring);
  connection.send({ type: "stress", on: colouring === "stress" });
});
get("model").addEventListener("change", (e) => view.setModelShown((e.target as HTMLInputElement).checked));
get("picture").addEventListener("click", () => Object.assign(document.createElement("a"), { href: view.picture(), download: `palpate-${state?.scene ?? "scene"}.png` }).click());
get("save-scene").addEventListener("click", () => Object.assign(document.createElement("a"), { href: "scene.json", download: `${state?.scene ?? "scene"}.json` }).click());
get("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
get("drag").addEventListener("click", (e) => {
  const drag = (e.target as HTMLElement).dataset.drag;
  if (drag) setDrag(drag as Drag);
});
get("grip").addEventListener("pointerdown", () => hand.close(1));
for (const end of ["pointerup", "pointercancel", "pointerleave"]) get("grip").addEventListener(end, () => hand.close(0));
document.addEventListener("keydown", (e) => {
  if (e.key === " " && !(e.target instanceof HTMLButtonElement || e.target instanceof HTMLSelectElement)) {
    e.preventDefault();
    togglePause();
  }
});
// For the console, and for tests.
Object.assign(window, {
  palpate: { devices: () => devices.list, picture: () => view.picture(), frame: () => frame && { ...frame, ...frame.tools[hand.tool] }, tool: () => hand.tool, state: () => state, toScreen: (p: number[]) => view.toScreen(p), page: () => hand.page, framed: () => view.seenOnPage, lost: () => view.lost, glides: () => view.glides, grids: () => view.gridBoxes(), bodies: () => view.vertices, plotted: () => plots.span, percentiles: () => plots.percentiles, sets: () => view.sets, reduced: () => view.reduced, pace: () => ({ cost: pace.cost, slow: pace.slow, pictures: pace.pictures, time: performance.now() }) },
});
const dark = matchMedia("(prefers-color-scheme: dark)");
const followSystem = () => setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", followSystem);
followSystem();
requestAnimationFrame(draw);
