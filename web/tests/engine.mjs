// `palpate view` as a child, and a WebSocket client that may say anything.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";

/// A port that nobody listens at: other tests' engines take the default one and its neighbours.
function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/// Starts the viewer, at a free port if none is named; resolves when pages can connect.
export async function startEngine(scene, ...options) {
  if (!options.includes("--port")) options.push("--port", String(await freePort()));
  const child = spawn(process.env.PALPATE, ["view", scene, "--no-open", "--json", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { url } = JSON.parse((await lines.next()).value);
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  return {
    url, port: +new URL(url).port,
    /// Ends it as Ctrl-C would; what it said at the end.
    async stop() {
      child.kill("SIGINT");
      const last = await lines.next();
      return { ...(await ended), summary: JSON.parse(last.value) };
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/// A WebSocket by hand: Node 18 has none, and a library would not send what is forbidden.
export class RawSocket {
  static open(port) {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      const raw = new RawSocket(socket);
      socket.once("error", reject);
      socket.once("data", (d) => (d.toString("latin1").startsWith("HTTP/1.1 101") ? resolve(raw) : reject(new Error(d.toString("latin1")))));
      socket.write(`GET /live HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`);
    });
  }

  constructor(socket) {
    this.socket = socket;
    this.closed = false;
    socket.on("close", () => (this.closed = true));
    socket.on("error", () => (this.closed = true));
  }

  /// One frame: first byte (FIN and opcode), payload masked as clients must.
  send(payload, first = 0x81) {
    const data = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
    const mask = randomBytes(4);
    const head = data.length < 126 ? Buffer.from([first, 0x80 | data.length]) : Buffer.from([first, 0xfe, data.length >> 8, data.length & 255]);
    const body = Buffer.from(data.map((b, i) => b ^ mask[i & 3]));
    return new Promise((resolve) => this.socket.write(Buffer.concat([head, mask, body]), () => resolve()));
  }

  /// Reads nothing more: the other side's buffers fill.
  stall() {
    this.socket.pause();
  }

  close() {
    this.socket.destroy();
  }
}
