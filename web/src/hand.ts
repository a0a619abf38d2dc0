// Mouse, finger and keyboard as a hand: they say where the tool should be held. The engine's own spring makes it smooth.
import * as THREE from "three";
import { Connection } from "./connection";
import { Frame } from "./frame";
import { SceneView } from "./scene_view";

const kReach = 48; // how near the tool a grab counts [CSS pixels]

export class Hand {
  held = false;
  private readonly target = new THREE.Vector3();
  private readonly rotation = new THREE.Quaternion();
  private readonly offset = new THREE.Vector3();
  private last: Frame | undefined;
  private lastPointer = { x: 0, y: 0 };
  private pointer = -1;

  constructor(canvas: HTMLCanvasElement, private readonly view: SceneView, private readonly connection: Connection) {
    canvas.addEventListener("pointerdown", (e) => this.down(e, canvas), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e), { capture: true });
    for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, (e) => e.pointerId === this.pointer && this.letGo());
    canvas.addEventListener("wheel", (e) => this.wheel(e), { capture: true, passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  frame(frame: Frame): void {
    this.last = frame;
  }

  letGo(): void {
    if (!this.held) return;
    this.held = false;
    this.pointer = -1;
    this.view.controls.enabled = true;
    this.connection.send({ type: "let_go" });
  }

  private take(): boolean {
    if (!this.last) return false;
    this.held = true;
    this.target.fromArray(this.last.device.position);
    const q = this.last.device.rotation;
    this.rotation.set(q[1], q[2], q[3], q[0]);
    this.view.controls.enabled = false;
    return true;
  }

  private send(): void {
    const q = this.rotation;
    this.connection.send({ type: "hold", position: this.target.toArray(), rotation: [q.w, q.x, q.y, q.z] });
  }

  isNear(x: number, y: number): boolean {
    if (!this.last) return false;
    return [this.last.tool.position, this.last.device.position].some((p) => {
      const s = this.view.toScreen(p);
      return Math.hypot(s.x - x, s.y - y) < kReach;
    });
  }

  private down(e: PointerEvent, canvas: HTMLCanvasElement): void {
    if (e.button !== 0 || !this.isNear(e.clientX, e.clientY) || !this.take()) return;
    e.stopImmediatePropagation();
    this.pointer = e.pointerId;
    canvas.setPointerCapture(e.pointerId);
    this.offset.copy(this.target).sub(this.view.toPlane(e.clientX, e.clientY, this.target));
    this.lastPointer = { x: e.clientX, y: e.clientY };
    this.send();
  }

  private move(e: PointerEvent): void {
    if (!this.held || e.pointerId !== this.pointer) {
      (e.target as HTMLElement).style.cursor = this.isNear(e.clientX, e.clientY) ? "grab" : "";
      return;
    }
    e.stopImmediatePropagation();
    if (e.shiftKey) this.turn(0.01 * (e.clientX - this.lastPointer.x), 0.01 * (e.clientY - this.lastPointer.y));
    else this.target.copy(this.view.toPlane(e.clientX, e.clientY, this.target)).add(this.offset);
    if (e.shiftKey) this.offset.copy(this.target).sub(this.view.toPlane(e.clientX, e.clientY, this.target));
    this.lastPointer = { x: e.clientX, y: e.clientY };
    this.send();
  }

  private turn(right: number, down: number): void {
    const m = this.view.camera.matrixWorld.elements;
    const x = new THREE.Vector3(m[0], m[1], m[2]);
    const y = new THREE.Vector3(m[4], m[5], m[6]);
    this.rotation.premultiply(new THREE.Quaternion().setFromAxisAngle(y, right));
    this.rotation.premultiply(new THREE.Quaternion().setFromAxisAngle(x, down)).normalize();
  }

  private wheel(e: WheelEvent): void {
    if (!this.held) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    const depth = this.view.camera.getWorldDirection(new THREE.Vector3());
    this.target.addScaledVector(depth, -Math.sign(e.deltaY) * 0.01 * this.view.size);
    this.offset.copy(this.target).sub(this.view.toPlane(this.lastPointer.x, this.lastPointer.y, this.target));
    this.send();
  }

  private key(e: KeyboardEvent): void {
    const step = (e.shiftKey ? 0.002 : 0.01) * this.view.size;
    const m = this.view.camera.matrixWorld.elements;
    const axis = (i: number) => new THREE.Vector3(m[4 * i], m[4 * i + 1], m[4 * i + 2]);
    const moves: Record<string, THREE.Vector3> = {
      ArrowLeft: axis(0).multiplyScalar(-step), ArrowRight: axis(0).multiplyScalar(step),
      ArrowUp: axis(1).multiplyScalar(step), ArrowDown: axis(1).multiplyScalar(-step),
      PageUp: axis(2).multiplyScalar(-step), PageDown: axis(2).multiplyScalar(step),
    };
    if (e.key === "Escape") return this.letGo();
    if (!(e.key in moves)) return;
    e.preventDefault();
    if (!this.held && !this.take()) return;
    this.target.add(moves[e.key]);
    this.send();
  }
}
