// What is drawn of a hand and what it holds: tool, hand, the coupling between them, fingers, force and torque.
import * as THREE from "three";
import { Finger, Pose, ToolFrame } from "./frame";

export const kTool = 0xf2b134;
/// Of tools that the page has not chosen, where there are several.
export const kOtherTool = 0xd8cdb4;
const kForce = 0xe2483d;
const kTorque = 0x3d8fe2;

export type Triple = [number, number, number];

/// A force or torque.
export class Arrow extends THREE.Group {
  readonly tip = new THREE.Vector3();
  private readonly shaft: THREE.Mesh;
  private readonly head: THREE.Mesh;

  constructor(colour: number) {
    super();
    const material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true });
    this.shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), material);
    this.head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 24).translate(0, 0.5, 0), material);
    this.shaft.renderOrder = this.head.renderOrder = 3;
    this.add(this.shaft, this.head);
    this.visible = false;
  }

  show(from: number[], vector: number[], scale: number, size: number): void {
    const v = new THREE.Vector3().fromArray(vector);
    const length = 0.5 * size * Math.tanh((scale * v.length()) / (0.5 * size)); // grows ever less, and stays on the page
    this.visible = length > 0.01 * size;
    if (!this.visible) return;
    const head = Math.min(0.4 * length, 0.05 * size);
    this.position.fromArray(from);
    this.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), v.normalize());
    this.tip.copy(v).multiplyScalar(length).add(this.position);
    this.shaft.scale.set(0.16 * head, length - head, 0.16 * head);
    this.head.scale.set(0.42 * head, head, 0.42 * head);
    this.head.position.y = length - head;
  }
}

export function lines(count: number): THREE.BufferGeometry {
  return new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
}

export function over<T extends THREE.Object3D & { material: THREE.Material | THREE.Material[] }>(object: T): T {
  const material = object.material as THREE.Material;
  object.frustumCulled = false;
  object.renderOrder = 2;
  material.transparent = true;
  material.depthTest = false;
  return object;
}

/// What stands before it does not hide it wholly: where something does, it is drawn pale.
export function ghostOf(shape: THREE.BufferGeometry): THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial> {
  const ghost = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({ color: kTool, transparent: true, opacity: 0.4, depthFunc: THREE.GreaterDepth, depthWrite: false }));
  ghost.frustumCulled = false;
  ghost.renderOrder = 2;
  return ghost;
}

/// A ring, dark outside so that it stands out from anything.
function makeRing(): THREE.Sprite {
  const canvas = Object.assign(document.createElement("canvas"), { width: 96, height: 96 });
  const c = canvas.getContext("2d")!;
  for (const [width, style] of [[14, "rgba(20, 20, 20, .55)"], [8, "#ffffff"]] as const) {
    c.lineWidth = width;
    c.strokeStyle = style;
    c.beginPath();
    c.arc(48, 48, 40, 0, 2 * Math.PI);
    c.stroke();
  }
  const material = new THREE.SpriteMaterial({ map: new THREE.CanvasTexture(canvas), depthTest: false, sizeAttenuation: false, transparent: true });
  const ring = new THREE.Sprite(material);
  ring.renderOrder = 4;
  return ring;
}

const kRingPixels = matchMedia("(pointer: coarse)").matches ? 20 : 14; // radius of the ring around a tool that is small
const kBallPixels = 6; // least radius of a ball

/// What lies under a tool.
export interface Ground {
  y: number;
  normal: THREE.Vector3;
}

function place(object: THREE.Object3D, pose: Pose): void {
  const q = pose.rotation;
  object.position.fromArray(pose.position);
  object.quaternion.set(q[1], q[2], q[3], q[0]);
}

export interface Label {
  text: string;
  kind: "force" | "torque" | "finger";
  named: boolean; // there are several tools
  from: THREE.Vector3; // where its arrow begins
  at: THREE.Vector3; // where it ends
}

/// How a tool is drawn.
export interface ToolLook {
  name: string; // before its newtons; empty: none
  radius: number; // of what is drawn as a ball [m]
  turns: boolean; // it has an orientation
  ball: boolean; // it is drawn here, and not as a body
  chosen: boolean; // the page holds and plots this one
  hovered: boolean; // a click would take it
  pixel: number; // the size of a pixel at the tool [m]
  perPixel: number; // the same at a distance of one metre
  extent: number; // how thick it is [m]
  ground: Ground | undefined; // below it
}

export class ToolMarks {
  readonly group = new THREE.Group();
  labels: Label[] = [];
  private readonly material = new THREE.MeshStandardMaterial({ color: kTool, roughness: 0.35 });
  private readonly tool = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 24), this.material);
  private readonly ghost = ghostOf(this.tool.geometry);
  private readonly ring = makeRing();
  private readonly plumb = new THREE.Line(lines(2), new THREE.LineDashedMaterial({ color: 0x808080, transparent: true, opacity: 0.8 }));
  private readonly shadow = new THREE.Mesh(
    new THREE.CircleGeometry(1, 40),
    new THREE.MeshBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.28, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -4, polygonOffsetUnits: -4 }),
  );
  private readonly hand = new THREE.Mesh(
    new THREE.SphereGeometry(1, 24, 16),
    new THREE.MeshStandardMaterial({ color: 0xffffff, transparent: true, opacity: 0.35, depthWrite: false, depthTest: false }),
  );
  private readonly toolAxes = over(new THREE.AxesHelper(1));
  private readonly handAxes = over(new THREE.AxesHelper(1));
  private readonly coupling = over(new THREE.Line(lines(2), new THREE.LineBasicMaterial({ color: kTool })));
  private readonly force = new Arrow(kForce);
  private readonly torque = new Arrow(kTorque);
  private readonly fingers: THREE.Mesh[];
  private readonly fingerForces: Arrow[];

  constructor(fingers: Finger[]) {
    (this.handAxes.material as THREE.Material).opacity = 0.45;
    this.fingers = fingers.map((f) => {
      let shape: THREE.BufferGeometry = new THREE.SphereGeometry(f.radius, 32, 24);
      if (f.triangles.length > 0) {
        const indexed = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(f.positions, 3)).setIndex(new THREE.BufferAttribute(f.triangles, 1));
        shape = indexed.toNonIndexed();
        shape.computeVertexNormals();
      }
      return new THREE.Mesh(shape, this.material);
    });
    this.fingerForces = fingers.map(() => new Arrow(kForce));
    this.plumb.frustumCulled = this.shadow.frustumCulled = false;
    this.plumb.renderOrder = this.shadow.renderOrder = 1;
    this.group.add(this.tool, this.ghost, this.ring, this.plumb, this.shadow, this.hand, this.toolAxes, this.handAxes, this.coupling, this.force, this.torque, ...this.fingers, ...this.fingerForces);
  }

  update(frame: ToolFrame, size: number, look: ToolLook): void {
    const fingers = frame.fingers.length > 0;
    this.material.color.setHex(look.chosen ? kTool : kOtherTool);
    this.coupling.material.color.setHex(look.chosen ? kTool : kOtherTool);
    const radius = Math.max(look.radius, kBallPixels * look.pixel);
    this.tool.visible = this.ghost.visible = look.ball && !fingers;
    this.tool.scale.setScalar(radius);
    this.ghost.scale.setScalar(radius);
    this.ghost.material.color.setHex(look.chosen ? kTool : kOtherTool);
    this.hand.scale.setScalar(1.1 * radius);
    place(this.tool, frame.tool);
    place(this.ghost, frame.tool);
    place(this.hand, frame.device);
    place(this.toolAxes, frame.tool);
    place(this.handAxes, frame.device);
    this.toolAxes.visible = look.turns && !fingers;
    this.handAxes.visible = look.turns || fingers;
    this.toolAxes.scale.setScalar(0.05 * size);
    this.handAxes.scale.setScalar(0.05 * size);
    const ends = this.coupling.geometry.getAttribute("position") as THREE.BufferAttribute;
    ends.setXYZ(0, ...(frame.device.position as Triple));
    ends.setXYZ(1, ...((fingers ? frame.device : frame.tool).position as Triple));
    ends.needsUpdate = true;
    const at = fingers ? frame.device.position : frame.tool.position;
    this.showRing(at, look);
    this.showGround(at, Math.max(radius, 0.5 * Math.min(look.extent, 0.06 * size)), size, look.ground);
    this.force.show(at, frame.force, 0.12 * size, size);
    this.torque.show(at, frame.torque, 4 * size, size);
    frame.fingers.forEach((f, i) => {
      if (!this.fingers[i]) return;
      place(this.fingers[i], f);
      this.fingerForces[i].show(f.position, f.force, 0.12 * size, size);
    });
    this.label(frame, look.name);
  }

  /// Around what is too small to be seen or grabbed, and what the pointer is over.
  private showRing(at: number[], look: ToolLook): void {
    this.ring.visible = look.hovered || look.extent < 1.4 * kRingPixels * look.pixel;
    this.ring.position.fromArray(at);
    this.ring.scale.setScalar(2 * kRingPixels * look.perPixel);
    this.ring.material.color.setHex(look.chosen ? kTool : kOtherTool);
  }

  /// A line down to what lies below, and a shadow there: how high it is, and over what.
  private showGround(at: number[], radius: number, size: number, ground: Ground | undefined): void {
    this.plumb.visible = this.shadow.visible = ground !== undefined;
    if (!ground) return;
    const ends = this.plumb.geometry.getAttribute("position") as THREE.BufferAttribute;
    ends.setXYZ(0, ...(at as Triple));
    ends.setXYZ(1, at[0], ground.y, at[2]);
    ends.needsUpdate = true;
    this.plumb.material.dashSize = this.plumb.material.gapSize = 0.012 * size;
    this.plumb.computeLineDistances();
    this.shadow.position.set(at[0], ground.y, at[2]).addScaledVector(ground.normal, 0.002 * size);
    this.shadow.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), ground.normal);
    this.shadow.scale.setScalar(radius);
  }

  private label(frame: ToolFrame, name: string): void {
    const newtons = (v: number[]) => `${Math.hypot(...v).toFixed(2)} N`;
    this.labels = [];
    const add = (arrow: Arrow | undefined, kind: Label["kind"], text: string) => {
      if (arrow?.visible) this.labels.push({ text, kind, named: name !== "", from: arrow.position, at: arrow.tip });
    };
    add(this.force, "force", `${name} ${newtons(frame.force)}`.trim());
    add(this.torque, "torque", `${(1e3 * Math.hypot(...frame.torque)).toFixed(1)} mN·m`);
    frame.fingers.forEach((f, i) => add(this.fingerForces[i], "finger", newtons(f.force)));
  }

  dispose(): void {
    this.group.traverse((o) => {
      const drawn = o as Partial<THREE.Mesh>;
      drawn.geometry?.dispose();
      for (const m of [drawn.material ?? []].flat()) {
        (m as THREE.SpriteMaterial).map?.dispose();
        m.dispose();
      }
    });
  }
}
