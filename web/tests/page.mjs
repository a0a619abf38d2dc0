// The viewer's page in headless Chromium, and how to wait for what it should show.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

export const openBrowser = () => chromium.launch({
  executablePath: process.env.BROWSER,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--disable-background-networking"],
});

/// Between two pictures of a page that is not looked at for how it draws [ms]: in software each takes both cores' time.
export const kSeldom = 100;

/// A page that draws at most every `pause` ms.
export async function newPage(browser, { pause = 0, ...options }) {
  const page = await browser.newPage(options);
  await page.addInitScript((ms) => {
    const next = window.requestAnimationFrame.bind(window);
    if (ms > 0) window.requestAnimationFrame = (draw) => setTimeout(() => next(draw), ms);
  }, pause);
  return page;
}

/// A page of the viewer. `errors` collects what goes wrong in it.
export async function openPage(browser, url, errors, options = { viewport: { width: 900, height: 600 } }, prepare = () => {}) {
  const page = await newPage(browser, options);
  page.on("pageerror", (e) => errors.push(e.message));
  await page.addInitScript(prepare);
  await page.goto(url);
  const viewer = {
    page,
    read: (what) => page.evaluate((w) => window.palpate[w](), what),
    /// page.waitForFunction evaluates strings, which the page's security policy forbids.
    async until(condition, argument, seconds = 30) {
      for (const end = Date.now() + 1000 * seconds; Date.now() < end; await page.waitForTimeout(30)) {
        if (await page.evaluate(condition, argument)) return;
      }
      assert.fail(`waited in vain: ${condition} ${argument === undefined ? "" : JSON.stringify(argument)}`);
    },
    /// What the page writes follows what it knows by a frame.
    untilText: (selector, pattern) =>
      viewer.until(([q, p]) => new RegExp(p).test(document.querySelector(q)?.textContent ?? ""), [selector, pattern.source]),
    async chooseScene(name) {
      await viewer.until((n) => [...document.querySelectorAll("#scene option")].some((o) => o.value === n), name);
      await page.selectOption("#scene", name);
      await viewer.until((n) => window.palpate.state()?.scene === n && window.palpate.frame() && document.querySelector("#scene-name").textContent === n, name);
    },
    /// Where the tool is on the page, now.
    toolAt: () => page.evaluate(() => window.palpate.toScreen(window.palpate.frame().tool.position)),
    picture: (name) => page.screenshot({ path: `${process.env.PICTURES}/${name}.png` }),
  };
  await viewer.until(() => window.palpate?.frame() && window.palpate.state());
  return viewer;
}
