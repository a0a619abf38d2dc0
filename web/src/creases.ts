// Which corners of a surface's triangles are drawn as one vertex, with one normal.

type Corners = { positions: ArrayLike<number>; triangles: ArrayLike<number> };

const kCrease = Math.cos((65 * Math.PI) / 180);
const kNone = 0xffffffff;

function computeNormals({ positions, triangles }: Corners): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let f = 0; f < triangles.length; f += 3) {
    const [a, b, c] = [3 * triangles[f], 3 * triangles[f + 1], 3 * triangles[f + 2]];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    const length = Math.sqrt(x * x + y * y + z * z) || 1;
    normals[f] = x / length;
    normals[f + 1] = y / length;
    normals[f + 2] = z / length;
  }
  return normals;
}

/// The corners around each vertex: those of v are `around` from first[v] to first[v + 1].
function sortCorners({ positions, triangles }: Corners): { first: Uint32Array; around: Uint32Array } {
  const first = new Uint32Array(positions.length / 3 + 1);
  for (let corner = 0; corner < triangles.length; ++corner) ++first[triangles[corner] + 1];
  for (let v = 1; v < first.length; ++v) first[v] += first[v - 1];
  const next = first.slice();
  const around = new Uint32Array(triangles.length);
  for (let corner = 0; corner < triangles.length; ++corner) around[next[triangles[corner]]++] = corner;
  return { first, around };
}

/// Vertices apart where faces meet at more than 65°, so that edges look sharp and all else smooth: for every corner of
/// every triangle the vertex to draw, and for every vertex to draw the body's. Faces around a vertex stay together if
/// one comes from one to the other over edges that are not sharp: a blunt tip is smooth though its sides look away from
/// each other.
export function splitCreases(mesh: Corners): { index: Uint32Array; source: Uint32Array } {
  const { triangles } = mesh;
  const normals = computeNormals(mesh);
  const { first, around } = sortCorners(mesh);
  const other = (corner: number, k: number) => triangles[corner - (corner % 3) + ((corner + k) % 3)]; // 1, 2: of its face
  const isSmooth = (a: number, b: number) => {
    if (other(a, 1) !== other(b, 2) && other(a, 2) !== other(b, 1) && other(a, 1) !== other(b, 1) && other(a, 2) !== other(b, 2)) return false; // no edge in common
    const [f, g] = [a - (a % 3), b - (b % 3)];
    return normals[f] * normals[g] + normals[f + 1] * normals[g + 1] + normals[f + 2] * normals[g + 2] > kCrease;
  };
  const index = new Uint32Array(triangles.length).fill(kNone);
  const source: number[] = [];
  const reached: number[] = []; // corners whose neighbours have not been looked at
  for (let i = 0; i < around.length; ++i) {
    if (index[around[i]] !== kNone) continue;
    const v = triangles[around[i]];
    index[around[i]] = source.length;
    for (reached.push(around[i]); reached.length > 0;) {
      const corner = reached.pop()!;
      for (let k = i + 1; k < first[v + 1]; ++k) {
        if (index[around[k]] !== kNone || !isSmooth(corner, around[k])) continue;
        index[around[k]] = source.length;
        reached.push(around[k]);
      }
    }
    source.push(v);
  }
  return { index, source: Uint32Array.from(source) };
}
