// A large soft body beside a page, for a test and a benchmark.
import { writeFileSync } from "node:fs";
import { startEngine } from "./engine.mjs";
import { makeFigure } from "./meshes.mjs";
import { openPage } from "./page.mjs";

/// Drops a figure of 146,000 triangles onto the page, and saves its scene as `file`.
export async function dropFigure(viewer, file) {
  await viewer.page.setInputFiles("#file-input", { name: "large.obj", mimeType: "text/plain", buffer: Buffer.from(makeFigure()) });
  await viewer.until(() => window.palpate.state().scene === "large" && window.palpate.frame().time > 0.3, undefined, 120);
  writeFileSync(file, await viewer.page.evaluate(async () => (await fetch("scene.json")).text()));
}

/// How many slow steps a second an engine makes of the scene in so many seconds [Hz]: alone, or with a page in `browser`, whose pace is told then.
export async function measureRate(scene, seconds, browser = undefined) {
  const engine = await startEngine(scene);
  const viewer = browser ? await openPage(browser, engine.url, [], { viewport: { width: 1280, height: 720 } }) : undefined;
  await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  const pace = viewer ? await viewer.read("pace") : undefined;
  const { summary } = await engine.stop();
  await viewer?.page.close();
  return { rate: summary.steps / summary.seconds, step: summary.step_p50, pace };
}
