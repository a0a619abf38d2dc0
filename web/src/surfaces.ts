// Surfaces of bodies: smooth where they are smooth, and coloured by what happens to them.
import * as THREE from "three";
import { splitCreases } from "./creases";
import { Body } from "./frame";
import { ghostOf } from "./tool_marks";

export type Colouring = "plain" | "deformation" | "stress";

/// From nothing to the scale's end, as the legend in app.css has it.
const kRamp: [number, number, number][] = [[0.87, 0.86, 0.84], [0.98, 0.77, 0.38], [0.85, 0.27, 0.16], [0.42, 0.04, 0.26]];
const kShades = 128;
const kTable = (() => {
  const table = new Float32Array(3 * kShades);
  const colour = new THREE.Color();
  for (let i = 0; i < kShades; ++i) {
    const x = (i / (kShades - 1)) * (kRamp.length - 1);
    const k = Math.min(kRamp.length - 2, Math.floor(x));
    const at = (c: number) => kRamp[k][c] + (x - k) * (kRamp[k + 1][c] - kRamp[k][c]);
    colour.setRGB(at(0), at(1), at(2), THREE.SRGBColorSpace).toArray(table, 3 * i);
  }
  return table;
})();

export class SurfaceMesh {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
  readonly count: number; // of the body's vertices
  private readonly rest: Float32Array;
  private readonly index: Uint32Array;
  private readonly source: Uint32Array; // the body's vertex of each vertex drawn
  private readonly positions: Float32Array;
  private readonly normals: Float32Array;
  private readonly plain: THREE.Color; // its own colour
  private ghost: ReturnType<typeof ghostOf> | undefined;

  constructor(readonly body: Body, colour: number, roughness: number) {
    const { index, source } = splitCreases(body);
    this.index = index;
    this.source = source;
    this.count = body.positions.length / 3;
    this.rest = body.positions;
    this.positions = new Float32Array(3 * source.length);
    this.normals = new Float32Array(3 * source.length);
    const shape = new THREE.BufferGeometry();
    shape.setAttribute("position", new THREE.BufferAttribute(this.positions, 3));
    shape.setAttribute("normal", new THREE.BufferAttribute(this.normals, 3));
    shape.setIndex(new THREE.BufferAttribute(index, 1));
    this.mesh = new THREE.Mesh(shape, new THREE.MeshStandardMaterial({ color: colour, roughness, side: THREE.DoubleSide }));
    this.mesh.frustumCulled = false;
    this.plain = this.mesh.material.color.clone();
    this.move(body.positions);
  }

  get triangles(): number {
    return this.index.length / 3;
  }

  /// The highest point at (x, z) that is not above `y`, and where the surface looks there.
  findBelow(x: number, y: number, z: number): { y: number; normal: THREE.Vector3 } | undefined {
    const { positions: p, index } = this;
    let best = -Infinity;
    let face = -1;
    for (let f = 0; f < index.length; f += 3) {
      const a = 3 * index[f], b = 3 * index[f + 1], c = 3 * index[f + 2];
      const ax = p[a] - x, az = p[a + 2] - z, bx = p[b] - x, bz = p[b + 2] - z, cx = p[c] - x, cz = p[c + 2] - z;
      const u = bx * cz - bz * cx, v = cx * az - cz * ax, w = ax * bz - az * bx;
      if (!((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0))) continue;
      const height = (u * p[a + 1] + v * p[b + 1] + w * p[c + 1]) / (u + v + w);
      if (height <= y && height > best) {
        best = height;
        face = f;
      }
    }
    if (face < 0) return undefined;
    const at = (k: number) => new THREE.Vector3().fromArray(p, 3 * index[face + k]);
    const normal = at(1).sub(at(0)).cross(at(2).sub(at(0))).normalize();
    return { y: best, normal: normal.y < 0 ? normal.negate() : normal };
  }

  /// Three's own normals make objects for every triangle, which takes too long at a hundred thousand.
  move(vertices: Float32Array): void {
    const { positions, normals, index, source } = this;
    for (let i = 0, to = 0; i < source.length; ++i, to += 3) {
      const s = 3 * source[i];
      positions[to] = vertices[s];
      positions[to + 1] = vertices[s + 1];
      positions[to + 2] = vertices[s + 2];
    }
    normals.fill(0);
    for (let f = 0; f < index.length; f += 3) {
      const a = 3 * index[f], b = 3 * index[f + 1], c = 3 * index[f + 2];
      const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
      const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      normals[a] += x; normals[a + 1] += y; normals[a + 2] += z;
      normals[b] += x; normals[b + 1] += y; normals[b + 2] += z;
      normals[c] += x; normals[c + 1] += y; normals[c + 2] += z;
    }
    for (let i = 0; i < normals.length; i += 3) {
      const length = Math.sqrt(normals[i] ** 2 + normals[i + 1] ** 2 + normals[i + 2] ** 2) || 1;
      normals[i] /= length;
      normals[i + 1] /= length;
      normals[i + 2] /= length;
    }
    this.mesh.geometry.getAttribute("position").needsUpdate = true;
    this.mesh.geometry.getAttribute("normal").needsUpdate = true;
  }

  /// How far each of the body's vertices is from where it began [m].
  deformation(vertices: Float32Array): Float32Array {
    const out = new Float32Array(this.count);
    for (let i = 0, k = 0; i < out.length; ++i, k += 3) out[i] = Math.hypot(vertices[k] - this.rest[k], vertices[k + 1] - this.rest[k + 1], vertices[k + 2] - this.rest[k + 2]);
    return out;
  }

  /// By a value of each of the body's vertices, from 0 to `scale`; none: in its own colour.
  colour(values: Float32Array | undefined, scale: number): void {
    const material = this.mesh.material;
    if (material.vertexColors !== (values !== undefined)) {
      material.vertexColors = values !== undefined;
      material.needsUpdate = true;
    }
    material.color.copy(values ? new THREE.Color(0xffffff) : this.plain);
    if (!values) return;
    let attribute = this.mesh.geometry.getAttribute("color") as THREE.BufferAttribute | undefined;
    if (!attribute) {
      attribute = new THREE.BufferAttribute(new Float32Array(3 * this.source.length), 3);
      this.mesh.geometry.setAttribute("color", attribute);
    }
    const to = attribute.array as Float32Array;
    for (let i = 0; i < this.source.length; ++i) {
      const shade = 3 * Math.max(0, Math.min(kShades - 1, Math.round((values[this.source[i]] / scale) * (kShades - 1))));
      to[3 * i] = kTable[shade];
      to[3 * i + 1] = kTable[shade + 1];
      to[3 * i + 2] = kTable[shade + 2];
    }
    attribute.needsUpdate = true;
  }

  /// Its own colour from now on.
  setPlain(colour: number): void {
    this.ghost?.material.color.setHex(colour);
    this.plain.setHex(colour);
    if (!this.mesh.material.vertexColors) this.mesh.material.color.copy(this.plain);
  }

  /// Drawn pale where something stands before it.
  addGhost(): void {
    this.ghost = ghostOf(this.mesh.geometry);
    this.mesh.add(this.ghost);
  }

  dispose(): void {
    this.ghost?.material.dispose();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}

/// The end of a colour scale, 1, 2 or 5 times a power of ten: grows at once with what is shown, shrinks when much is left.
export class Scale {
  end: number;
  constructor(private readonly least: number) {
    this.end = least;
  }
  fit(largest: number): void {
    if (largest <= this.end && largest > 0.3 * this.end) return;
    const wanted = Math.max(this.least, largest);
    const power = 10 ** Math.floor(Math.log10(wanted));
    this.end = power * ([1, 2, 5, 10].find((m) => m * power >= wanted * 0.999) ?? 10);
  }
}
