// Mouse, finger, keyboard and gamepad as a hand: they say where a tool should be held. The engine's own spring makes it smooth.
import * as THREE from "three";
import { Connection } from "./connection";
import { Frame, Tool, ToolFrame } from "./frame";
import { SceneView } from "./scene_view";

const kReach = { mouse: 48, touch: 64 }; // how near the tool a grab counts [CSS pixels]
const kDeadZone = 0.15; // of a stick
const kIdle = 3; // a gamepad at rest for so long lets go [s]

export type Drag = "move" | "depth" | "turn";

export class Hand {
  held = false;
  tool = 0; // that is held, or would be: the one that the page plots
  enabled = true; // a film has no hand
  page = 0; // this page's number
  hovered = -1; // the tool that a click would take
  drag: Drag = "move"; // what one finger does, where there is neither wheel nor shift
  private readonly target = new THREE.Vector3();
  private readonly rotation = new THREE.Quaternion();
  private readonly offset = new THREE.Vector3();
  private grip = 0;
  private tools: Tool[] = [];
  private last: Frame | undefined;
  private lastPointer = { x: 0, y: 0 };
  private pointer = -1;
  private lastPoll = 0;
  private padMoved = -Infinity; // when the gamepad that holds the tool last moved [s]

  /// `taken`: tools that real devices hold.
  constructor(canvas: HTMLCanvasElement, private readonly view: SceneView, private readonly connection: Connection, private readonly taken: ReadonlySet<number>) {
    canvas.addEventListener("pointerdown", (e) => this.down(e, canvas), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e), { capture: true });
    for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, (e) => e.pointerId === this.pointer && this.letGo());
    canvas.addEventListener("wheel", (e) => this.wheel(e), { capture: true, passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("keyup", (e) => this.isGripKey(e) && this.close(0));
    canvas.addEventListener("blur", () => this.grip > 0 && this.held && this.close(0));
  }

  frame(frame: Frame): void {
    this.last = frame;
    if (this.tool >= frame.tools.length) this.choose(0);
  }

  /// What the engine says of the tools. One that another page has got is no longer held here.
  know(tools: Tool[]): void {
    this.tools = tools;
    if (this.held && this.isOthers(this.tool)) this.drop();
  }

  /// Another page holds it, or may take it next.
  isOthers(tool: number): boolean {
    const { holder, reserved } = this.tools[tool] ?? { holder: 0, reserved: 0 };
    return (holder !== 0 && holder !== this.page) || (holder === 0 && reserved !== 0 && reserved !== this.page);
  }

  /// Turns to another tool, and lets go of the one that it held.
  choose(tool: number): void {
    if (tool === this.tool) return;
    this.letGo();
    this.tool = tool;
  }

  letGo(): void {
    if (!this.held) return;
    this.drop();
    this.connection.send({ type: "let_go", tool: this.tool });
  }

  private drop(): void {
    this.held = false;
    this.pointer = -1;
    this.padMoved = -Infinity;
    this.view.controls.enabled = true;
  }

  /// Closes the hand, 0 to 1; takes it if nobody has it.
  close(grip: number): void {
    if (!this.held && (grip === 0 || !this.take())) return;
    this.grip = grip;
    this.send();
  }

  private take(): boolean {
    const now = this.last?.tools[this.tool];
    if (!now || !this.enabled || this.taken.has(this.tool) || this.isOthers(this.tool)) return false;
    this.held = true;
    this.target.fromArray(now.device.position);
    const q = now.device.rotation;
    this.rotation.set(q[1], q[2], q[3], q[0]);
    this.grip = Math.min(1, Math.max(0, now.grip));
    this.view.controls.enabled = false;
    return true;
  }

  private send(): void {
    const q = this.rotation;
    this.connection.send({ type: "hold", tool: this.tool, position: this.target.toArray(), rotation: [q.w, q.x, q.y, q.z], grip: this.grip });
  }

  /// The tool nearest to the pointer, −1: none is within reach.
  private find(e: PointerEvent): number {
    if (!this.last || !this.enabled) return -1;
    const distance = (t: ToolFrame) => Math.min(...[t.tool.position, t.device.position, ...t.fingers.map((f) => f.position)].map((p) => {
      const s = this.view.toScreen(p);
      return Math.hypot(s.x - e.clientX, s.y - e.clientY);
    }));
    const distances = this.last.tools.map((t, i) => (this.taken.has(i) ? Infinity : distance(t)));
    const least = Math.min(...distances);
    return least < (e.pointerType === "touch" ? kReach.touch : kReach.mouse) ? distances.indexOf(least) : -1;
  }

  private down(e: PointerEvent, canvas: HTMLCanvasElement): void {
    const found = e.button !== 0 || this.pointer >= 0 ? -1 : this.find(e);
    if (found < 0) return;
    this.choose(found);
    if (!this.take()) return;
    e.stopImmediatePropagation();
    canvas.focus();
    this.pointer = e.pointerId;
    canvas.setPointerCapture(e.pointerId);
    this.lastPointer = { x: e.clientX, y: e.clientY };
    this.keepUnderPointer();
    this.send();
  }

  /// What the pointer took stays where it was under it.
  private keepUnderPointer(): void {
    this.offset.copy(this.target).sub(this.view.toPlane(this.lastPointer.x, this.lastPointer.y, this.target));
  }

  private move(e: PointerEvent): void {
    if (!this.held || e.pointerId !== this.pointer) {
      this.hovered = this.find(e);
      (e.target as HTMLElement).style.cursor = this.hovered < 0 ? "" : this.isOthers(this.hovered) ? "not-allowed" : "grab";
      return;
    }
    e.stopImmediatePropagation();
    const right = e.clientX - this.lastPointer.x;
    const down = e.clientY - this.lastPointer.y;
    this.lastPointer = { x: e.clientX, y: e.clientY };
    const drag = e.shiftKey ? "turn" : this.drag;
    if (drag === "turn") this.turn(0.01 * right, 0.01 * down);
    else if (drag === "depth") this.push(-0.002 * down);
    else this.target.copy(this.view.toPlane(e.clientX, e.clientY, this.target)).add(this.offset);
    if (drag !== "move") this.keepUnderPointer();
    this.send();
  }

  private turn(right: number, down: number): void {
    this.rotation.premultiply(new THREE.Quaternion().setFromAxisAngle(this.axis(1), right));
    this.rotation.premultiply(new THREE.Quaternion().setFromAxisAngle(this.axis(0), down)).normalize();
  }

  /// Away from the viewer, in sizes of the scene.
  private push(way: number): void {
    this.target.addScaledVector(this.axis(2), -way * this.view.size);
  }

  /// Of the camera: right, up, towards the viewer.
  private axis(i: number): THREE.Vector3 {
    const m = this.view.camera.matrixWorld.elements;
    return new THREE.Vector3(m[4 * i], m[4 * i + 1], m[4 * i + 2]);
  }

  private wheel(e: WheelEvent): void {
    if (!this.held) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    this.push(-0.01 * Math.sign(e.deltaY));
    this.keepUnderPointer();
    this.send();
  }

  private isGripKey(e: KeyboardEvent): boolean {
    return e.key === "g" || e.key === "G";
  }

  private key(e: KeyboardEvent): void {
    if (e.key === "Escape") return this.letGo();
    if (this.isGripKey(e) && !e.ctrlKey) return e.repeat ? undefined : this.close(1);
    const ways: Record<string, [number, number, number]> = {
      ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1],
    };
    const way = ways[e.key];
    if (!way) return;
    e.preventDefault();
    if (!this.held && !this.take()) return;
    if (e.ctrlKey) {
      this.turn(0.05 * way[0], -0.05 * way[1]);
    } else {
      const step = (e.shiftKey ? 0.002 : 0.01) * this.view.size;
      way.forEach((w, i) => this.target.addScaledVector(this.axis(i), w * step));
    }
    this.send();
  }

  /// Sticks move the hand and turn it, triggers close it, the second button lets go. Once a picture.
  poll(now: number): void {
    const dt = Math.min(0.1, now - this.lastPoll);
    this.lastPoll = now;
    const pad = navigator.getGamepads?.().find((p) => p?.connected);
    if (!pad) return;
    const stick = (i: number) => {
      const x = pad.axes[i] ?? 0;
      return Math.abs(x) < kDeadZone ? 0 : (x - Math.sign(x) * kDeadZone) / (1 - kDeadZone);
    };
    const button = (i: number) => pad.buttons[i]?.value ?? 0;
    const [x, y, turn, depth] = [stick(0), stick(1), stick(2), stick(3)];
    const grip = Math.max(button(6), button(7));
    if (button(1) > 0.5) return this.letGo();
    const mine = this.padMoved > -Infinity;
    if (x || y || turn || depth || grip > 0.05) {
      if (!this.held && !this.take()) return;
      this.padMoved = now;
    } else if (!mine) {
      return;
    } else if (now > this.padMoved + kIdle) {
      return this.letGo();
    }
    const speed = 0.6 * this.view.size * dt;
    this.target.addScaledVector(this.axis(0), speed * x).addScaledVector(this.axis(1), -speed * y);
    this.push((-speed * depth) / this.view.size);
    this.turn(2 * dt * turn, 0);
    this.grip = grip;
    this.send();
  }
}
