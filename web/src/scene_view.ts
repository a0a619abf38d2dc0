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
  moves: boolean;
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
  private readonly force = new THREE.ArrowHelper(new THREE.Vector3(0, 1, 0), new THREE.Vector3(), 1, kForce);
  private readonly torque = new THREE.ArrowHelper(new THREE.Vector3(0, 1, 0), new THREE.Vector3(), 1, kTorque);
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
    this.dots = new THREE.Points(line(kMaxContacts), new THREE.PointsMaterial({ color: 0x2f9e44, size: 6, sizeAttenuation: false, depthTest: false }));
    for (const o of [this.coupling, this.contacts, this.dots]) o.frustumCulled = false;
    for (const arrow of [this.force, this.torque]) {
      (arrow.line.material as THREE.LineBasicMaterial).depthTest = false;
      (arrow.cone.material as THREE.MeshBasicMaterial).depthTest = false;
      arrow.renderOrder = 2;
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
      const positions = new Float32Array(body.positions);
      shape.setAttribute("position", new THREE.BufferAttribute(positions, 3));
      shape.setIndex(new THREE.BufferAttribute(new Uint32Array(body.triangles), 1));
      shape.computeVertexNormals();
      const material = new THREE.MeshStandardMaterial({
        color: body.tool ? kTool : kBodyColours[i % kBodyColours.length], roughness: body.tool ? 0.35 : 0.6, side: THREE.DoubleSide,
      });
      const mesh = new THREE.Mesh(shape, material);
      mesh.frustumCulled = false;
      this.bodies.add(mesh);
      this.shown.push({ mesh, rest: new Float32Array(body.positions), moves: body.moves });
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
    this.camera.position.copy(centre).add(new THREE.Vector3(0.35, 0.65, 1.1).normalize().multiplyScalar(1.7 * this.size));
    this.controls.update();
  }

  update(frame: Frame, toolRadius: number): void {
    let at = 0;
    for (const s of this.shown) {
      if (!s.moves) continue;
      const attribute = s.mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
      const array = attribute.array as Float32Array;
      if (at + array.length > frame.vertices.length) break;
      array.set(frame.vertices.subarray(at, at + array.length));
      at += array.length;
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
    this.arrow(this.force, frame.tool.position, frame.force, 0.12 * this.size);
    this.arrow(this.torque, frame.tool.position, frame.torque, 4 * this.size);
    this.showContacts(frame.contactData);
  }

  private arrow(arrow: THREE.ArrowHelper, from: number[], vector: number[], scale: number): void {
    const v = new THREE.Vector3().fromArray(vector);
    const length = Math.min(scale * v.length(), this.size);
    arrow.visible = length > 0.01 * this.size;
    if (!arrow.visible) return;
    arrow.position.fromArray(from);
    arrow.setDirection(v.normalize());
    arrow.setLength(length, Math.min(0.3 * length, 0.05 * this.size), Math.min(0.2 * length, 0.03 * this.size));
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
