// node bench/large_mesh_bench.mjs PALPATE [ROUNDS] [SECONDS]: what a page that draws a large soft body costs the slow loop. Drops a figure of 146,000
// triangles onto the page, saves its scene, and runs that by turns without a page and with one in headless Chromium, which draws in software.
// Prints steps a second of both and the median of the ratios. Turns, because a machine has moods.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { startEngine } from "../web/tests/engine.mjs";
import { dropFigure, measureRate } from "../web/tests/large_mesh.mjs";
import { openBrowser, openPage } from "../web/tests/page.mjs";

const [palpate, rounds = "3", seconds = "8"] = process.argv.slice(2);
if (!palpate) {
  console.error("usage: node bench/large_mesh_bench.mjs PALPATE [ROUNDS] [SECONDS]");
  process.exit(2);
}
process.env.PALPATE = palpate;
process.env.BROWSER ??= "/usr/bin/chromium";
const median = (list) => list.slice().sort((a, b) => a - b)[Math.floor(list.length / 2)];
const folder = mkdtempSync(`${tmpdir()}/palpate-large-`);

const scene = `${folder}/large.json`;
const browser = await openBrowser();
const engine = await startEngine("wall");
const first = await openPage(browser, engine.url, []);
await dropFigure(first, scene);
await first.page.close();
await engine.kill();
const results = [];
for (let i = 0; i < +rounds; ++i) {
  const order = i % 2 === 0 ? [false, true] : [true, false];
  const round = {};
  for (const watched of order) round[watched ? "with" : "without"] = await measureRate(scene, +seconds, watched ? browser : undefined);
  results.push(round);
}
console.log(JSON.stringify({ rounds: +rounds, seconds: +seconds, ratio: +median(results.map((r) => r.with.rate / r.without.rate)).toFixed(3), results }, null, 2));
process.exit(0);
