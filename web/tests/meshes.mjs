// Meshes for tests and benchmarks.

/// Adds a closed ellipsoid of quadrangles and triangles to the lines of an OBJ file that has `first` vertices: 2 around (rings − 1) triangles; open:
/// without its lower cap. Returns how many vertices there are then.
function addEllipsoid(lines, first, [cx, cy, cz], [rx, ry, rz], { open = false, rings = 16, around = 24 } = {}) {
  const vertex = (x, y, z) => lines.push(`v ${cx + rx * x} ${cy + ry * y} ${cz + rz * z}`);
  vertex(0, 1, 0);
  for (let i = 1; i < rings; ++i) {
    for (let k = 0; k < around; ++k) {
      const [a, b] = [(Math.PI * i) / rings, (2 * Math.PI * k) / around];
      vertex(Math.sin(a) * Math.cos(b), Math.cos(a), Math.sin(a) * Math.sin(b));
    }
  }
  vertex(0, -1, 0);
  const at = (i, k) => first + 2 + (i - 1) * around + (k % around);
  for (let k = 0; k < around; ++k) {
    lines.push(`f ${first + 1} ${at(1, k + 1)} ${at(1, k)}`);
    for (let i = 1; i < rings - 1; ++i) lines.push(`f ${at(i, k)} ${at(i, k + 1)} ${at(i + 1, k + 1)} ${at(i + 1, k)}`);
    if (!open) lines.push(`f ${at(rings - 1, k)} ${at(rings - 1, k + 1)} ${first + 2 + (rings - 1) * around}`);
  }
  return first + 2 + (rings - 1) * around;
}

/// A ball as OBJ text.
export function makeBall(radius, options) {
  const lines = [];
  addEllipsoid(lines, 0, [0, 0, 0], [radius, radius, radius], options);
  return lines.join("\n") + "\n";
}

/// A figure of 146,000 triangles in metres, 20 cm high: a trunk, a head and four thin limbs, which pass into each other.
export function makeFigure() {
  const lines = [];
  const fine = { rings: 136, around: 90 };
  let vertices = addEllipsoid(lines, 0, [0, 0.12, 0], [0.028, 0.05, 0.02], fine);
  vertices = addEllipsoid(lines, vertices, [0, 0.182, 0], [0.016, 0.02, 0.016], fine);
  for (const side of [-1, 1]) {
    vertices = addEllipsoid(lines, vertices, [0.012 * side, 0.045, 0], [0.007, 0.045, 0.007], fine);
    vertices = addEllipsoid(lines, vertices, [0.028 * side, 0.12, 0], [0.006, 0.045, 0.006], fine);
  }
  return lines.join("\n") + "\n";
}
