// What the server sends, unpacked. The binary layouts are those of server/src/frame.h and world_watch.h.

export interface Mesh {
  positions: Float32Array;
  triangles: Uint32Array;
}

export interface Body extends Mesh {
  name: string;
  moves: boolean;
  tool: number; // which one it is, −1: none
  soft: boolean;
}

export interface Plane {
  name: string;
  normal: [number, number, number];
  offset: number;
}

/// A finger's mesh is in its own frame; without triangles it is a ball.
export interface Finger extends Mesh {
  tool: number; // whose it is
  radius: number;
}

export interface Geometry {
  number: number;
  name: string; // of the scene
  bodies: Body[];
  planes: Plane[];
  fingers: Finger[];
  ways: number[][]; // places where the scene's hands come; empty: not known
}

/// A body that the contact model has by a few states.
export interface ReducedBody {
  name: string;
  states: number; // used …
  most: number; // … of so many
  leftOut: number; // share of its answer that they do not hold, from 0 to 1
}

/// Surfaces and contacts after a step of the world.
export interface Surface {
  number: number; // of its geometry
  vertices: Float32Array; // of all bodies that move, in order
  contacts: Float32Array; // point, normal, force: kContactFields each
  faces: Float32Array; // of the contact model: three corners, normal, set (an integer): kFaceFields each
  reduced: Float32Array; // bodies that the contact model has by a few states: body of the geometry, states, most of them, share left out
  stress: Float32Array; // of each vertex [Pa], −1: none; empty: not computed
}

export interface Pose {
  position: number[];
  rotation: number[]; // w, x, y, z
}

/// A hand and its tool at one moment.
export interface ToolFrame {
  device: Pose;
  tool: Pose;
  force: number[];
  torque: number[];
  modelAge: number;
  energy: number;
  contacts: number;
  held: boolean;
  events: number;
  grip: number;
  fingers: (Pose & { force: number[] })[];
  ticks: Float32Array; // kTickFields each
}

/// All hands and the loops at one moment.
export interface Frame {
  time: number;
  tools: ToolFrame[]; // in the order of the scene, at least one
  steps: Float32Array; // kStepFields each
}

export const kTickFields = 9; // time, force x y z, torque x y z, tick time in µs, safety events
export const kStepFields = 8; // time, whole step and six stages in ms
export const kContactFields = 9;
export const kFaceFields = 13;
export const kReducedFields = 4;

export interface Slider {
  name: string;
  label: string;
  unit: string;
  min: number;
  max: number;
  value: number;
}

export interface Tool {
  name: string;
  kind: "point" | "fingers" | "body";
  radius: number;
  coupling_stiffness: number;
  method: string;
  holder: number; // the page that holds it, 0: none
  asker: number; // the page that asks its holder for it
  reserved: number; // the page that may take it now, where nobody holds it
}

/// A mesh that a page opened, and what was chosen about it.
export interface OpenedMesh {
  triangles: number;
  size: number[]; // in the file's unit
  faults: string; // holes and the like, in words
  can_repair: boolean; // it has holes, or they are filled
  repair: boolean; // they are
  repaired: string; // what was done to it
  refused_soft: string; // why it cannot be soft; empty: it can
  units: string; // why its scale is what it is; empty: the file's unit is the metre
  suggested_scale: number;
  soft: boolean;
  scale: number; // metres in one unit of the file
  z_up: boolean;
  cell: number; // [m]
  cell_min: number;
  cell_max: number;
  cell_suggested: number;
  loss: string; // what the cells have lost of it; empty: nothing that one would miss
}

/// The file that a page opened last.
export interface OpenedFile {
  name: string; // of the last attempt
  busy: boolean;
  seconds: number; // since it began
  error: string;
  open: string; // the file that was opened last; empty: none
  scene: string; // what its scene is called
  mesh: OpenedMesh | null; // null: it is a scene
}

export interface State {
  scene: string;
  description: string;
  scenes: string[];
  method: string; // of all tools; empty: each has its own
  own_methods: string[]; // that the scene gives its tools
  methods: { name: string; description: string; reason: string; refused: string }[]; // the likely best first, refused ones last
  sliders: Slider[];
  paused: boolean;
  speed: number;
  realtime: boolean;
  time: number;
  seconds: number;
  tools: Tool[];
  stress: boolean;
  recording: boolean;
  recordings: { name: string; seconds: number; film: boolean }[];
  repeating: string;
  film: { name: string; scene: string; method: string } | null;
  all_fast: boolean; // there is no slow loop, and so no contact model
  auto_period: boolean; // the slow loop is as fast as the machine holds
  file: OpenedFile | null;
  error: string;
  notes: string[];
  stages: string[];
  loops: {
    fast: { rate: number; wanted: number; p50_us: number; p99_us: number; load: number };
    slow: { rate: number; wanted: number; p50_ms: number; p99_ms: number; load: number };
  };
}

function readGeometry(data: ArrayBuffer): Geometry {
  const view = new DataView(data);
  const length = view.getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length)));
  let at = 8 + length;
  const withMesh = <T extends { vertices: number; triangles: number }>(item: T) => {
    const positions = new Float32Array(data, at, 3 * item.vertices);
    at += positions.byteLength;
    const triangles = new Uint32Array(data, at, 3 * item.triangles);
    at += triangles.byteLength;
    return { ...item, positions, triangles };
  };
  return { number: view.getUint32(0, true), name: head.name, bodies: head.bodies.map(withMesh), planes: head.planes, fingers: head.fingers.map(withMesh), ways: head.ways };
}

type Section = { tag: string; values: Float32Array };

function readSections(data: ArrayBuffer): Section[] {
  const sections: Section[] = [];
  const view = new DataView(data);
  for (let at = 0; at + 8 <= data.byteLength; ) {
    const tag = String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
    const length = view.getUint32(at + 4, true);
    sections.push({ tag, values: new Float32Array(data, at + 8, length / 4) });
    at += 8 + length;
  }
  return sections;
}

/// The first of that name; empty if there is none.
function find(sections: Section[], tag: string): Float32Array {
  return sections.find((s) => s.tag === tag)?.values ?? new Float32Array();
}

function readSurface(data: ArrayBuffer): Surface {
  const sections = readSections(data);
  const section = (tag: string) => find(sections, tag);
  return { number: new DataView(data).getUint32(8, true), vertices: section("VERT"), contacts: section("CONT"), faces: section("FACE"), reduced: section("REDU"), stress: section("STRS") };
}

function readTool(s: Float32Array, f: Float32Array, ticks: Float32Array): ToolFrame {
  const part = (from: number, count: number) => Array.from(s.subarray(from, from + count));
  const fingers = Array.from({ length: f.length / 10 }, (_, i) => {
    const value = (from: number, count: number) => Array.from(f.subarray(10 * i + from, 10 * i + from + count));
    return { position: value(0, 3), rotation: value(3, 4), force: value(7, 3) };
  });
  return {
    device: { position: part(1, 3), rotation: part(4, 4) },
    tool: { position: part(8, 3), rotation: part(11, 4) },
    force: part(15, 3),
    torque: part(18, 3),
    modelAge: s[21],
    energy: s[22],
    contacts: s[23],
    held: s[24] !== 0,
    events: s[25],
    grip: s[26],
    fingers,
    ticks,
  };
}

/// Each tool has a "STAT", and after it what else there is of it.
function readFrame(data: ArrayBuffer): Frame {
  const sections = readSections(data);
  const tools = sections.flatMap(({ tag, values }, i) => {
    if (tag !== "STAT") return [];
    const own = sections.slice(i, i + 3);
    return [readTool(values, find(own, "FING"), find(own, "TICK"))];
  });
  return { time: sections[0].values[0], tools, steps: find(sections, "STEP") };
}

export type Message = { kind: "frame"; frame: Frame } | { kind: "surface"; surface: Surface } | { kind: "geometry"; geometry: Geometry };

/// Geometries begin with their number, which is small; the others with a tag.
export function readMessage(data: ArrayBuffer): Message {
  const first = new DataView(data).getUint32(0, true);
  if (first === 0x54415453) return { kind: "frame", frame: readFrame(data) }; // "STAT"
  if (first === 0x46525553) return { kind: "surface", surface: readSurface(data) }; // "SURF"
  return { kind: "geometry", geometry: readGeometry(data) };
}
