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
}

export class ToolMarks {
  readonly group = new THREE.Group();
  labels: Label[] = [];
  private readonly material = new THREE.MeshStandardMaterial({ color: kTool, roughness: 0.35 });
  private readonly tool = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 24), this.material);
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
    this.group.add(this.tool, this.hand, this.toolAxes, this.handAxes, this.coupling, this.force, this.torque, ...this.fingers, ...this.fingerForces);
  }

  update(frame: ToolFrame, size: number, look: ToolLook): void {
    const fingers = frame.fingers.length > 0;
    this.material.color.setHex(look.chosen ? kTool : kOtherTool);
    this.coupling.material.color.setHex(look.chosen ? kTool : kOtherTool);
    this.tool.visible = look.ball && !fingers;
    this.tool.scale.setScalar(look.radius);
    this.hand.scale.setScalar(1.1 * look.radius);
    place(this.tool, frame.tool);
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
    this.force.show(at, frame.force, 0.12 * size, size);
    this.torque.show(at, frame.torque, 4 * size, size);
    frame.fingers.forEach((f, i) => {
      if (!this.fingers[i]) return;
      place(this.fingers[i], f);
      this.fingerForces[i].show(f.position, f.force, 0.12 * size, size);
    });
    this.label(frame, look.name);
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
      for (const m of [drawn.material ?? []].flat()) m.dispose();
    });
  }
}
