// What is drawn over the bodies: hands and tools, contacts, the contact model.
import * as THREE from "three";
import { Finger, Frame, kContactFields, kFaceFields } from "./frame";
import { Label, ToolLook, ToolMarks, Triple, lines, over } from "./tool_marks";

const kContact = 0x2f9e44;
const kMaxContacts = 256;
const kMaxFaces = 512;
/// Of convex sets; they repeat.
const kSets = [0x3d7fe2, 0xf58518, 0x54a24b, 0xb279a2, 0x72b7b2, 0xe45756, 0xeeca3b, 0x9d755d];

export class Marks {
  readonly group = new THREE.Group();
  private tools: ToolMarks[] = [];
  private fingers: Finger[] = []; // of all tools
  private readonly contacts = over(new THREE.LineSegments(lines(2 * kMaxContacts), new THREE.LineBasicMaterial({ color: kContact })));
  private readonly dots = over(new THREE.Points(lines(kMaxContacts), new THREE.PointsMaterial({ color: kContact, size: 6, sizeAttenuation: false })));
  private readonly faces: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>;
  private readonly edges: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private edgeLength = 0; // of the faces, mean [m]

  constructor() {
    const shape = lines(3 * kMaxFaces).setAttribute("color", new THREE.BufferAttribute(new Float32Array(9 * kMaxFaces), 3));
    this.faces = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({
      vertexColors: true, transparent: true, opacity: 0.6, side: THREE.DoubleSide, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
    }));
    this.edges = new THREE.LineSegments(lines(6 * kMaxFaces), new THREE.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 }));
    this.faces.frustumCulled = this.edges.frustumCulled = false;
    this.faces.renderOrder = this.edges.renderOrder = 1;
    this.group.add(this.contacts, this.dots, this.faces, this.edges);
  }

  get labels(): Label[] {
    return this.tools.flatMap((t) => t.labels);
  }

  /// Another scene: what was drawn of its tools goes.
  setFingers(fingers: Finger[]): void {
    for (const t of this.tools.splice(0)) this.remove(t);
    this.fingers = fingers;
  }

  private remove(tool: ToolMarks): void {
    this.group.remove(tool.group);
    tool.dispose();
  }

  /// Draws as many tools as the frame has.
  update(frame: Frame, size: number, look: (tool: number) => ToolLook): void {
    for (const t of this.tools.splice(frame.tools.length)) this.remove(t);
    frame.tools.forEach((f, i) => {
      if (!this.tools[i]) {
        this.tools[i] = new ToolMarks(this.fingers.filter((finger) => finger.tool === i));
        this.group.add(this.tools[i].group);
      }
      this.tools[i].update(f, size, look(i));
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
