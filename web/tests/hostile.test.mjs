import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { test } from "node:test";
import { RawSocket, startEngine } from "./engine.mjs";

const kinds = ["hold", "let_go", "pause", "resume", "step", "reset", "speed", "method", "scene", "set", "record", "play", "repeat", "seek", "live", "stress", "ask", "give", "keep", "make", "nonsense"];
const pick = (list) => list[Math.floor(Math.random() * list.length)];
const values = [null, true, -1, 1e308, "NaN", "../../etc/passwd", [], {}, [1, 2], ["a", "b", "c"], "x".repeat(500)];

/// Anything from noise to almost right. Nothing that would be understood: those would restart the scene 10,000 times.
function malformed() {
  const n = Math.random();
  if (n < 0.2) return randomBytes(Math.floor(Math.random() * 200)).toString("base64");
  if (n < 0.3) return pick(["", "{", "[]", "null", "0", '"hold"', "{}", '{"type":1}', "[".repeat(2000)]);
  const m = { type: pick(kinds), name: pick(values), value: pick(values), position: pick(values), rotation: pick(values), on: pick([1, "yes", null]) };
  if (["let_go", "pause", "resume", "step", "reset", "live", "ask", "give", "keep"].includes(m.type)) m.type = m.type.toUpperCase();
  return JSON.stringify(m);
}

test("a tool that is not there is not taken", async () => {
  const engine = await startEngine("two-hands");
  const socket = await RawSocket.open(engine.port);
  const wrong = [-1, 2, 3, 4, 255, 4294967296, 18446744073709551615, 1e308, 0.5, "1", "right", null, true, [], [1], {}];
  for (const tool of wrong) {
    await socket.send(JSON.stringify({ type: "hold", position: [0, 0, 0], tool }));
    await socket.send(JSON.stringify({ type: "let_go", tool }));
    await new Promise((r) => setTimeout(r, 10));
  }
  await socket.send(JSON.stringify({ type: "method", name: "" })); // all tools have the same: there is none that is each one's own
  await socket.send(JSON.stringify({ type: "method", name: "limited" })); // understood, and refused: it is for points
  await socket.send(JSON.stringify({ type: "hold", position: [0.06, 0, 0], tool: 1 })); // this one is right
  await new Promise((r) => setTimeout(r, 300));
  socket.close();
  const { code, summary } = await engine.stop();
  assert.equal(code, 0);
  assert.equal(summary.malformed, 2 * wrong.length + 1);
});

/// POSTs to the engine; the status, 0 if the connection ended.
const upload = (port, name, body, headers = {}) => new Promise((resolve) => {
  const r = request({ port, host: "127.0.0.1", method: "POST", path: `/open?name=${encodeURIComponent(name)}`, headers: { Origin: `http://127.0.0.1:${port}`, ...headers } }, (answer) => {
    answer.resume();
    answer.on("end", () => resolve(answer.statusCode));
  });
  r.on("error", () => resolve(0));
  r.end(body);
});

test("files that are none, and files that ask for too much, change nothing", async () => {
  const engine = await startEngine("wall");
  const circle = { type: "scripted", path: { type: "circle" } };
  const scene = (body) => JSON.stringify({ format: 1, bodies: [body], hand: circle });
  const files = [
    ["../../../tmp/x.json", scene({ type: "static", shape: { type: "mesh", file: "/etc/passwd" } })],
    ["a.json", scene({ type: "static", shape: { type: "sphere", subdivisions: 2000 } })],
    ["b.json", scene({ type: "soft", shape: { type: "box", size: [1, 1, 1] }, cell: 1e-4 })],
    ["c.json", scene({ type: "rigid", shape: { type: "box" }, copies: { x: 1000, y: 1000, z: 1000 } })],
    ["d.json", JSON.stringify({ format: 1, bodies: [], hand: { type: "replay", file: "/dev/zero" } })],
    ["\u0000\n.obj", "v 1 2 3"], ["x".repeat(3000) + ".stl", randomBytes(500)], ["", ""], [".", "x"], ["e.ply", "ply\nformat ascii 1.0\nelement vertex 4294967295\n"],
  ];
  const answers = [];
  for (let i = 0; i < 200; ++i) {
    const [name, body] = i % 2 ? pick(files) : [`${i}.${pick(["obj", "stl", "ply", "off", "json"])}`, randomBytes(Math.floor(Math.random() * 4000))];
    answers.push(await upload(engine.port, name, body));
  }
  assert.equal(await upload(engine.port, "a.obj", "v 0 0 0", { Origin: "http://evil.example" }), 403);
  assert.ok(answers.every((a) => [202, 503].includes(a)) && answers.includes(202), [...new Set(answers)].join());
  const socket = await RawSocket.open(engine.port); // it still speaks to pages
  socket.close();
  const { code, summary } = await engine.stop();
  assert.equal(code, 0);
  assert.ok(summary.ticks > 0 && summary.malformed === 0);
});

test("10,000 malformed messages change nothing", async () => {
  const engine = await startEngine("wall");
  const undisturbed = await startEngine("wall"); // at the same time: what else the machine does, it does to both
  let sent = 0, sockets = 0;
  while (sent < 10_000) {
    const socket = await RawSocket.open(engine.port);
    ++sockets;
    for (let i = 0; i < 1000 && !socket.closed; ++i, ++sent) {
      // Binary is dropped; a frame against the protocol ends the connection.
      const r = Math.random();
      await socket.send(malformed(), r < 0.005 ? pick([0x80, 0x01, 0x8f, 0xf1]) : r < 0.1 ? 0x82 : 0x81);
      if (i % 100 === 99) await new Promise((r) => setTimeout(r, 100));
    }
    socket.close();
  }
  const long = await RawSocket.open(engine.port);
  await long.send("x".repeat(60_000));
  await new Promise((r) => setTimeout(r, 300));
  assert.ok(long.closed, "a message that is too long ends its connection");
  const { code, summary } = await engine.stop();
  assert.equal(code, 0);
  assert.equal(summary.too_long, 1);
  assert.ok(summary.malformed + summary.dropped > 5000, `${summary.malformed} not understood, ${summary.dropped} dropped, ${sockets} connections`);
  const other = (await undisturbed.stop()).summary;
  const share = summary.ticks / summary.seconds / (other.ticks / other.seconds);
  assert.ok(!process.env.WATCH_RATE || share > 0.95, `${share.toFixed(2)} of the ticks of one that is left alone`);
});
