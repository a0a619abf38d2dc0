// What the server sends, unpacked. The binary layouts are those of server/src/frame.h and world_watch.h.

export interface Body {
  name: string;
  moves: boolean;
  tool: boolean;
  positions: Float32Array;
  triangles: Uint32Array;
}

export interface Plane {
  name: string;
  normal: [number, number, number];
  offset: number;
}

export interface Geometry {
  bodies: Body[];
  planes: Plane[];
}

export interface Frame {
  time: number;
  device: { position: number[]; rotation: number[] }; // rotation: w, x, y, z
  tool: { position: number[]; rotation: number[] };
  force: number[];
  torque: number[];
  modelAge: number;
  energy: number;
  contacts: number;
  held: boolean;
  events: number;
  vertices: Float32Array; // of all bodies that move, in order
  contactData: Float32Array; // point, normal, force
  ticks: Float32Array; // kTickFields each
  steps: Float32Array; // 2 + stages each
}

export const kTickFields = 6; // time, force x y z, tick time in µs, safety events
export const kContactFields = 9;

export interface Slider {
  name: string;
  label: string;
  unit: string;
  min: number;
  max: number;
  value: number;
}

export interface State {
  scene: string;
  description: string;
  scenes: string[];
  method: string;
  methods: { name: string; description: string; refused: string }[];
  sliders: Slider[];
  paused: boolean;
  speed: number;
  realtime: boolean;
  time: number;
  seconds: number;
  tool: "point" | "rigid" | "chain";
  tool_radius: number;
  recording: boolean;
  recordings: string[];
  replaying: string;
  error: string;
  notes: string[];
  stages: string[];
  loops: {
    fast: { rate: number; wanted: number; p50_us: number; p99_us: number; load: number };
    slow: { rate: number; wanted: number; p50_ms: number; p99_ms: number; load: number; contacts: number };
  };
}

export function readGeometry(data: ArrayBuffer): Geometry {
  const length = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let at = 4 + length;
  const bodies = head.bodies.map((b: { name: string; moves: boolean; tool: boolean; vertices: number; triangles: number }) => {
    const positions = new Float32Array(data, at, 3 * b.vertices);
    at += positions.byteLength;
    const triangles = new Uint32Array(data, at, 3 * b.triangles);
    at += triangles.byteLength;
    return { name: b.name, moves: b.moves, tool: b.tool, positions, triangles };
  });
  return { bodies, planes: head.planes };
}

export function isFrame(data: ArrayBuffer): boolean {
  return data.byteLength >= 8 && new DataView(data).getUint32(0, true) === 0x54415453; // "STAT"
}

export function readFrame(data: ArrayBuffer): Frame {
  const sections = new Map<string, Float32Array>();
  const view = new DataView(data);
  for (let at = 0; at + 8 <= data.byteLength; ) {
    const tag = String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
    const length = view.getUint32(at + 4, true);
    sections.set(tag, new Float32Array(data, at + 8, length / 4));
    at += 8 + length;
  }
  const s = sections.get("STAT") as Float32Array;
  const part = (from: number, count: number) => Array.from(s.subarray(from, from + count));
  const none = new Float32Array();
  return {
    time: s[0],
    device: { position: part(1, 3), rotation: part(4, 4) },
    tool: { position: part(8, 3), rotation: part(11, 4) },
    force: part(15, 3),
    torque: part(18, 3),
    modelAge: s[21],
    energy: s[22],
    contacts: s[23],
    held: s[24] !== 0,
    events: s[25],
    vertices: sections.get("VERT") ?? none,
    contactData: sections.get("CONT") ?? none,
    ticks: sections.get("TICK") ?? none,
    steps: sections.get("STEP") ?? none,
  };
}
