// node web/pictures.mjs PALPATE [NAME...]: takes the viewer's pictures in docs/images anew, all or those named, in headless Chromium. Waits until the loops keep their rates and
// something is felt; a machine that is busy for a minute and a half gets the picture that there is then.
import { startEngine } from "./tests/engine.mjs";
import { openBrowser, openPage } from "./tests/page.mjs";

process.env.PALPATE = process.argv[2];
process.env.BROWSER ??= "/usr/bin/chromium";
const folder = new URL("../docs/images/", import.meta.url).pathname;
const names = process.argv.slice(3);

/// A torus in millimetres, as OBJ text.
function makeRing(major, minor, around = 64, across = 32) {
  const lines = [];
  for (let i = 0; i < around; ++i) {
    for (let k = 0; k < across; ++k) {
      const [a, b] = [(2 * Math.PI * i) / around, (2 * Math.PI * k) / across];
      lines.push(`v ${(major + minor * Math.cos(b)) * Math.cos(a)} ${minor * Math.sin(b)} ${(major + minor * Math.cos(b)) * Math.sin(a)}`);
    }
  }
  const at = (i, k) => 1 + (i % around) * across + (k % across);
  for (let i = 0; i < around; ++i) for (let k = 0; k < across; ++k) lines.push(`f ${at(i, k)} ${at(i, k + 1)} ${at(i + 1, k + 1)} ${at(i + 1, k)}`);
  return lines.join("\n") + "\n";
}

const ring = { name: "ring.obj", mimeType: "text/plain", buffer: Buffer.from(makeRing(60, 28)) };
const pictures = [
  { name: "viewer", scene: "organ", width: 1280, height: 800 },
  { name: "viewer-1600", scene: "wall", file: ring, width: 1600, height: 900 },
  { name: "viewer-1280", scene: "sine-static", width: 1280, height: 720, colorScheme: "dark" },
  { name: "viewer-390", scene: "organ", width: 390, height: 844, hasTouch: true },
].filter(({ name }) => names.length === 0 || names.includes(name));

const isGood = () => {
  const { loops } = window.palpate.state();
  const { force, time, events } = window.palpate.frame();
  return time > 1 && Math.hypot(...force) > 0.5 && events === 0 && loops.fast.rate > 0.98 * loops.fast.wanted && loops.slow.rate > 0.9 * loops.slow.wanted;
};

const browser = await openBrowser();
for (const { name, scene, file, width, height, ...look } of pictures) {
  const engine = await startEngine(scene);
  const { page, until } = await openPage(browser, engine.url, [], { viewport: { width, height }, ...look });
  if (file) {
    await page.setInputFiles("#file-input", file);
    await until(() => window.palpate.state().file?.open, undefined, 120);
  }
  await page.waitForTimeout(6000); // the plots fill
  // What is felt may be over when the picture is taken.
  for (const end = Date.now() + 90_000; ; await page.waitForTimeout(30)) {
    const before = await page.evaluate(isGood);
    if (before || Date.now() > end) await page.screenshot({ path: `${folder}${name}.png` });
    if (before && (await page.evaluate(isGood))) break;
    if (Date.now() > end) {
      console.warn(`${name}: taken on a machine that is too busy`);
      break;
    }
  }
  await page.close();
  await engine.kill();
}
await browser.close();
