// The scene in three dimensions: bodies, what is drawn over them, light and camera.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Frame, Geometry, State, Surface } from "./frame";
import { Marks } from "./marks";
import { Colouring, Scale, SurfaceMesh } from "./surfaces";
import { Label, kOtherTool, kTool } from "./tool_marks";

const kBodyColours = [0xc9786a, 0x7a9cc6, 0xc9a86a, 0x86b58a, 0xa48ac0, 0x6ab0b5];

export class SceneView {
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.001, 50);
  readonly controls: OrbitControls;
  size = 0.2; // of what is shown [m]
  sets = 0; // of the contact model's faces

  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly bodies = new THREE.Group();
  private readonly marks = new Marks();
  private shown: SurfaceMesh[] = [];
  private number = -1; // of the geometry
  private last: Surface | undefined;
  private toolBodies = new Set<number>(); // tools that are bodies with a surface
  private framed = "";
  private colouring: Colouring = "plain";
  private showsModel = true;
  private readonly scales = { deformation: new Scale(0.001), stress: new Scale(100) };

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
    this.scene.add(sun, fill, this.bodies, this.marks.group);
  }

  get labels(): Label[] {
    return this.marks.labels;
  }

  get hasSoftBodies(): boolean {
    return this.shown.some((s) => s.body.soft);
  }

  setGeometry(geometry: Geometry): void {
    for (const s of this.shown) s.dispose();
    this.bodies.clear();
    this.shown = [];
    this.number = geometry.number;
    this.last = undefined;
    this.toolBodies.clear();
    const box = new THREE.Box3();
    const tools = new THREE.Box3();
    geometry.bodies.forEach((body, i) => {
      const held = body.tool >= 0;
      const shown = new SurfaceMesh(body, held ? kTool : kBodyColours[i % kBodyColours.length], held ? 0.35 : 0.6);
      this.bodies.add(shown.mesh);
      this.shown.push(shown);
      if (held) this.toolBodies.add(body.tool);
      (held ? tools : box).union(new THREE.Box3().setFromArray(body.positions));
    });
    if (box.isEmpty()) box.set(new THREE.Vector3(-0.1, -0.1, -0.1), new THREE.Vector3(0.1, 0.1, 0.1));
    this.size = box.getSize(new THREE.Vector3()).length();
    for (const plane of geometry.planes) this.addPlane(plane.normal, plane.offset, box);
    this.marks.setFingers(geometry.fingers);
    // Of several tools some begin where they would be out of the picture.
    if (this.framed !== geometry.name) this.frame(box, this.toolBodies.size > 1 ? tools.union(box) : box);
    this.framed = geometry.name;
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

  /// Looks at `box`, from where all of `seen` is in the picture.
  private frame(box: THREE.Box3, seen: THREE.Box3): void {
    const centre = box.getCenter(new THREE.Vector3());
    const distance = Math.max(1.9 * this.size, 1.3 * seen.getSize(new THREE.Vector3()).length());
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).add(new THREE.Vector3(0.35, 0.65, 1.1).normalize().multiplyScalar(distance));
    this.controls.update();
  }

  /// A surface of another geometry, on its way when that one was replaced, is not drawn.
  setSurface(surface: Surface): void {
    if (surface.number !== this.number) return;
    this.last = surface;
    let at = 0;
    for (const s of this.shown) {
      if (!s.body.moves) continue;
      s.move(surface.vertices.subarray(3 * at, 3 * (at + s.count)));
      at += s.count;
    }
    this.colour();
    this.marks.showContacts(surface.contacts, this.size);
    this.showFaces();
  }

  setColouring(colouring: Colouring): void {
    this.colouring = colouring;
    this.colour();
  }

  setModelShown(on: boolean): void {
    this.showsModel = on;
    this.showFaces();
  }

  /// What the colours mean: where the scale ends, in its unit [m, Pa].
  get colourScale(): number {
    return this.colouring === "plain" ? 0 : this.scales[this.colouring].end;
  }

  private showFaces(): void {
    this.sets = this.marks.showFaces(this.showsModel && this.last ? this.last.faces : new Float32Array(), this.size);
  }

  private colour(): void {
    const values = new Map<SurfaceMesh, Float32Array>();
    let largest = 0;
    let at = 0;
    for (const s of this.shown) {
      if (!s.body.moves) continue;
      const from = at;
      at += s.count;
      if (this.colouring === "plain" || !s.body.soft || !this.last) continue;
      if (this.colouring === "stress" && this.last.stress.length < at) continue;
      const v = this.colouring === "stress" ? this.last.stress.subarray(from, at) : s.deformation(this.last.vertices.subarray(3 * from, 3 * at));
      for (let i = 0; i < v.length; ++i) largest = Math.max(largest, v[i]);
      values.set(s, v);
    }
    if (this.colouring !== "plain") this.scales[this.colouring].fit(largest);
    for (const s of this.shown) s.colour(values.get(s), this.colourScale);
  }

  /// `chosen`: the tool that the page holds and plots, which stands out where there are several.
  update(frame: Frame, state: State, chosen: number): void {
    for (const s of this.shown) if (s.body.tool >= 0) s.setPlain(s.body.tool === chosen ? kTool : kOtherTool);
    this.marks.update(frame, this.size, (i) => ({
      name: frame.tools.length > 1 ? state.tools[i]?.name ?? "" : "",
      radius: Math.max(state.tools[i]?.radius ?? 0, 0.018 * this.size),
      turns: state.tools[i]?.kind !== "point",
      ball: !this.toolBodies.has(i),
      chosen: i === chosen,
    }));
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
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.marks.fitEdges((2 * distance * Math.tan((0.5 * this.camera.fov * Math.PI) / 180)) / Math.max(1, height));
    this.renderer.render(this.scene, this.camera);
  }

  picture(): string {
    this.draw();
    return this.renderer.domElement.toDataURL("image/png");
  }
}
