// The scene in three dimensions: bodies, what is drawn over them, light and camera.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Insets, findOutside, fitCamera } from "./camera_fit";
import { Frame, Geometry, ReducedBody, State, Surface, kReducedFields } from "./frame";
import { Marks } from "./marks";
import { Colouring, Scale, SurfaceMesh } from "./surfaces";
import { Ground, Label, kOtherTool, kTool } from "./tool_marks";

const kFrom = new THREE.Vector3(0.35, 0.65, 1.1); // where the camera stands, as seen from the scene
const kFollows = 400; // between two looks at what has left the picture [ms]
const kGlide = 0.2; // time constant with which the camera glides [s]
const kMostPoints = 5000; // of all bodies, that the camera is fitted to

const kBodyColours = [0xc9786a, 0x7a9cc6, 0xc9a86a, 0x86b58a, 0xa48ac0, 0x6ab0b5];

/// Where a tool comes that is held in its middle. Of one that is held by an end and hangs there, nobody knows.
function sweep(tool: THREE.Box3, ways: THREE.Vector3[]): THREE.Box3[] {
  const middle = tool.getCenter(new THREE.Vector3());
  const size = tool.getSize(new THREE.Vector3());
  if (!ways.some((p) => p.distanceTo(middle) < 0.3 * size.length())) return [];
  return ways.map((p) => new THREE.Box3(p.clone(), p.clone()).expandByVector(size.clone().multiplyScalar(0.5)));
}

export class SceneView {
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.001, 50);
  readonly controls: OrbitControls;
  size = 0.2; // of what is shown [m]
  sets = 0; // of the contact model's faces
  insets: () => Insets = () => ({ top: 0, bottom: 0 }); // what text covers

  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly bodies = new THREE.Group();
  private readonly marks = new Marks();
  private shown: SurfaceMesh[] = [];
  private number = -1; // of the geometry
  private last: Surface | undefined;
  private next: Surface | undefined; // not drawn yet
  private toolBodies = new Set<number>(); // tools that are bodies with a surface
  private toolExtents = new Map<number, number>(); // of tools that are bodies: how thick they are [m]
  private seen: THREE.Vector3[] = []; // what the camera should show
  private fingers = new Float32Array(); // where they are, which are no bodies
  private extent = 0.2; // of all that, as it began [m]
  private home = new THREE.Vector3(); // the middle of the bodies as they began
  private goal: { position: THREE.Vector3; target: THREE.Vector3 } | undefined; // where the camera is gliding to
  private drawn = 0; // when the last picture was [ms]
  glides = 0; // begun, after what left the picture; for tests
  private looked = 0; // for what has left the picture [ms]
  private floor = 0; // height of the lowest vertex [m]
  private planes: { normal: THREE.Vector3; offset: number }[] = [];
  private grids: THREE.GridHelper[] = [];
  private grounds: (Ground | undefined)[] = []; // below the tools
  private pictures = 0;
  private fitted = ""; // what the camera was fitted between
  private moved = false; // somebody has turned the camera
  private framed = "";
  private colouring: Colouring = "plain";
  private showsModel = true;
  private readonly scales = { deformation: new Scale(0.001), stress: new Scale(100) };

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.addEventListener("start", () => {
      this.moved = true;
      this.goal = undefined;
    });
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
    this.toolExtents.clear();
    this.grounds = [];
    const box = new THREE.Box3();
    geometry.bodies.forEach((body, i) => {
      const held = body.tool >= 0;
      const shown = new SurfaceMesh(body, held ? kTool : kBodyColours[i % kBodyColours.length], held ? 0.35 : 0.6);
      this.bodies.add(shown.mesh);
      this.shown.push(shown);
      const own = new THREE.Box3().setFromArray(body.positions);
      if (held) {
        shown.addGhost();
        this.toolBodies.add(body.tool);
        this.toolExtents.set(body.tool, own.getSize(new THREE.Vector3()).toArray().sort((a, b) => a - b)[1]);
      } else {
        box.union(own);
      }
    });
    if (box.isEmpty()) box.set(new THREE.Vector3(-0.1, -0.1, -0.1), new THREE.Vector3(0.1, 0.1, 0.1));
    this.size = box.getSize(new THREE.Vector3()).length();
    this.floor = box.min.y;
    this.home = box.getCenter(new THREE.Vector3());
    this.goal = undefined;
    this.planes = geometry.planes.map((p) => ({ normal: new THREE.Vector3(...p.normal), offset: p.offset }));
    const reached = box.clone(); // bodies go where hands push them
    for (const p of geometry.ways) reached.expandByPoint(new THREE.Vector3().fromArray(p));
    this.grids = geometry.planes.map((plane) => this.addPlane(plane.normal, plane.offset, reached));
    this.marks.setFingers(geometry.fingers);
    this.seen = this.pointsOf(geometry, box);
    this.extent = new THREE.Box3().setFromPoints(this.seen).getSize(new THREE.Vector3()).length();
    if (this.framed !== geometry.name) this.moved = false;
    this.fitted = "";
    this.framed = geometry.name;
  }

  /// All of the bodies and tools, and where the scene's hands go, with room for their arrows.
  private pointsOf(geometry: Geometry, box: THREE.Box3): THREE.Vector3[] {
    const out: THREE.Vector3[] = [];
    const corners = (b: THREE.Box3) => {
      for (let i = 0; i < 8; ++i) out.push(new THREE.Vector3(i & 1 ? b.max.x : b.min.x, i & 2 ? b.max.y : b.min.y, i & 4 ? b.max.z : b.min.z));
    };
    const stride = 3 * Math.ceil((1 + geometry.bodies.reduce((sum, b) => sum + b.positions.length / 3, 0)) / kMostPoints);
    for (const { positions } of geometry.bodies) {
      for (let i = 0; i + 2 < positions.length; i += stride) out.push(new THREE.Vector3().fromArray(positions, i));
    }
    const ways = geometry.ways.map((p) => new THREE.Vector3().fromArray(p));
    for (const p of ways) {
      const around = new THREE.Box3(p.clone(), p.clone()).expandByScalar(0.1 * this.size);
      around.max.y += 0.1 * this.size; // most forces point up
      corners(around);
    }
    for (const body of geometry.bodies) {
      if (body.tool >= 0) sweep(new THREE.Box3().setFromArray(body.positions), ways).forEach(corners);
    }
    if (out.length === 0) corners(box);
    return out;
  }

  /// A grid that lies well beyond all that is reached.
  private addPlane(normal: [number, number, number], offset: number, reached: THREE.Box3): THREE.GridHelper {
    const n = new THREE.Vector3(...normal);
    const edge = Math.max(4 * this.size, 2 * reached.getSize(new THREE.Vector3()).length());
    const grid = new THREE.GridHelper(edge, 40, 0x888888, 0x888888);
    (grid.material as THREE.Material).transparent = true;
    (grid.material as THREE.Material).opacity = 0.35;
    grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), n);
    const centre = reached.getCenter(new THREE.Vector3());
    grid.position.copy(centre.addScaledVector(n, offset - centre.dot(n)));
    this.bodies.add(grid);
    return grid;
  }

  /// The boxes of the grids that stand for planes, as two corners each [m]; for tests.
  gridBoxes(): number[][][] {
    return this.grids.map((grid) => {
      const box = new THREE.Box3().setFromObject(grid);
      return [box.min.toArray(), box.max.toArray()];
    });
  }

  /// From where all is in the picture, and nothing behind text.
  private frame(): void {
    if (this.seen.length === 0) return;
    const insets = this.insets();
    this.goal = undefined;
    this.fitted = JSON.stringify(insets);
    this.controls.target.copy(fitCamera(this.camera, this.seen, kFrom, insets, this.renderer.domElement.clientHeight));
    this.controls.update();
  }

  /// Bodies that were pushed out of the picture come into it again: the camera glides back from them, if nobody has
  /// turned it and nobody holds a tool.
  private follow(vertices: Float32Array): void {
    const now = performance.now();
    if (now < this.looked + kFollows || this.moved || this.goal || !this.controls.enabled) return;
    this.looked = now;
    const outside = this.findLost(vertices);
    if (outside.length === 0 || this.seen.length + outside.length > 2 * kMostPoints) return;
    this.seen.push(...outside);
    ++this.glides;
    const [position, target] = [this.camera.position.clone(), this.controls.target.clone()];
    this.frame();
    this.goal = { position: this.camera.position.clone(), target: this.controls.target.clone() };
    this.camera.position.copy(position);
    this.controls.target.copy(target);
  }

  private findLost(vertices: Float32Array): THREE.Vector3[] {
    return [vertices, this.fingers].flatMap((points) => findOutside(this.camera, points, this.home, Math.max(2 * this.size, this.extent), this.insets(), this.renderer.domElement.clientHeight));
  }

  /// How many of the vertices looked at are not in the picture; for tests.
  get lost(): number {
    return this.last ? this.findLost(this.last.vertices).length : 0;
  }

  /// Where the vertices that move are; for tests.
  get vertices(): number[][] {
    const at = this.last?.vertices ?? new Float32Array();
    return Array.from({ length: at.length / 3 }, (_, i) => [...at.subarray(3 * i, 3 * i + 3)]);
  }

  private glide(): void {
    const now = performance.now();
    const share = 1 - Math.exp((this.drawn - now) / (1000 * kGlide));
    this.drawn = now;
    if (!this.goal) return;
    this.camera.position.lerp(this.goal.position, share);
    this.controls.target.lerp(this.goal.target, share);
    if (this.camera.position.distanceTo(this.goal.position) < 1e-3 * this.size) this.goal = undefined;
  }

  /// Shown in the next picture; of several until then only the newest.
  setSurface(surface: Surface): void {
    this.next = surface;
  }

  /// A surface of another geometry, on its way when that one was replaced, is not drawn.
  private moveBodies(): void {
    const surface = this.next;
    this.next = undefined;
    if (surface?.number !== this.number) return;
    this.last = surface;
    let at = 0;
    for (const s of this.shown) {
      if (!s.body.moves) continue;
      s.move(surface.vertices.subarray(3 * at, 3 * (at + s.count)));
      at += s.count;
    }
    this.follow(surface.vertices);
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

  /// Bodies that the newest contact model has by a few states.
  get reduced(): ReducedBody[] {
    const data = this.last?.reduced ?? [];
    return Array.from({ length: data.length / kReducedFields }, (_, i) => {
      const [body, states, most, leftOut] = data.slice(kReducedFields * i, kReducedFields * (i + 1));
      return { name: this.shown[body]?.body.name ?? "", states, most, leftOut };
    });
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
  update(frame: Frame, state: State, chosen: number, hovered: number): void {
    this.marks.group.visible = true;
    this.findGrounds(frame);
    this.fingers = new Float32Array(frame.tools.flatMap((t) => t.fingers.flatMap((f) => f.position)));
    for (const s of this.shown) if (s.body.tool >= 0) s.setPlain(s.body.tool === chosen ? kTool : kOtherTool);
    this.marks.update(frame, this.size, (i) => ({
      name: frame.tools.length > 1 ? state.tools[i]?.name ?? "" : "",
      radius: Math.max(state.tools[i]?.radius ?? 0, 0.012 * this.size),
      turns: state.tools[i]?.kind !== "point",
      ball: !this.toolBodies.has(i),
      chosen: i === chosen,
      hovered: i === hovered,
      pixel: this.perPixel * this.camera.position.distanceTo(new THREE.Vector3().fromArray(frame.tools[i].tool.position)),
      perPixel: this.perPixel,
      extent: this.toolExtents.get(i) ?? 2 * (state.tools[i]?.radius ?? 0),
      ground: this.grounds[i],
    }));
  }

  /// The engine is gone: what it said of forces and hands no longer holds.
  forget(): void {
    this.marks.group.visible = false;
  }

  /// How large a pixel is, a metre away.
  private get perPixel(): number {
    return (2 * Math.tan((0.5 * this.camera.fov * Math.PI) / 180)) / Math.max(1, this.renderer.domElement.clientHeight);
  }

  /// What lies under each tool: a body, a plane, or else the height of the lowest thing there is. Large surfaces take a
  /// while to look through, and are looked at less often.
  private findGrounds(frame: Frame): void {
    const triangles = this.shown.reduce((sum, s) => sum + s.triangles, 0);
    if (this.pictures++ % Math.ceil((triangles + 1) / 20_000) !== 0 && this.grounds.length === frame.tools.length) return;
    this.grounds = frame.tools.map((t) => {
      const [x, y, z] = t.fingers.length > 0 ? t.device.position : t.tool.position;
      let best: Ground | undefined;
      for (const s of this.shown) {
        const found = s.body.tool >= 0 ? undefined : s.findBelow(x, y + 0.02 * this.size, z);
        if (found && (!best || found.y > best.y)) best = found;
      }
      for (const { normal, offset } of this.planes) {
        const height = (offset - normal.x * x - normal.z * z) / normal.y;
        if (normal.y > 0.1 && height <= y && (!best || height > best.y)) best = { y: height, normal };
      }
      return best ?? (y > this.floor ? { y: this.floor, normal: new THREE.Vector3(0, 1, 0) } : undefined);
    });
  }

  /// Where all that the camera was fitted to is on the page [CSS pixels]; for tests.
  get seenOnPage(): { left: number; right: number; top: number; bottom: number } {
    const at = this.seen.map((p) => this.toScreen(p.toArray()));
    const [x, y] = [at.map((s) => s.x), at.map((s) => s.y)];
    return { left: Math.min(...x), right: Math.max(...x), top: Math.min(...y), bottom: Math.max(...y) };
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
    this.moveBodies();
    const canvas = this.renderer.domElement;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== width || size.y !== height) {
      this.renderer.setSize(width, height, false);
      this.camera.aspect = width / Math.max(1, height);
      this.camera.updateProjectionMatrix();
      this.fitted = "";
    }
    if (!this.moved && this.controls.enabled && JSON.stringify(this.insets()) !== this.fitted) this.frame();
    this.glide();
    this.controls.update();
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.marks.fitEdges(this.perPixel * distance);
    this.renderer.render(this.scene, this.camera);
  }

  picture(): string {
    this.draw();
    return this.renderer.domElement.toDataURL("image/png");
  }
}
