// What is where on the page, at the sizes that people have: nothing hidden, nothing cut off, nothing behind text.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { startEngine } from "./engine.mjs";
import { kSeldom, openBrowser, openPage } from "./page.mjs";

const kSizes = [{ width: 1600, height: 900 }, { width: 1280, height: 720 }, { width: 390, height: 844 }];
let browser, engine, viewer, page;
const errors = [];

before(async () => {
  engine = await startEngine("organ");
  browser = await openBrowser();
  viewer = await openPage(browser, engine.url, errors, { viewport: kSizes[1], pause: kSeldom }, () => {
    // All that is ever written about the model's age.
    window.ages = new Set();
    setInterval(() => {
      for (const row of document.querySelectorAll("#loops tr")) if (row.firstChild.textContent === "Model age") window.ages.add(row.lastChild.textContent);
    }, 5);
  });
  page = viewer.page;
});

after(async () => {
  await browser?.close();
  await engine?.kill();
});

test("a scene with a slow loop never claims to have none", async () => {
  await viewer.until(() => [...window.ages].some((a) => /^\d+ ms$/.test(a)));
  const ages = await page.evaluate(() => [...window.ages]);
  assert.ok(ages.every((a) => /^(–|\d+ ms)$/.test(a)), ages.join());
});

test("the page is light or dark as the system is, also when that changes", async () => {
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await viewer.until((theme) => document.documentElement.dataset.theme === theme, colorScheme);
  }
});

test("what one needs first is on the first screen", async () => {
  const areSeen = (all) => document.documentElement.scrollWidth <= innerWidth && all.every((q) => {
    const r = document.querySelector(q).getBoundingClientRect();
    return r.width > 0 && r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
  });
  for (const size of kSizes) {
    await page.setViewportSize(size);
    await viewer.until((w) => innerWidth === w, size.width);
    await viewer.until(() => document.querySelectorAll("#loops tr").length >= 9);
    const wanted = ["#force", "#who", "#pause", "#reset", "#record", "#scene", "#open", ...(size.width > 1000 ? ["#loops", "#method", "[data-plot=force]", "[data-plot=tick]", "[data-plot=step]"] : ["[data-plot=force]"])];
    await viewer.until(areSeen, wanted, 10); // and nothing sticks out
  }
});

test("the camera shows bodies, tool and the hand's way between the texts, in every size", async () => {
  for (const scene of ["sine-static", "two-hands", "wire", "zhuang-hand", "polyp"]) {
    await viewer.chooseScene(scene);
    for (const size of kSizes.slice(1)) {
      await page.setViewportSize(size);
      // What is fitted follows the picture's size by a frame.
      await viewer.until((s) => {
        const { left, right, top, bottom } = window.palpate.framed();
        const stage = document.querySelector("#stage").getBoundingClientRect();
        const above = document.querySelector("header").getBoundingClientRect().bottom;
        const below = document.querySelector("#below").getBoundingClientRect().top;
        const filled = Math.max((right - left) / stage.width, (bottom - top) / (below - above));
        return innerWidth === s.width && left >= stage.left && right <= stage.right && top >= above - 1 && bottom <= below + 1 && filled > 0.7;
      }, size, 15);
    }
  }
});

/// Vertices that move may leave the picture, or what of it is above an element, but not for three seconds.
async function staysIn(above = undefined) {
  const isOut = (q) => {
    const stage = document.querySelector("#stage").getBoundingClientRect();
    const bottom = q ? document.querySelector(q).getBoundingClientRect().top : stage.bottom;
    return window.palpate.bodies().map((p) => window.palpate.toScreen(p)).some(({ x, y }) => x < stage.left || x > stage.right || y < stage.top || y > bottom + 2);
  };
  await viewer.until(() => window.palpate.frame().time > 1);
  for (let i = 0, gone = 0; i < 40; ++i, await page.waitForTimeout(200)) {
    gone = (await page.evaluate(isOut, above)) ? gone + 1 : 0;
    assert.ok(gone < 15, `out of the picture, or below ${above}, for three seconds`);
  }
}

test("a body that sinks behind the hint comes up again, and no label hides another", async () => {
  await page.setViewportSize(kSizes[1]);
  await viewer.chooseScene("organ-stroke"); // its tip sinks by its weight
  await staysIn("#below");
  await page.setViewportSize(kSizes[2]);
  await viewer.chooseScene("zhuang-cantilever"); // force and torque end in nearly the same place
  await viewer.until(() => document.querySelectorAll("#labels *").length > 1);
  for (let i = 0; i < 20; ++i, await page.waitForTimeout(100)) {
    const boxes = await page.evaluate(() => [...document.querySelectorAll("#labels *")].map((l) => l.getBoundingClientRect()));
    boxes.forEach((a, k) => boxes.slice(k + 1).forEach((b) => assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, JSON.stringify([a, b]))));
  }
});

test("bodies that are pushed out of the picture come into it again", async () => {
  await page.setViewportSize({ width: 1280, height: 720 });
  const before = await viewer.read("glides");
  await viewer.chooseScene("cubes");
  await viewer.until((n) => window.palpate.glides() > n, before); // the ball has pushed some out
  await viewer.until(() => window.palpate.lost() === 0 && window.palpate.frame().time > 2.5, undefined, 20);
  await viewer.picture("cubes-pushed");
  // One small cube, which its hand pushes along several times its size.
  await viewer.chooseScene("susa-push");
  await staysIn();
  const [[low, high]] = await viewer.read("grids");
  assert.ok(low[0] < -0.1 && high[0] > 0.5, `the table lies under all of the way, from −0.03 to 0.4 m: ${low} to ${high}`);
});

test("a torque has its place, and moves nothing when it comes", async () => {
  for (const size of kSizes) {
    await page.setViewportSize(size);
    await viewer.chooseScene("two-beams"); // pulled aside soon, and held
    await viewer.until(() => /^\d+\.\d mN·m$/.test(document.querySelector("#torque").textContent), undefined, 20);
    const lines = await page.evaluate(() => {
      const line = (q) => document.querySelector(q).getBoundingClientRect().height / parseFloat(getComputedStyle(document.querySelector(q)).fontSize);
      return { who: line("#who"), newtons: line("#newtons") };
    });
    assert.ok(lines.who < 2 && lines.newtons < 1.6, `one line each: ${JSON.stringify(lines)}`);
  }
});

/// How many pixels between `inner` and `r` from the tool have its colour.
const countToolPixels = (inner, reach) => page.evaluate(async ([inner, r]) => {
  const image = new Image();
  image.src = window.palpate.picture();
  await image.decode();
  const c = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
  c.drawImage(image, 0, 0);
  const stage = document.querySelector("#canvas").getBoundingClientRect();
  const at = window.palpate.toScreen(window.palpate.frame().tool.position);
  const scale = image.width / stage.width;
  const { data, width } = c.getImageData((at.x - stage.left - r) * scale, (at.y - stage.top - r) * scale, 2 * r * scale, 2 * r * scale);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    const away = Math.hypot(((i / 4) % width) / scale - r, Math.floor(i / 4 / width) / scale - r);
    if (away > inner && away < r && data[i] > 190 && data[i + 1] > 130 && data[i + 1] < 215 && data[i + 2] < 120) ++count;
  }
  return count / scale ** 2;
}, [inner, reach]);

test("a point is seen wherever it is, and taken at its rim", async () => {
  await page.setViewportSize(kSizes[1]);
  await viewer.chooseScene("wall");
  await viewer.until(() => Math.hypot(...window.palpate.frame().force) > 0.5); // in the surface
  await page.click("#pause");
  await viewer.until(() => window.palpate.state().paused);
  for (let i = 0; ; ++i, await page.waitForTimeout(100)) {
    const pixels = await countToolPixels(9, 16);
    if (pixels > 60) break; // of a ring of radius 12 and more than two wide: it has 150, and a part is behind the arrow
    assert.ok(i < 100, `${pixels} pixels`);
  }
  await page.click("#pause");
  await viewer.until(() => !window.palpate.state().paused);
  const at = await viewer.toolAt();
  await page.mouse.move(at.x + 12, at.y);
  await page.mouse.down();
  await viewer.until(() => window.palpate.frame().held);
  await page.mouse.up();
  await viewer.until(() => !window.palpate.frame().held);
});

test("where nothing is soft, it says that there is nothing to colour", async () => {
  await page.selectOption("#colouring", "stress");
  await viewer.untilText("#legend-name", /^Nothing to colour/);
  await viewer.chooseScene("soft-block");
  await viewer.untilText("#legend-name", /^Von Mises/);
  await page.selectOption("#colouring", "plain");
  await viewer.until(() => document.querySelector("#legend").hidden);
});

test("plots go on while the scene's hand begins again; microseconds and torque where they are", async () => {
  await viewer.chooseScene("sine-static"); // two seconds long
  await viewer.until(() => window.palpate.plotted().to > 2.5 && window.palpate.frame().time < 2);
  const { from, to, ticks } = await viewer.read("plotted");
  assert.ok(from < 2 && to > 2.5, `${from} to ${to} s`); // what was before is still there
  assert.ok(ticks > 100);
  await viewer.untilText("[data-plot=step] b", /\[µs\]/);
  assert.ok(await page.evaluate(() => document.querySelector("[data-plot=torque]").clientWidth === 0));
  await viewer.chooseScene("two-hands");
  await viewer.until(() => document.querySelector("[data-plot=torque]").clientWidth > 0);
  await viewer.picture("torque");
});

test("the panel says how many states a reduced body has, and what they leave out", async () => {
  await viewer.chooseScene("soft-block");
  await page.selectOption("#method", "reduced");
  await viewer.until(() => {
    const rows = [...document.querySelectorAll("#loops tr")].map((r) => r.textContent);
    return rows.some((r) => /^States\d+ of \d+$/.test(r)) && rows.some((r) => /^Left out by them(under )?\d+(\.\d)? %$/.test(r));
  });
  const [block] = await viewer.read("reduced");
  assert.ok(block.name === "block" && block.states > 6 && block.leftOut >= 0 && block.leftOut < 1, JSON.stringify(block));
  await viewer.picture("states");
  await page.selectOption("#method", "direct");
  await viewer.until(() => ![...document.querySelectorAll("#loops tr")].some((r) => r.textContent.startsWith("States")));
});

test("a report on a phone shows every verdict without scrolling aside", async () => {
  execFileSync(process.env.PALPATE, ["reproduce", "susa-cube", "--quick", "-o", process.env.PICTURES]);
  const report = await browser.newPage({ viewport: kSizes[2] });
  await report.goto(`file://${process.env.PICTURES}/susa-cube.html`);
  const right = await report.evaluate(() => [...document.querySelectorAll(".claims tbody td")].map((cell) => cell.getBoundingClientRect().right));
  assert.ok(right.length >= 4 && right.every((x) => x > 0 && x <= 390), right.join());
  await report.close();
});

test("when the engine ends, no force is left", async () => {
  await viewer.until(() => Math.hypot(...window.palpate.frame().force) > 0.3 && document.querySelectorAll("#labels .force").length > 0);
  await engine.kill();
  await viewer.untilText("#force", /^–$/);
  await viewer.until(() => document.querySelectorAll("#labels *").length === 0);
  assert.deepEqual(errors, []);
});
