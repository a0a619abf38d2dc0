// The panel: what the engine says, and what one can tell it.
import { Connection } from "./connection";
import { ReducedBody, State, ToolFrame } from "./frame";

export function get<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

interface Choice { value: string; text: string; disabled?: boolean; group?: string }

/// Those that follow each other with the same `group` stand together below that name.
export function fill(select: HTMLSelectElement, options: Choice[], chosen: string): void {
  const key = JSON.stringify(options);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren();
    let group: HTMLOptGroupElement | undefined;
    for (const o of options) {
      const option = new Option(o.text, o.value);
      option.disabled = o.disabled ?? false;
      if (o.group && group?.label !== o.group) {
        group = Object.assign(document.createElement("optgroup"), { label: o.group });
        select.append(group);
      }
      (o.group && group ? group : select).append(option);
    }
  }
  if (document.activeElement !== select || select.value !== chosen) select.value = chosen;
}

/// A button for each tool, where there are several: the one that the page holds and plots.
export function showTools(s: State, chosen: number, choose: (tool: number) => void): void {
  const parent = get("tools");
  parent.hidden = s.tools.length < 2;
  const key = JSON.stringify(s.tools.map((t) => t.name));
  if (parent.dataset.key !== key) {
    parent.dataset.key = key;
    parent.replaceChildren(...s.tools.map((t, i) => {
      const button = document.createElement("button");
      button.textContent = t.name;
      button.addEventListener("click", () => choose(i));
      return button;
    }));
  }
  Array.from(parent.children).forEach((button, i) => {
    button.classList.toggle("chosen", i === chosen);
    button.setAttribute("aria-pressed", String(i === chosen));
  });
}

/// All methods, the likely best first; "each its own" before them where the scene gives its tools several. What cannot
/// work stands at the end, with the reason.
export function showMethods(s: State): void {
  const options: Choice[] = s.methods.map((m) => m.refused
    ? { value: m.name, text: `${m.name}: ${m.refused}`, disabled: true, group: "cannot work here" }
    : { value: m.name, text: m.name, group: m.name === "reference" ? "the truth" : "likely best first" });
  const several = new Set(s.own_methods).size > 1;
  if (several) options.unshift({ value: "", text: `each its own (${s.own_methods.join(", ")})` });
  fill(get("method"), options, s.method);
  const chosen = s.methods.find((m) => m.name === s.method);
  get("method-text").textContent = chosen
    ? `${chosen.description}. Here: ${chosen.reason}.`
    : s.tools.map((t) => `${t.name}: ${t.method}`).join(" · ");
}

/// 8000 Pa as "8 kPa".
export function quantity(value: number, unit: string): string {
  if (value >= 1e6) return `${+(value / 1e6).toPrecision(3)} M${unit}`;
  if (value >= 1e3) return `${+(value / 1e3).toPrecision(3)} k${unit}`;
  return `${+value.toPrecision(3)} ${unit}`.trim();
}

/// 0.0123 m as "12.3 mm"; in the unit that suits `of`, where several stand together.
export function length(metres: number, of = metres): string {
  const [factor, unit] = of >= 1 ? [1, "m"] : of >= 1e-3 ? [1e3, "mm"] : [1e6, "µm"];
  return `${+(factor * metres).toPrecision(3)} ${unit}`;
}

/// Milliseconds, or microseconds where those would read as nothing.
export function duration(ms: number): string {
  return ms < 0.1 ? `${(1e3 * ms).toFixed(ms < 0.01 ? 1 : 0)} µs` : `${ms.toFixed(ms < 1 ? 2 : 1)} ms`;
}

export function showSliders(s: State, connection: Connection, anew: boolean): void {
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
      const show = (v: number) => (output.textContent = quantity(v, x.unit)); // which may lie beyond the slider's ends
      input.addEventListener("input", () => show(from(+input.value)));
      input.addEventListener("change", () => connection.send({ type: "set", name: x.name, value: Math.min(x.max, Math.max(x.min, from(+input.value))) }));
      input.addEventListener("palpate", (e) => {
        const { detail } = e as CustomEvent<number>;
        input.value = String(to(detail));
        show(detail);
      });
      label.append(x.label, output, input);
      show(x.value);
      return label;
    }));
  }
  // What another page changed.
  for (const x of s.sliders) {
    const input = parent.querySelector<HTMLInputElement>(`input[data-name=${x.name}]`);
    if (input && document.activeElement !== input) input.dispatchEvent(new CustomEvent("palpate", { detail: x.value }));
  }
}

/// Two rows for a body, and no more for many.
function describeReduced(bodies: ReducedBody[]): [string, string][] {
  if (bodies.length === 0) return [];
  const whose = bodies.length > 1 ? ` of ${bodies.length} bodies` : "";
  const states = bodies.map((b) => b.states);
  const [least, most, leftOut] = [Math.min(...states), Math.max(...states), Math.max(...bodies.map((b) => b.leftOut))];
  const share = leftOut < 0.0005 ? "under 0.1 %" : `${bodies.length > 1 ? "up to " : ""}${(100 * leftOut).toFixed(leftOut < 0.0995 ? 1 : 0)} %`;
  return [[`States${whose}`, `${least < most ? `${least} to ` : ""}${most} of ${bodies[0].most}`], ["Left out by them", share]];
}

/// `frame` is that of the tool that the page plots, `reduced` what its contact model has by a few states.
export function showLoops(s: State, frame: ToolFrame | undefined, reduced: ReducedBody[]): void {
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
  const rows: HTMLElement[] = [];
  if (!s.film) {
    rows.push(row("Fast loop", `${fast.rate.toFixed(0)} of ${fast.wanted.toFixed(0)} Hz`, s.realtime && fast.rate > 0 && fast.rate < 0.98 * fast.wanted));
    if (s.realtime) rows.push(row("Tick p50, p99", `${fast.p50_us.toFixed(0)}, ${fast.p99_us.toFixed(0)} µs`), row("Load of its period", percent(fast.load), fast.load > 0.8));
    if (slow.rate > 0) {
      rows.push(row(s.auto_period ? "Slow loop, auto" : "Slow loop", `${slow.rate.toFixed(0)} of ${slow.wanted.toFixed(0)} Hz`, s.realtime && slow.rate < 0.9 * slow.wanted));
      if (s.realtime) rows.push(row("Step p50, p99", `${duration(slow.p50_ms)}, ${duration(slow.p99_ms)}`), row("Load of its period", percent(slow.load), slow.load > 0.8));
    }
  }
  if (frame) {
    const known = Number.isFinite(frame.modelAge) && (slow.rate > 0 || s.film); // none has come yet
    rows.push(row("Model age", s.all_fast && !s.film ? "none: all in the fast loop" : known ? `${(1e3 * frame.modelAge).toFixed(0)} ms` : "–"));
    for (const [name, value] of describeReduced(reduced)) rows.push(row(name, value));
    rows.push(row("Contacts", String(frame.contacts)));
    rows.push(row("Energy to the hand", `${(1e3 * frame.energy).toFixed(2)} mJ`, frame.energy > 0.01));
    const names = ["not finite", "clamped", "slew-limited", "coming in", "stale model", "damped", "sample broken", "sample out of order", "sample too far", "input lost"].filter((_, i) => frame && frame.events & (1 << i));
    rows.push(row("Safety", names.length ? names.join(", ") : "quiet", names.some((n) => n !== "coming in")));
  }
  get("loops").querySelector("tbody")?.replaceChildren(...rows);
  get("notes").textContent = s.notes.join(" ");
  get("time-line").firstElementChild?.setAttribute("style", `width: ${Math.min(100, (100 * s.time) / s.seconds)}%`);
}
