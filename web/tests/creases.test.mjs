// What looks smooth and what looks sharp.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { transform } from "esbuild";

const { code } = await transform(readFileSync("src/creases.ts", "utf8"), { loader: "ts" });
const { splitCreases } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

/// A cone of n sides over the unit circle, open below; its tip is vertex 0.
function makeCone(sides, height) {
  const positions = [0, height, 0], triangles = [];
  for (let i = 0; i < sides; ++i) {
    const angle = (2 * Math.PI * i) / sides;
    positions.push(Math.cos(angle), 0, Math.sin(angle));
    triangles.push(0, 1 + ((i + 1) % sides), 1 + i);
  }
  return { positions, triangles };
}

test("a box has three vertices at every corner", () => {
  const positions = [], triangles = [];
  for (let i = 0; i < 8; ++i) positions.push(i & 1, (i >> 1) & 1, i >> 2);
  for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) triangles.push(a, b, c, a, c, d);
  const { index, source } = splitCreases({ positions, triangles });
  assert.equal(source.length, 24);
  assert.deepEqual([...index].map((drawn) => source[drawn]), triangles); // every corner is where it was
});

test("the tip of a cone is one vertex where its sides meet bluntly, and sharp where they do not", () => {
  // Opposite sides of sixteen look away from each other by 127°, neighbours by less than 21°.
  assert.equal(splitCreases(makeCone(16, 2)).source.length, 17);
  // Of three sides neighbours meet at 102°: three at the tip, and two at each vertex of the rim.
  assert.equal(splitCreases(makeCone(3, 2)).source.length, 9);
});

test("sheets that touch in a vertex only are drawn apart", () => {
  const positions = [0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, 0, 0, 1];
  assert.equal(splitCreases({ positions, triangles: [0, 1, 2, 0, 3, 4] }).source.length, 6);
});
