// Bodies, tool, hand, contacts and forces, in three dimensions.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Frame, Geometry, kContactFields } from "./frame";

const kBodyColours = [0xc9786a, 0x7a9cc6, 0xc9a86a, 0x86b58a, 0xa48ac0, 0x6ab0b5];
const kTool = 0xf2b134;
const kForce = 0xe2483d;
const kTorque = 0x3d8fe2;
const kMaxContacts = 256;

interface Shown {
  mesh: THREE.Mesh;
  rest: Float32Array;
  source: Uint32Array; // the body's vertex of each vertex drawn
  count: number; // of the body's vertices
  moves: boolean;
}

/// A force or torque.
class Arrow extends THREE.Group {
  private readonly shaft: THREE.Mesh;
  private readonly head: THREE.Mesh;

  constructor(colour: number) {
    super();
    const material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true });
    this.shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), material);
    this.head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 24).translate(0, 0.5, 0), material);
    this.shaft.renderOrder = this.head.renderOrder = 3;
    this.add(this.shaft, this.head);
  }

  show(from: number[], vector: number[], scale: number, size: number): void {
    const v = new THREE.Vector3().fromArray(vector);
    const length = 0.5 * size * Math.tanh((scale * v.length()) / (0.5 * size)); // grows ever less, and stays on the page
    this.visible = length > 0.01 * size;
    if (!this.visible) return;
    const head = Math.min(0.4 * length, 0.05 * size);
    this.position.fromArray(from);
    this.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), v.normalize());
    this.shaft.scale.set(0.16 * head, length - head, 0.16 * head);
    this.head.scale.set(0.42 * head, head, 0.42 * head);
    this.head.position.y = length - head;
  }
}

/// Vertices apart where faces meet at more than 40°, so that edges look sharp and all else smooth: for every corner of
/// every triangle the vertex to draw, and for every vertex to draw the body's.
function splitCreases(positions: Float32Array, triangles: Uint32Array): { index: Uint32Array; source: Uint32Array } {
  const kCosine = Math.cos((40 * Math.PI) / 180);
  const at = (i: number) => new THREE.Vector3().fromArray(positions, 3 * i);
  const faces = triangles.length / 3;
  const normals: THREE.Vector3[] = [];
  const around: number[][] = Array.from({ length: positions.length / 3 }, () => []);
  for (let f = 0; f < faces; ++f) {
    const [a, b, c] = [at(triangles[3 * f]), at(triangles[3 * f + 1]), at(triangles[3 * f + 2])];
    normals.push(b.sub(a).cross(c.sub(a)).normalize());
    for (let k = 0; k < 3; ++k) around[triangles[3 * f + k]].push(f);
  }
  const index = new Uint32Array(triangles.length);
  const source: number[] = [];
  around.forEach((list, vertex) => {
    const groups: { normal: THREE.Vector3; id: number }[] = [];
    for (const f of list) {
      let group = groups.find((g) => g.normal.dot(normals[f]) > kCosine);
      if (!group) {
        group = { normal: normals[f], id: source.length };
        source.push(vertex);
        groups.push(group);
      }
      for (let k = 0; k < 3; ++k) if (triangles[3 * f + k] === vertex) index[3 * f + k] = group.id;
    }
  });
  return { index, source: new Uint32Array(source) };
}

function gather(from: Float32Array, source: Uint32Array, to: Float32Array): void {
  for (let i = 0; i < source.length; ++i) {
    const s = 3 * source[i];
    to[3 * i] = from[s];
    to[3 * i + 1] = from[s + 1];
    to[3 * i + 2] = from[s + 2];
  }
}

export class SceneView {
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.001, 50);
  readonly controls: OrbitControls;
  colourDeformation = false;
  size = 0.2; // of what is shown [m]

  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly bodies = new THREE.Group();
  private shown: Shown[] = [];
  private readonly tool = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 24), new THREE.MeshStandardMaterial({ color: kTool, roughness: 0.35 }));
  private readonly hand = new THREE.Mesh(
    new THREE.SphereGeometry(1, 24, 16),
    new THREE.MeshStandardMaterial({ color: 0xffffff, transparent: true, opacity: 0.35, depthWrite: false }),
  );
  private readonly coupling: THREE.Line;
  private readonly force = new Arrow(kForce);
  private readonly torque = new Arrow(kTorque);
  private readonly contacts: THREE.LineSegments;
  private readonly dots: THREE.Points;
  private toolIsBody = false;
  private framed = "";

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x55504a, 1.1));
    const sun = new THREE.DirectionalLight(0xfff4e0, 2.2);
    sun.position.set(1, 2, 1.5);
    const fill = new THREE.DirectionalLight(0xdde8ff, 0.7);
    fill.position.set(-1.5, 0.5, -1);
    this.scene.add(sun, fill, this.bodies, this.tool, this.hand, this.force, this.torque);
    const line = (count: number) => new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    this.coupling = new THREE.Line(line(2), new THREE.LineBasicMaterial({ color: kTool }));
    this.contacts = new THREE.LineSegments(line(2 * kMaxContacts), new THREE.LineBasicMaterial({ color: 0x2f9e44 }));
    this.dots = new THREE.Points(line(kMaxContacts), new THREE.PointsMaterial({ color: 0x2f9e44, size: 6, sizeAttenuation: false }));
    for (const o of [this.coupling, this.contacts, this.dots]) {
      o.frustumCulled = false;
      o.renderOrder = 2;
      (o.material as THREE.Material).transparent = true;
      (o.material as THREE.Material).depthTest = false;
    }
    this.scene.add(this.coupling, this.contacts, this.dots);
  }

  setGeometry(geometry: Geometry, name: string): void {
    for (const s of this.shown) {
      s.mesh.geometry.dispose();
      (s.mesh.material as THREE.Material).dispose();
    }
    this.bodies.clear();
    this.shown = [];
    this.toolIsBody = false;
    const box = new THREE.Box3();
    geometry.bodies.forEach((body, i) => {
      const shape = new THREE.BufferGeometry();
      const { index, source } = splitCreases(body.positions, body.triangles);
      const positions = new Float32Array(3 * source.length);
      gather(body.positions, source, positions);
      shape.setAttribute("position", new THREE.BufferAttribute(positions, 3));
      shape.setIndex(new THREE.BufferAttribute(index, 1));
      shape.computeVertexNormals();
      const material = new THREE.MeshStandardMaterial({
        color: body.tool ? kTool : kBodyColours[i % kBodyColours.length], roughness: body.tool ? 0.35 : 0.6, side: THREE.DoubleSide,
      });
      const mesh = new THREE.Mesh(shape, material);
      mesh.frustumCulled = false;
      this.bodies.add(mesh);
      this.shown.push({ mesh, rest: new Float32Array(positions), source, count: body.positions.length / 3, moves: body.moves });
      if (body.tool) this.toolIsBody = true;
      else box.union(new THREE.Box3().setFromBufferAttribute(shape.getAttribute("position") as THREE.BufferAttribute));
    });
    if (box.isEmpty()) box.set(new THREE.Vector3(-0.1, -0.1, -0.1), new THREE.Vector3(0.1, 0.1, 0.1));
    this.size = box.getSize(new THREE.Vector3()).length();
    for (const plane of geometry.planes) this.addPlane(plane.normal, plane.offset, box);
    if (this.framed !== name) this.frame(box);
    this.framed = name;
  }

  private addPlane(normal: [number, number, number], offset: number, box: THREE.Box3): void {
    const n = new THREE.Vector3(...normal);
    const grid = new THREE.GridHelper(4 * this.size, 40, 0x888888, 0x888888);
    (grid.material as THREE.Material).transparent = true;
    (grid.material as THREE.Material).opacity = 0.35;
    grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), n);
    const centre = box.getCenter(new THREE.Vector3());
    grid.position.copy(centre.addScaledVector(n, offset - centre.dot(n)));
    this.bodies.add(grid);
  }

  frame(box?: THREE.Box3): void {
    const b = box ?? new THREE.Box3().setFromObject(this.bodies);
    const centre = b.getCenter(new THREE.Vector3());
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).add(new THREE.Vector3(0.35, 0.65, 1.1).normalize().multiplyScalar(2 * this.size));
    this.controls.update();
  }

  update(frame: Frame, toolRadius: number): void {
    let at = 0;
    for (const s of this.shown) {
      if (!s.moves) continue;
      const attribute = s.mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
      const array = attribute.array as Float32Array;
      if (at + 3 * s.count > frame.vertices.length) break;
      gather(frame.vertices.subarray(at, at + 3 * s.count), s.source, array);
      at += 3 * s.count;
      attribute.needsUpdate = true;
      s.mesh.geometry.computeVertexNormals();
      this.colour(s, array);
    }
    const radius = Math.max(toolRadius, 0.012 * this.size);
    this.tool.visible = !this.toolIsBody;
    this.tool.scale.setScalar(radius);
    this.hand.scale.setScalar(1.1 * radius);
    this.tool.position.fromArray(frame.tool.position);
    this.hand.position.fromArray(frame.device.position);
    const ends = this.coupling.geometry.getAttribute("position") as THREE.BufferAttribute;
    ends.setXYZ(0, ...(frame.device.position as [number, number, number]));
    ends.setXYZ(1, ...(frame.tool.position as [number, number, number]));
    ends.needsUpdate = true;
    this.force.show(frame.tool.position, frame.force, 0.12 * this.size, this.size);
    this.torque.show(frame.tool.position, frame.torque, 4 * this.size, this.size);
    this.showContacts(frame.contactData);
  }

  private showContacts(data: Float32Array): void {
    const count = Math.min(kMaxContacts, data.length / kContactFields);
    const lines = this.contacts.geometry.getAttribute("position") as THREE.BufferAttribute;
    const dots = this.dots.geometry.getAttribute("position") as THREE.BufferAttribute;
    const length = 0.05 * this.size;
    for (let i = 0; i < count; ++i) {
      const c = data.subarray(kContactFields * i, kContactFields * (i + 1));
      dots.setXYZ(i, c[0], c[1], c[2]);
      lines.setXYZ(2 * i, c[0], c[1], c[2]);
      lines.setXYZ(2 * i + 1, c[0] + length * c[3], c[1] + length * c[4], c[2] + length * c[5]);
    }
    this.contacts.geometry.setDrawRange(0, 2 * count);
    this.dots.geometry.setDrawRange(0, count);
    lines.needsUpdate = true;
    dots.needsUpdate = true;
  }

  /// How far every vertex is from where it began, from the body's own colour to red at a tenth of the scene's size.
  private colour(s: Shown, now: Float32Array): void {
    const material = s.mesh.material as THREE.MeshStandardMaterial;
    if (material.vertexColors !== this.colourDeformation) {
      material.vertexColors = this.colourDeformation;
      material.needsUpdate = true;
    }
    if (!this.colourDeformation) return;
    let attribute = s.mesh.geometry.getAttribute("color") as THREE.BufferAttribute | undefined;
    if (!attribute) {
      attribute = new THREE.BufferAttribute(new Float32Array(now.length), 3);
      s.mesh.geometry.setAttribute("color", attribute);
    }
    for (let i = 0; i < now.length; i += 3) {
      const d = Math.hypot(now[i] - s.rest[i], now[i + 1] - s.rest[i + 1], now[i + 2] - s.rest[i + 2]) / (0.1 * this.size);
      const x = Math.min(1, d);
      attribute.setXYZ(i / 3, 1, 1 - 0.75 * x, 1 - 0.9 * x);
    }
    attribute.needsUpdate = true;
  }

  /// Where a point of the world is on the page [CSS pixels].
  toScreen(p: number[]): { x: number; y: number } {
    const v = new THREE.Vector3().fromArray(p).project(this.camera);
    const r = this.renderer.domElement.getBoundingClientRect();
    return { x: r.left + (0.5 + 0.5 * v.x) * r.width, y: r.top + (0.5 - 0.5 * v.y) * r.height };
  }

  /// The point under (x, y) in the plane through `through` that faces the viewer.
  toPlane(x: number, y: number, through: THREE.Vector3): THREE.Vector3 {
    const r = this.renderer.domElement.getBoundingClientRect();
    const pointer = new THREE.Vector2((2 * (x - r.left)) / r.width - 1, 1 - (2 * (y - r.top)) / r.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(pointer, this.camera);
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    return ray.ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through), new THREE.Vector3()) ?? through.clone();
  }

  draw(): void {
    const canvas = this.renderer.domElement;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== width || size.y !== height) {
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / Math.max(1, height);
      this.camera.updateProjectionMatrix();
    }
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
  }

  picture(): string {
    this.draw();
    return this.renderer.domElement.toDataURL("image/png");
  }
}
