// What is drawn over the bodies: forces, contacts, the hand and its coupling, fingers, the contact model.
import * as THREE from "three";
import { Finger, Frame, Pose, kContactFields, kFaceFields } from "./frame";

export const kTool = 0xf2b134;
const kForce = 0xe2483d;
const kTorque = 0x3d8fe2;
const kContact = 0x2f9e44;
const kMaxContacts = 256;
const kMaxFaces = 512;
/// Of convex sets; they repeat.
const kSets = [0x3d7fe2, 0xf58518, 0x54a24b, 0xb279a2, 0x72b7b2, 0xe45756, 0xeeca3b, 0x9d755d];

type Triple = [number, number, number];

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

function lines(count: number): THREE.BufferGeometry {
  return new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
}

function over<T extends THREE.Object3D & { material: THREE.Material | THREE.Material[] }>(object: T): T {
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
  at: THREE.Vector3;
}

export class Marks {
  readonly group = new THREE.Group();
  labels: Label[] = [];
  private readonly tool = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 24), new THREE.MeshStandardMaterial({ color: kTool, roughness: 0.35 }));
  private readonly hand = new THREE.Mesh(
    new THREE.SphereGeometry(1, 24, 16),
    new THREE.MeshStandardMaterial({ color: 0xffffff, transparent: true, opacity: 0.35, depthWrite: false, depthTest: false }),
  );
  private readonly toolAxes = over(new THREE.AxesHelper(1));
  private readonly handAxes = over(new THREE.AxesHelper(1));
  private readonly coupling = over(new THREE.Line(lines(2), new THREE.LineBasicMaterial({ color: kTool })));
  private readonly force = new Arrow(kForce);
  private readonly torque = new Arrow(kTorque);
  private readonly contacts = over(new THREE.LineSegments(lines(2 * kMaxContacts), new THREE.LineBasicMaterial({ color: kContact })));
  private readonly dots = over(new THREE.Points(lines(kMaxContacts), new THREE.PointsMaterial({ color: kContact, size: 6, sizeAttenuation: false })));
  private readonly faces: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>;
  private readonly edges: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private edgeLength = 0; // of the faces, mean [m]
  private readonly fingers = new THREE.Group();
  private readonly fingerForces: Arrow[] = [];

  constructor() {
    const shape = lines(3 * kMaxFaces).setAttribute("color", new THREE.BufferAttribute(new Float32Array(9 * kMaxFaces), 3));
    this.faces = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({
      vertexColors: true, transparent: true, opacity: 0.6, side: THREE.DoubleSide, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
    }));
    this.edges = new THREE.LineSegments(lines(6 * kMaxFaces), new THREE.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 }));
    this.faces.frustumCulled = this.edges.frustumCulled = false;
    this.faces.renderOrder = this.edges.renderOrder = 1;
    (this.handAxes.material as THREE.Material).opacity = 0.45;
    this.group.add(this.tool, this.hand, this.toolAxes, this.handAxes, this.coupling, this.force, this.torque, this.contacts, this.dots, this.faces, this.edges, this.fingers);
  }

  setFingers(fingers: Finger[]): void {
    this.fingers.clear();
    this.group.remove(...this.fingerForces.splice(0));
    for (const f of fingers) {
      let shape: THREE.BufferGeometry = new THREE.SphereGeometry(f.radius, 32, 24);
      if (f.triangles.length > 0) {
        const indexed = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(f.positions, 3)).setIndex(new THREE.BufferAttribute(f.triangles, 1));
        shape = indexed.toNonIndexed();
        shape.computeVertexNormals();
      }
      this.fingers.add(new THREE.Mesh(shape, new THREE.MeshStandardMaterial({ color: kTool, roughness: 0.35 })));
      this.fingerForces.push(new Arrow(kForce));
    }
    if (fingers.length > 0) this.group.add(...this.fingerForces);
  }

  /// `turns`: the tool has an orientation; `ball`: it is drawn here, and not as a body.
  update(frame: Frame, size: number, radius: number, turns: boolean, ball: boolean): void {
    const fingers = frame.fingers.length > 0;
    this.tool.visible = ball && !fingers;
    this.tool.scale.setScalar(radius);
    this.hand.scale.setScalar(1.1 * radius);
    place(this.tool, frame.tool);
    place(this.hand, frame.device);
    place(this.toolAxes, frame.tool);
    place(this.handAxes, frame.device);
    this.toolAxes.visible = turns && !fingers;
    this.handAxes.visible = turns || fingers;
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
      if (!this.fingers.children[i]) return;
      place(this.fingers.children[i], f);
      this.fingerForces[i].show(f.position, f.force, 0.12 * size, size);
    });
    this.label(frame);
  }

  private label(frame: Frame): void {
    const newtons = (v: number[]) => `${Math.hypot(...v).toFixed(2)} N`;
    this.labels = [];
    if (this.force.visible) this.labels.push({ text: newtons(frame.force), kind: "force", at: this.force.tip });
    if (this.torque.visible) this.labels.push({ text: `${(1e3 * Math.hypot(...frame.torque)).toFixed(1)} mN·m`, kind: "torque", at: this.torque.tip });
    frame.fingers.forEach((f, i) => {
      if (this.fingerForces[i]?.visible) this.labels.push({ text: newtons(f.force), kind: "finger", at: this.fingerForces[i].tip });
    });
  }

  showContacts(data: Float32Array, size: number): void {
    const count = Math.min(kMaxContacts, data.length / kContactFields);
    const normals = this.contacts.geometry.getAttribute("position") as THREE.BufferAttribute;
    const dots = this.dots.geometry.getAttribute("position") as THREE.BufferAttribute;
    const length = 0.05 * size;
    for (let i = 0; i < count; ++i) {
      const c = data.subarray(kContactFields * i, kContactFields * (i + 1));
      dots.setXYZ(i, c[0], c[1], c[2]);
      normals.setXYZ(2 * i, c[0], c[1], c[2]);
      normals.setXYZ(2 * i + 1, c[0] + length * c[3], c[1] + length * c[4], c[2] + length * c[5]);
    }
    this.contacts.geometry.setDrawRange(0, 2 * count);
    this.dots.geometry.setDrawRange(0, count);
    normals.needsUpdate = true;
    dots.needsUpdate = true;
  }

  /// Edges of faces only where they do not hide them: `pixel` is a pixel's size at the scene's distance [m].
  fitEdges(pixel: number): void {
    this.edges.material.opacity = 0.35 * Math.min(1, Math.max(0, (this.edgeLength / pixel - 4) / 12));
  }

  /// The contact model's faces, each a little above the surface, one colour for each set. How many sets there are.
  showFaces(data: Float32Array, size: number): number {
    const count = Math.min(kMaxFaces, Math.floor(data.length / kFaceFields));
    const sets = new Int32Array(data.buffer, data.byteOffset, data.length);
    const corners = this.faces.geometry.getAttribute("position") as THREE.BufferAttribute;
    const colours = this.faces.geometry.getAttribute("color") as THREE.BufferAttribute;
    const edges = this.edges.geometry.getAttribute("position") as THREE.BufferAttribute;
    const colour = new THREE.Color();
    const seen = new Set<number>();
    let length = 0;
    for (let i = 0; i < count; ++i) {
      const f = data.subarray(kFaceFields * i, kFaceFields * (i + 1));
      const set = sets[kFaceFields * i + 12];
      seen.add(set);
      colour.setHex(kSets[set % kSets.length]);
      length += Math.hypot(f[3] - f[0], f[4] - f[1], f[5] - f[2]);
      const corner = (k: number) => [0, 1, 2].map((c) => f[3 * k + c] + 0.001 * size * f[9 + c]) as Triple;
      for (let k = 0; k < 3; ++k) {
        corners.setXYZ(3 * i + k, ...corner(k));
        colours.setXYZ(3 * i + k, colour.r, colour.g, colour.b);
        edges.setXYZ(6 * i + 2 * k, ...corner(k));
        edges.setXYZ(6 * i + 2 * k + 1, ...corner((k + 1) % 3));
      }
    }
    this.faces.geometry.setDrawRange(0, 3 * count);
    this.edges.geometry.setDrawRange(0, 6 * count);
    this.edgeLength = count > 0 ? length / count : 0;
    corners.needsUpdate = colours.needsUpdate = edges.needsUpdate = true;
    return seen.size;
  }
}
