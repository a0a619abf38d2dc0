// node bench/large_mesh_bench.mjs PALPATE [ROUNDS] [SECONDS]: what a page that draws a large soft body costs the slow loop. Drops a ball of 146,000
// triangles onto the page, saves its scene, and runs that by turns without a page and with one in headless Chromium, which draws in software.
// Prints steps a second of both and the median of the ratios. Turns, because a machine has moods.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { startEngine } from "../web/tests/engine.mjs";
import { makeBall } from "../web/tests/meshes.mjs";
import { openBrowser, openPage } from "../web/tests/page.mjs";

const [palpate, rounds = "3", seconds = "8"] = process.argv.slice(2);
if (!palpate) {
  console.error("usage: node bench/large_mesh_bench.mjs PALPATE [ROUNDS] [SECONDS]");
  process.exit(2);
}
process.env.PALPATE = palpate;
process.env.BROWSER ??= "/usr/bin/chromium";
const pause = (s) => new Promise((resolve) => setTimeout(resolve, 1000 * s));
const median = (list) => list.slice().sort((a, b) => a - b)[Math.floor(list.length / 2)];
const folder = mkdtempSync(`${tmpdir()}/palpate-large-`);

async function makeScene() {
  const engine = await startEngine("wall");
  const browser = await openBrowser();
  const viewer = await openPage(browser, engine.url, []);
  await viewer.page.setInputFiles("#file-input", { name: "large.obj", mimeType: "text/plain", buffer: Buffer.from(makeBall(0.05, { rings: 270, around: 271 })) });
  await viewer.until(() => window.palpate.state().scene === "large" && window.palpate.frame().time > 0.1, undefined, 120);
  const text = await viewer.page.evaluate(async () => (await fetch("scene.json")).text());
  writeFileSync(`${folder}/large.json`, text);
  await browser.close();
  await engine.kill();
  return `${folder}/large.json`;
}

async function run(scene, watched) {
  const engine = await startEngine(scene);
  const browser = watched ? await openBrowser() : undefined;
  const viewer = watched ? await openPage(browser, engine.url, [], { viewport: { width: 1280, height: 720 } }) : undefined;
  await pause(+seconds);
  const pace = viewer ? await viewer.read("pace") : undefined;
  const { summary } = await engine.stop();
  await browser?.close();
  return { rate: summary.steps / summary.seconds, step: summary.step_p50, pace };
}

const scene = await makeScene();
const results = [];
for (let i = 0; i < +rounds; ++i) {
  const order = i % 2 === 0 ? [false, true] : [true, false];
  const round = {};
  for (const watched of order) round[watched ? "with" : "without"] = await run(scene, watched);
  results.push(round);
}
console.log(JSON.stringify({ rounds: +rounds, seconds: +seconds, ratio: +median(results.map((r) => r.with.rate / r.without.rate)).toFixed(3), results }, null, 2));
process.exit(0);
