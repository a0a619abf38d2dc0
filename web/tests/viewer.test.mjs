import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { after, before, test } from "node:test";
import { startEngine } from "./engine.mjs";
import { kSeldom, newPage, openBrowser } from "./page.mjs";

let browser, engine, page;
const errors = [];

before(async () => {
  engine = await startEngine("soft-block");
  browser = await openBrowser();
  page = await newPage(browser, { viewport: { width: 900, height: 600 }, pause: kSeldom });
  page.on("pageerror", (e) => errors.push(e.message));
  await page.goto(engine.url);
});

after(async () => {
  await browser?.close();
  await engine?.kill();
});

const read = (what) => page.evaluate((w) => window.palpate[w](), what);
/// page.waitForFunction evaluates strings, which the page's security policy forbids.
async function until(condition, argument) {
  for (const end = Date.now() + 30_000; Date.now() < end; await page.waitForTimeout(30)) {
    if (await page.evaluate(condition, argument)) return;
  }
  assert.fail(`waited in vain: ${condition}`);
}
/// What the page writes follows what it knows by a frame.
const untilText = (selector, pattern) =>
  until(([q, p]) => new RegExp(p).test(document.querySelector(q)?.textContent ?? ""), [selector, pattern.source]);
/// The canvas as numbers: how many colours, and how far it is from another.
const pixels = () => page.evaluate(async () => {
  const image = new Image();
  image.src = window.palpate.picture();
  await image.decode();
  const c = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
  c.drawImage(image, 0, 0);
  const data = c.getImageData(0, 0, image.width, image.height).data;
  const changed = window.lastPixels ? data.filter((v, i) => Math.abs(v - window.lastPixels[i]) > 8).length : 0;
  window.lastPixels = data;
  return { colours: new Set(new Uint32Array(data.buffer)).size, changed };
});
/// Until two pictures in a row differ as asked.
async function untilPixels(condition, text) {
  for (let i = 0; i < 60; ++i, await page.waitForTimeout(150)) {
    if (condition((await pixels()).changed)) return;
  }
  assert.fail(`waited in vain: ${text}`);
}
const set = (selector, value, event) => page.evaluate(([q, v, e]) => {
  const input = document.querySelector(q);
  input.value = v;
  input.dispatchEvent(new Event(e));
}, [selector, String(value), event]);
const picture = (name) => page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
const force = (f) => Math.hypot(...f.force);

test("the page shows the scene, alive", async () => {
  await until(() => window.palpate.frame() && window.palpate.state());
  assert.match(await page.title(), /soft-block/);
  const { colours } = await pixels(); // of an empty canvas all pixels are alike
  assert.ok(colours > 100, `${colours} colours`);
  const t = (await read("frame")).time;
  await until((before) => window.palpate.frame().time !== before, t);
  await picture("first");
});

test("the tool follows a drag, and force and plot answer", async () => {
  await page.click("#reset");
  await page.waitForTimeout(500);
  const start = await read("frame");
  const at = await page.evaluate((p) => window.palpate.toScreen(p), start.device.position);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  for (let i = 1; i <= 10; ++i) {
    await page.mouse.move(at.x + 4 * i, at.y + 16 * i);
    await page.waitForTimeout(20);
  }
  await until(() => Math.hypot(...window.palpate.frame().force) > 1);
  const held = await read("frame");
  assert.ok(held.held);
  assert.ok(held.device.position[1] < start.device.position[1] - 0.01, "the hand went down");
  assert.ok(held.tool.position[1] > held.device.position[1], "the block holds the tool back");
  await untilText("#who", /You hold the tool/);
  await untilText("#labels .force", /^\d+\.\d\d N$/);
  await picture("drag");
  await page.mouse.up();
  await until(() => !window.palpate.frame().held);
});

test("another method takes over, in the same scene", async () => {
  await page.selectOption("#method", "reference");
  await until(() => window.palpate.state().method === "reference" && window.palpate.state().time > 0.1);
  await page.selectOption("#method", "direct");
  await until(() => window.palpate.state().method === "direct");
  const disabled = await page.evaluate(() => [...document.querySelectorAll("#method option")].filter((o) => o.disabled).map((o) => o.value));
  const refused = (await read("state")).methods.filter((m) => m.refused).map((m) => m.name);
  assert.deepEqual(disabled, refused);
  // The likely best first, and at the end what cannot work, with the reason.
  const { methods } = await read("state");
  const shown = await page.evaluate(() => [...document.querySelectorAll("#method option")].map((o) => ({ name: o.value, text: o.text, group: o.parentElement.label })));
  assert.deepEqual(shown.map((o) => o.name), methods.map((m) => m.name));
  assert.ok(refused.length > 0 && shown.slice(-refused.length).every((o, i) => o.group === "cannot work here" && o.text === `${refused[i]}: ${methods.find((m) => m.name === refused[i]).refused}`));
  assert.ok(shown.slice(1, -refused.length).every((o) => o.group === "likely best first"));
  await untilText("#method-text", /\. Here: .+\.$/);
});

test("pause, step, slow motion", async () => {
  await page.click("#pause");
  await until(() => window.palpate.state().paused && !window.palpate.state().realtime);
  await page.waitForTimeout(200);
  const t = (await read("frame")).time;
  await page.waitForTimeout(400);
  assert.equal((await read("frame")).time, t);
  await page.click("#step");
  await until((before) => window.palpate.frame().time > before, t);
  await page.waitForTimeout(300);
  assert.ok(Math.abs((await read("frame")).time - t - 0.02) < 0.003, "one slow period");
  await page.selectOption("#speed", "0.2");
  await page.click("#pause");
  await until((before) => window.palpate.frame().time > before + 0.1, t);
  await page.selectOption("#speed", "1");
  await until(() => window.palpate.state().realtime);
});

test("sliders change the scene; latency ages the model", async () => {
  await set("input[data-name=young_modulus]", 5, "change"); // a logarithm
  await until(() => window.palpate.state().sliders.some((s) => s.name === "young_modulus" && Math.abs(s.value - 1e5) < 1));
  await set("input[data-name=extra_latency]", 80, "change");
  await until(() => window.palpate.frame().modelAge > 0.08);
  await set("input[data-name=extra_latency]", 0, "change");
  await until(() => window.palpate.frame().modelAge > 0 && window.palpate.frame().modelAge < 0.08);
});

test("a saved scene holds what the panel changed, and is valid", async () => {
  await set("input[data-name=friction]", 0.625, "change");
  await until(() => window.palpate.state().sliders.some((s) => s.name === "friction" && s.value === 0.625));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-scene")]);
  assert.equal(download.suggestedFilename(), "soft-block.json");
  const file = `${process.env.PICTURES}/soft-block.json`;
  await download.saveAs(file);
  const saved = JSON.parse(readFileSync(file, "utf8"));
  const state = await read("state");
  assert.equal(saved.method, state.method);
  assert.ok(saved.bodies.every((b) => b.friction === 0.625));
  const soft = saved.bodies.find((b) => b.type === "soft");
  assert.equal(soft.material.young_modulus, state.sliders.find((s) => s.name === "young_modulus").value, "to the last bit");
  assert.match(execFileSync(process.env.PALPATE, ["check", file], { encoding: "utf8" }), /^valid$/m);
});

test("plots tell percentiles", async () => {
  await until(() => window.palpate.percentiles().tick?.p99 > 0 && window.palpate.percentiles().step?.p99 > 0);
  const { tick, step } = await read("percentiles");
  assert.ok(tick.p50 <= tick.p99 && step.p50 <= step.p99);
  await untilText("[data-plot=tick] .figures", /p50 [\d.]+ · p99 [\d.]+ µs/);
});

test("colours show deformation and stress", async () => {
  await until(() => Math.hypot(...window.palpate.frame().force) > 0.3);
  await page.click("#pause");
  await until(() => window.palpate.state().paused);
  await pixels();
  await untilPixels((changed) => changed < 100, "a paused scene stands still");
  for (const [colouring, unit] of [["deformation", /mm$/], ["stress", /Pa$/]]) {
    await page.selectOption("#colouring", colouring);
    await untilPixels((changed) => changed > 10_000, colouring);
    await untilText("#legend-end", unit);
    await picture(colouring);
  }
  await page.selectOption("#colouring", "plain");
  await page.click("#pause");
  await until(() => window.palpate.state().realtime && window.palpate.frame().time > 0);
});

test("a recording is made, played back with a time line, and its hand repeated", async () => {
  await page.click("#record");
  await until(() => window.palpate.state().recording);
  await page.waitForTimeout(1200);
  await page.click("#record");
  await until(() => !window.palpate.state().recording && window.palpate.state().recordings.length === 1);
  const [{ name, seconds }] = (await read("state")).recordings;
  assert.ok(existsSync(name));
  assert.ok(seconds > 0.5, `${seconds} s`);
  await page.click("#play");
  await until((f) => window.palpate.state().film?.name === f, name);
  await until((end) => window.palpate.frame().time > 0.1 && window.palpate.frame().time < end + 0.01, seconds);
  await set("#film-time", 0, "pointerdown"); // whoever takes the time line stops the film
  await until(() => window.palpate.state().paused);
  const seen = {};
  const [early, late] = [0.2 * seconds, 0.8 * seconds];
  for (const t of [late, early, late]) {
    await set("#film-time", t, "input");
    await until((x) => Math.abs(window.palpate.frame().time - x) < 1e-3, t);
    const { device, force } = await read("frame");
    if (seen[t]) assert.deepEqual({ device, force }, seen[t], "the same moment looks the same");
    seen[t] = { device, force };
  }
  assert.notDeepEqual(seen[early], seen[late]);
  await picture("film");
  await page.click("#live");
  await until(() => window.palpate.state().film === null && window.palpate.state().realtime);
  await page.click("#repeat");
  await until((f) => window.palpate.state().repeating === f, name);
  await until(() => window.palpate.frame().time > 0.3);
});

test("the contact model is shown by convex set", async () => {
  await page.selectOption("#scene", "sine-static");
  await page.waitForTimeout(100);
  await until(() => window.palpate.state().scene === "sine-static");
  await page.selectOption("#method", "limited");
  await until(() => window.palpate.state().method === "limited" && window.palpate.sets() > 1);
  await picture("sets");
  await page.selectOption("#method", "halfspace"); // one plane
  await until(() => window.palpate.state().method === "halfspace" && window.palpate.sets() === 1);
  await page.uncheck("#model");
  await until(() => window.palpate.sets() === 0);
  await page.check("#model");
});

test("keyboard, grip and gamepad take the tool", async () => {
  await page.focus("#canvas");
  await page.keyboard.down("g");
  await until(() => window.palpate.frame().held && window.palpate.frame().grip > 0.9);
  await page.keyboard.up("g");
  await until(() => window.palpate.frame().grip < 0.1);
  const y = (await read("frame")).device.position[1];
  for (let i = 0; i < 4; ++i) await page.keyboard.press("ArrowUp");
  await until((before) => window.palpate.frame().device.position[1] > before + 0.002, y);
  await page.keyboard.press("Escape");
  await until(() => !window.palpate.frame().held);
  await page.evaluate(() => {
    window.pad = { connected: true, axes: [1, 0, 0, 0], buttons: Array.from({ length: 8 }, (_, i) => ({ value: i === 7 ? 0.7 : 0 })) };
    navigator.getGamepads = () => [window.pad];
  });
  await until(() => window.palpate.frame().held && Math.abs(window.palpate.frame().grip - 0.7) < 0.05);
  await page.evaluate(() => (window.pad.buttons[1].value = 1));
  await until(() => !window.palpate.frame().held);
  await page.evaluate(() => (navigator.getGamepads = () => []));
});

test("every control is reached by the keyboard, and a picture is saved", async () => {
  await page.focus("#canvas");
  const reached = new Set();
  for (let i = 0; i < 50; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement?.id || document.activeElement?.dataset?.name || ""));
  }
  for (const id of ["canvas", "pause", "reset", "speed", "scene", "open", "method", "colouring", "model", "friction", "extra_latency", "record", "play", "repeat", "save-scene", "picture", "theme"])
    assert.ok(reached.has(id), `${id} is not reached: ${[...reached]}`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#picture")]);
  assert.equal(download.suggestedFilename(), "palpate-sine-static.png");
});

test("two tools: two arrows, and the mouse takes the one it points at", async () => {
  await page.selectOption("#scene", "two-hands");
  await until(() => window.palpate.state().scene === "two-hands" && window.palpate.frame().tools.length === 2);
  // From 1 to 1.5 s the script keeps both hands still, 37 mm from the middle. A busy machine may pause too late.
  await page.selectOption("#speed", "0.2");
  for (let i = 0; i < 5; ++i) {
    await page.click("#reset");
    await until(() => window.palpate.frame().time < 0.9);
    await until(() => window.palpate.frame().time > 1);
    await page.click("#pause");
    await until(() => window.palpate.state().paused);
    await page.waitForTimeout(300);
    if ((await read("frame")).time < 1.25) break;
    await page.click("#pause");
  }
  await until(() => document.querySelectorAll("#labels .force").length === 2);
  const labels = await page.evaluate(() => [...document.querySelectorAll("#labels .force")].map((l) => l.textContent));
  assert.match(labels[0], /^left \d+\.\d\d N$/);
  assert.match(labels[1], /^right \d+\.\d\d N$/);
  const { tools } = await read("frame");
  assert.ok(tools[0].force[0] < -0.1 && tools[1].force[0] > 0.1, "the block pushes both hands outward");
  const at = await page.evaluate((p) => window.palpate.toScreen(p), tools[1].tool.position);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  for (let i = 1; i <= 10; ++i) await page.mouse.move(at.x, at.y - 5 * i);
  for (let i = 0; i < 8; ++i) {
    const { time } = await read("frame");
    await page.evaluate(() => document.getElementById("step").click()); // the mouse is busy
    await until((before) => window.palpate.frame().time > before + 0.015, time);
  }
  const now = await read("frame");
  assert.ok(now.time < 1.5, `${now.time} s: too late to tell`);
  assert.ok(now.tools[1].device.position[1] > tools[1].device.position[1] + 0.003, "the right hand went up");
  assert.deepEqual(now.tools.map((t) => t.held), [false, true]);
  assert.ok(Math.hypot(...now.tools[0].device.position.map((x, i) => x - [-0.037, 0, 0][i])) < 1e-7, "the left hand is where its script has it");
  await untilText("#who", /^You hold right/);
  await untilText("#tools .chosen", /^right$/);
  await untilText("[data-plot=force] .figures", /^right$/);
  await picture("two-hands");
  await page.mouse.up();
  await page.selectOption("#speed", "1");
  await page.click("#pause");
  await until(() => !window.palpate.frame().tools[1].held && window.palpate.state().realtime);
});

test("two tools: names choose one, a method is for both, a film shows both", async () => {
  await page.click("#tools button:first-child");
  await until(() => window.palpate.tool() === 0);
  await page.focus("#canvas");
  await page.keyboard.press("ArrowUp");
  await until(() => window.palpate.frame().tools[0].held);
  assert.ok(!(await read("frame")).tools[1].held);
  await page.click("#tools button:last-child"); // turning to another tool lets go of the one that was held
  await until(() => !window.palpate.frame().tools[0].held && window.palpate.tool() === 1);
  const { methods, own_methods } = await read("state");
  assert.ok(!(await page.evaluate(() => [...document.querySelectorAll("#method option")].some((o) => o.value === ""))), `all have ${own_methods[0]}`);
  const other = methods.find((m) => !m.refused && m.name !== own_methods[0]).name;
  await page.selectOption("#method", other);
  await until((m) => window.palpate.state().tools.every((t) => t.method === m), other);
  await page.click("#record");
  await until(() => window.palpate.state().recording);
  await page.waitForTimeout(700);
  await page.click("#record");
  await until(() => !window.palpate.state().recording);
  await page.click("#play");
  await until(() => window.palpate.state().film?.scene === "two-hands" && window.palpate.frame().time > 0.1);
  const film = await read("frame");
  assert.equal(film.tools.length, 2);
  assert.ok(film.tools[0].device.position[0] < -0.02 && film.tools[1].device.position[0] > 0.02, "each where it was");
  await page.click("#live");
  await until(() => window.palpate.state().film === null);
  await page.selectOption("#scene", "wall");
  await until(() => window.palpate.state().scene === "wall" && window.palpate.frame().tools.length === 1);
  await until(() => document.getElementById("tools").hidden && window.palpate.tool() === 0);
});

test("tools with a method each: one for all, and back to each its own", async () => {
  const scene = JSON.parse(execFileSync(process.env.PALPATE, ["check", "two-hands-points", "--write"], { encoding: "utf8" }));
  scene.name = "mixed";
  ["limited", "halfspace"].forEach((m, i) => (scene.tools[i].method = m));
  const file = `${process.env.PICTURES}/mixed.json`;
  writeFileSync(file, JSON.stringify(scene));
  const [one, other] = [page, await startEngine(file)];
  try {
    page = await newPage(browser, { viewport: { width: 900, height: 600 }, pause: kSeldom });
    page.on("pageerror", (e) => errors.push(e.message));
    await page.goto(other.url);
    const methods = (expected) => until((m) => window.palpate.state()?.tools.map((t) => t.method).join() === m, expected);
    await methods("limited,halfspace");
    await untilText("#method option:checked", /^each its own \(limited, halfspace\)$/);
    await untilText("#method-text", /^left: limited · right: halfspace$/);
    await page.selectOption("#method", "direct");
    await methods("direct,direct");
    await page.selectOption("#method", "");
    await methods("limited,halfspace");
    const saved = await page.evaluate(async () => (await fetch("scene.json")).json());
    assert.deepEqual(saved.tools.map((t) => t.method), ["limited", "halfspace"]);
    await page.click("#record");
    await until(() => window.palpate.state().recording);
    await page.waitForTimeout(500);
    await page.selectOption("#method", "direct"); // ends the recording
    await methods("direct,direct");
    await page.click("#play");
    await until(() => window.palpate.state().film?.method === "");
    await methods("limited,halfspace"); // the film's
    await untilText("#description", /^A recording with a method for each tool\.$/);
    await page.click("#repeat");
    await until(() => window.palpate.state().repeating !== "" && window.palpate.state().film === null);
    await methods("limited,halfspace");
    await untilText("#who", /^A recording's hands play/);
  } finally {
    await page.close();
    await other.kill();
    page = one;
  }
});

test("a real device: its panel, and a button that takes the force away and gives it back slowly", async () => {
  // The library's double goes round and round by itself, into the wall every four seconds.
  const library = `force-dimension:${dirname(process.env.PALPATE)}/libdhd_double.so`;
  const [one, other] = [page, await startEngine("wall", "--device", library, "--mapping", "anchor=origin", "--mapping", "offset=0,0.005,0")];
  try {
    page = await newPage(browser, { viewport: { width: 640, height: 480 }, pause: kSeldom });
    page.on("pageerror", (e) => errors.push(e.message));
    await page.goto(other.url);
    await untilText("#device-name", /^omega/);
    await untilText("#who", /^omega.* holds the tool/);
    await untilText("#device-figures", /\d+ samples a second/);
    await untilText("#device-trips-text", /half below \d+ (µs|ms)/);
    const dot = () => page.evaluate(() => document.querySelector("#device-space .hand").getAttribute("cy"));
    const before = await dot();
    await until(([b]) => document.querySelector("#device-space .hand").getAttribute("cy") !== b, [before]);
    // The force is let in when the hand was free.
    const felt = () => until(() => Math.hypot(...window.palpate.devices()[0].sent) > 0.1);
    await felt();
    await picture("device");
    await page.click("#device-stop");
    await until(() => window.palpate.devices()[0].stopped.includes("hand") && window.palpate.devices()[0].phase !== "ready");
    await untilText("#device-phase", /^(Stopped|Lost)/);
    // What the scene asks for goes on, and nothing of it arrives.
    await until(() => (window.most = Math.max(window.most ?? 0, ...window.palpate.devices()[0].sent.map(Math.abs)), Math.hypot(...window.palpate.devices()[0].asked) > 0.1));
    assert.equal(await page.evaluate(() => window.most), 0);
    await picture("device-stopped");
    await page.click("#device-resume"); // a touch is not enough
    await page.waitForTimeout(400);
    assert.ok(await page.evaluate(() => window.palpate.devices()[0].stopped.includes("hand")));
    await page.hover("#device-resume");
    await page.mouse.down();
    await until(() => !window.palpate.devices()[0].stopped.includes("hand"));
    await page.mouse.up();
    await untilText("#device-phase", /^(Waiting|Lost)/);
    await felt();
    await page.keyboard.press("Escape");
    await until(() => window.palpate.devices()[0].stopped.includes("hand"));
    const { malformed } = (await other.stop()).summary;
    assert.equal(malformed, 0);
  } finally {
    await page.close();
    await other.kill();
    page = one;
  }
});

test("dark, and as small as a phone", async () => {
  await page.selectOption("#scene", "organ");
  await until(() => window.palpate.state().scene === "organ" && window.palpate.frame().time > 0.5);
  await page.click("#theme");
  await page.setViewportSize({ width: 390, height: 780 });
  await page.waitForTimeout(500);
  await picture("phone");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, "nothing sticks out");
  await page.setViewportSize({ width: 900, height: 600 });
  await picture("organ");
});

test("the engine dies and comes back: the page says so and goes on", async () => {
  const { port } = engine;
  await engine.kill();
  await until(() => !document.getElementById("banner").hidden);
  await untilText("#banner", /lost/);
  await picture("lost");
  engine = await startEngine("cubes", "--port", String(port));
  assert.equal(engine.port, port);
  await until(() => document.getElementById("banner").hidden && window.palpate.state().scene === "cubes");
  await page.waitForTimeout(500);
  await picture("cubes");
  assert.deepEqual(errors, []);
  assert.ok(force(await read("frame")) >= 0);
});
