// node bench/viewer_bench.mjs PALPATE [SCENE] [ROUNDS] [SECONDS]: what pages cost the loops. Runs the scene by turns without pages and with two,
// one that reads everything and one that is stuck, and prints medians of the ratios with/without. Turns, because a machine has moods.
import { RawSocket, startEngine } from "../web/tests/engine.mjs";

const [palpate, scene = "organ", rounds = "10", seconds = "4"] = process.argv.slice(2);
if (!palpate) {
  console.error("usage: node bench/viewer_bench.mjs PALPATE [SCENE] [ROUNDS] [SECONDS]");
  process.exit(2);
}
process.env.PALPATE = palpate;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (list) => {
  const sorted = list.slice().sort((a, b) => a - b);
  return 0.5 * (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]);
};

async function run(watched) {
  const engine = await startEngine(scene);
  const pages = [];
  let bytes = 0;
  if (watched) {
    pages.push(await RawSocket.open(engine.port), await RawSocket.open(engine.port));
    pages[0].socket.on("data", (d) => (bytes += d.length));
    pages[1].stall();
  }
  await pause(1000 * seconds);
  const { summary } = await engine.stop();
  for (const page of pages) page.close();
  return { ...summary, megabytes: bytes / 1e6 / seconds };
}

const figures = ["tick_p50", "tick_p99", "step_p50", "step_p99"];
const ratios = Object.fromEntries(figures.map((f) => [f, []]));
const without = Object.fromEntries(figures.map((f) => [f, []]));
const rates = [];
const megabytes = [];
for (let i = 0; i < +rounds; ++i) {
  // A B, B A, A B …: a drift of the machine cancels.
  const order = i % 2 === 0 ? [false, true] : [true, false];
  const results = {};
  for (const watched of order) results[watched] = await run(watched);
  for (const f of figures) {
    ratios[f].push(results[true][f] / results[false][f]);
    without[f].push(results[false][f]);
  }
  rates.push(results[true].ticks / results[true].seconds);
  megabytes.push(results[true].megabytes);
}
const out = Object.fromEntries(figures.map((f) => [f, { without: median(without[f]), ratio: +median(ratios[f]).toFixed(3), ratios: ratios[f].map((r) => +r.toFixed(2)) }]));
console.log(JSON.stringify({ scene, rounds: +rounds, seconds: +seconds, ...out, ticks_per_second: +median(rates).toFixed(1), megabytes_per_second: +median(megabytes).toFixed(2) }, null, 2));
