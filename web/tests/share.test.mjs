// Two pages look at one engine, and agree who holds the tool.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startEngine } from "./engine.mjs";
import { kSeldom, openBrowser, openPage } from "./page.mjs";

let browser, engine, one, two;
const errors = [];

before(async () => {
  engine = await startEngine("wall");
  browser = await openBrowser();
  // Small: two pages that are drawn in software share the machine with the engine.
  const open = () => openPage(browser, engine.url, errors, { viewport: { width: 800, height: 420 }, pause: kSeldom });
  [one, two] = [await open(), await open()];
});

after(async () => {
  await browser?.close();
  await engine?.kill();
});

/// Takes the tool with the mouse and keeps it; where it is not to be had, nothing happens.
async function grab(viewer) {
  const at = await viewer.toolAt();
  await viewer.page.mouse.move(at.x, at.y);
  await viewer.page.mouse.down();
  await viewer.page.mouse.move(at.x, at.y - 30);
}
const holder = (viewer, page) => viewer.until((p) => window.palpate.state().tools[0].holder === p, page);

test("who comes second sees it, cannot take it, and asks", async () => {
  const [first, second] = [await one.read("page"), await two.read("page")];
  assert.ok(first > 0 && second > 0 && first !== second);
  await grab(one);
  await holder(two, first);
  await one.untilText("#who", /^You hold the tool/);
  await two.untilText("#who", /^Another page holds the tool/);
  await grab(two);
  await two.page.mouse.up();
  await two.page.click("[data-share=ask]");
  await one.untilText("#share", /asks for the tool/);
  await two.untilText("#share", /^You have asked/);
  // Kept: the other page is told.
  await one.page.evaluate(() => document.querySelector("[data-share=keep]").click()); // the mouse is busy
  await two.until(() => document.querySelector("[data-share=ask]"));
  assert.equal((await two.read("state")).tools[0].holder, first, "all the while");
  await two.page.click("[data-share=ask]");
  await one.until(() => document.querySelector("[data-share=give]"));
  await one.page.evaluate(() => document.querySelector("[data-share=give]").click());
  await two.untilText("#share", /^You may take the tool/);
  await one.untilText("#who", /^Another page/);
  await grab(two);
  await holder(one, second);
  await two.untilText("#who", /^You hold the tool/);
  // The first one's mouse is still down: it moves nothing of a hand that has come to rest.
  await two.until(() => {
    const { time, device } = window.palpate.frame();
    if (window.rest && Math.hypot(...device.position.map((x, i) => x - window.rest.position[i])) < 1e-5) return time > window.rest.time + 0.2;
    window.rest = { time, position: device.position };
  });
  await one.page.mouse.move(100, 100);
  await one.page.mouse.up();
  await one.page.waitForTimeout(300);
  const moved = await two.page.evaluate(() => Math.hypot(...window.palpate.frame().device.position.map((x, i) => x - window.rest.position[i])));
  assert.ok(moved < 1e-4, `the hand stays where the second page holds it: ${moved} m`);
  await two.picture("share");
});

test("who holds it still and says nothing loses it to who asks; who goes away lets go", async () => {
  const [first, second] = [await one.read("page"), await two.read("page")];
  await holder(one, second);
  const asked = Date.now();
  await one.page.click("[data-share=ask]");
  await one.untilText("#share", /^You may take the tool/);
  assert.ok(Date.now() - asked > 3000, "not at once");
  await grab(one);
  await holder(two, first);
  await two.page.mouse.up();
  await one.page.close();
  await holder(two, 0);
  await two.untilText("#who", /^The scene's own hand plays/);
  assert.deepEqual(errors, []);
});
