// A mesh of one's own, dropped onto the page: it is there, it is felt, it is saved.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startEngine } from "./engine.mjs";
import { makeBall } from "./meshes.mjs";
import { kSeldom, openBrowser, openPage } from "./page.mjs";

let browser, engine, viewer, page;
const errors = [];

before(async () => {
  engine = await startEngine("wall");
  browser = await openBrowser();
  viewer = await openPage(browser, engine.url, errors, { viewport: { width: 1280, height: 720 }, pause: kSeldom });
  page = viewer.page;
});

after(async () => {
  await browser?.close();
  await engine?.kill();
});

/// As if somebody let a file fall onto the page.
const drop = (name, text) => page.evaluate(([n, t]) => {
  const data = new DataTransfer();
  data.items.add(new File([t], n));
  for (const type of ["dragenter", "dragover", "drop"]) document.querySelector("#canvas").dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, text]);
const felt = () => viewer.until(() => Math.hypot(...window.palpate.frame().force) > 0.3);
const shows = (scene) => viewer.until((s) => window.palpate.state().scene === s && window.palpate.frame().time < 5, scene);

test("a dropped mesh in millimetres is soft, of the right size, and felt", async () => {
  await drop("my ball.obj", makeBall(45));
  await shows("my-ball");
  const { file, scenes } = await viewer.read("state");
  assert.equal(file.open, "my ball.obj");
  assert.equal(file.mesh.scale, 0.001);
  assert.ok(file.mesh.soft && file.mesh.cell > 0.005 && file.mesh.cell < 0.03, `${file.mesh.cell} m`);
  assert.ok(scenes.includes("my-ball"));
  await viewer.untilText("#file-figures", /^90 mm × 90 mm × 90 mm · 720 triangles$/);
  await viewer.untilText("#file-notes", /millimetres/);
  await felt();
  await viewer.picture("opened");
});

test("static or soft, units and cells are chosen there", async () => {
  await page.check("#file-kind input[value=static]");
  await viewer.until(() => window.palpate.state().file.mesh.soft === false && !window.palpate.state().file.busy);
  await viewer.until(() => document.querySelector("#file-cell-row").hidden);
  await felt();
  await page.check("#file-kind input[value=soft]");
  await viewer.until(() => window.palpate.state().file.mesh.soft && !window.palpate.state().file.busy);
  const before = (await viewer.read("state")).file.mesh.cell;
  await page.evaluate((c) => {
    const input = document.querySelector("#file-cell");
    input.value = String(Math.log10(c));
    input.dispatchEvent(new Event("change"));
  }, 1.3 * before);
  await viewer.until((c) => Math.abs(window.palpate.state().file.mesh.cell / c - 1) < 1e-3, 1.3 * before);
  await page.selectOption("#file-units", { label: "no matter: 20 cm long" });
  await viewer.untilText("#file-figures", /^200 mm/);
});

test("what is saved is one file that the other commands read, and the page too", async () => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-scene")]);
  const path = `${process.env.PICTURES}/my-ball.json`;
  await download.saveAs(path);
  const saved = JSON.parse(readFileSync(path, "utf8"));
  assert.match(saved.bodies[0].shape.data, /^OFF\n/);
  assert.match(execFileSync(process.env.PALPATE, ["check", path], { encoding: "utf8" }), /^valid$/m);
  await viewer.chooseScene("wall");
  await page.setInputFiles("#file-input", path);
  await shows("my-ball");
  await viewer.until(() => window.palpate.state().file.mesh === null); // a scene, as it is
  assert.ok(await page.evaluate(() => document.querySelector("#file").hidden));
  await felt();
});

test("an open mesh is static, and says why it is not soft", async () => {
  await drop("open.obj", makeBall(0.05, { open: true }));
  await shows("open");
  await viewer.untilText("#file-notes", /It has 1 hole: 24 edges, 0\.0195 m across.*cannot be soft: it is open/);
  assert.ok(await page.evaluate(() => document.querySelector("#file-kind input[value=soft]").disabled));
  await felt();
});

test("its holes are filled where that is asked for, and then it is soft, felt and saved so", async () => {
  await page.check("#file-repair");
  await viewer.until(() => window.palpate.state().file.mesh.repair && !window.palpate.state().file.busy);
  const { mesh } = (await viewer.read("state")).file;
  assert.ok(mesh.soft && mesh.cell > 0.005 && mesh.cell < 0.03, `${mesh.cell} m`);
  assert.match(mesh.repaired, /1 hole filled/);
  assert.doesNotMatch(mesh.faults, /hole/);
  await viewer.untilText("#file-notes", /Repaired: .*1 hole filled/);
  await felt();
  await viewer.picture("opened-repaired");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-scene")]);
  const path = `${process.env.PICTURES}/repaired.json`;
  await download.saveAs(path);
  assert.match(execFileSync(process.env.PALPATE, ["check", path], { encoding: "utf8" }), /^valid$/m);
  await page.uncheck("#file-repair");
  await viewer.until(() => !window.palpate.state().file.mesh.repair && !window.palpate.state().file.mesh.soft && !window.palpate.state().file.busy);
});

test("what is wrong is said, and what ran runs on", async () => {
  await drop("bad.obj", "v 0 0 0\nv 1 0 zero\n");
  await viewer.untilText("#file-status-text", /bad\.obj:2: "zero" is not a number/);
  await page.click("#file-error-close");
  await viewer.until(() => document.querySelector("#file-status").hidden);
  await drop("letter.docx", "x");
  await viewer.untilText("#file-status-text", /letter\.docx: not a file that can be opened here/);
  await drop("evil.json", JSON.stringify({ format: 1, bodies: [{ type: "static", shape: { type: "mesh", file: "/etc/passwd" } }], hand: { type: "scripted", path: { type: "circle" } } }));
  await viewer.untilText("#file-status-text", /names the file "\/etc\/passwd"/);
  const large = `${process.env.PICTURES}/large.stl`;
  writeFileSync(large, Buffer.alloc(17 * 1024 * 1024));
  await page.setInputFiles("#file-input", large);
  await viewer.untilText("#file-status-text", /large\.stl: 17\.0 MB; at most 16\.0 MB/);
  const { scene } = await viewer.read("state");
  assert.equal(scene, "open");
  const t = (await viewer.read("frame")).time;
  await viewer.until((before) => window.palpate.frame().time !== before, t);
  assert.deepEqual(errors, []);
});
