import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { startEngine } from "./engine.mjs";

let browser, engine, page;
const errors = [];

before(async () => {
  engine = await startEngine("soft-block");
  browser = await chromium.launch({
    executablePath: process.env.BROWSER,
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--disable-background-networking"],
  });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
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
const picture = (name) => page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
const force = (f) => Math.hypot(...f.force);

test("the page shows the scene, alive", async () => {
  await until(() => window.palpate.frame() && window.palpate.state());
  assert.match(await page.title(), /soft-block/);
  // Of an empty canvas all pixels are alike.
  const colours = await page.evaluate(async () => {
    const image = new Image();
    image.src = window.palpate.picture();
    await image.decode();
    const c = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
    c.drawImage(image, 0, 0);
    return new Set(new Uint32Array(c.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  });
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
  for (let i = 1; i <= 40; ++i) {
    await page.mouse.move(at.x + i, at.y + 4 * i);
    await page.waitForTimeout(15);
  }
  await until(() => Math.hypot(...window.palpate.frame().force) > 1);
  const held = await read("frame");
  assert.ok(held.held);
  assert.ok(held.device.position[1] < start.device.position[1] - 0.01, "the hand went down");
  assert.ok(held.tool.position[1] > held.device.position[1], "the block holds the tool back");
  assert.match(await page.textContent("#who"), /You hold the tool/);
  assert.equal((await page.textContent("#force")).length > 0, true);
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

test("a slider changes the scene", async () => {
  await page.evaluate(() => {
    const slider = document.querySelector("input[data-name=young_modulus]");
    slider.value = "5";
    slider.dispatchEvent(new Event("change"));
  });
  await until(() => window.palpate.state().sliders.some((s) => s.name === "young_modulus" && Math.abs(s.value - 1e5) < 1));
});

test("a recording is made and played back", async () => {
  await page.click("#record");
  await until(() => window.palpate.state().recording);
  await page.waitForTimeout(1200);
  await page.click("#record");
  await until(() => !window.palpate.state().recording && window.palpate.state().recordings.length === 1);
  const [file] = (await read("state")).recordings;
  assert.ok(existsSync(file));
  await page.click("#play");
  await until((f) => window.palpate.state().replaying === f, file);
  await until(() => window.palpate.frame().time > 0.3);
});

test("dark, and as small as a phone", async () => {
  await page.click("#theme");
  await page.setViewportSize({ width: 390, height: 780 });
  await page.waitForTimeout(500);
  await picture("phone");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, "nothing sticks out");
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("the engine dies and comes back: the page says so and goes on", async () => {
  const { port } = engine;
  await engine.kill();
  await until(() => !document.getElementById("banner").hidden);
  assert.match(await page.textContent("#banner"), /lost/);
  await picture("lost");
  engine = await startEngine("cubes", "--port", String(port));
  assert.equal(engine.port, port);
  await until(() => document.getElementById("banner").hidden && window.palpate.state().scene === "cubes");
  await page.waitForTimeout(500);
  await picture("cubes");
  assert.deepEqual(errors, []);
  assert.ok(force(await read("frame")) >= 0);
});
