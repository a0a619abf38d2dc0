// Meshes for tests and benchmarks.

/// A closed ball of quadrangles and triangles as OBJ text: 2 around (rings − 1) triangles; open: without its lower cap.
export function makeBall(radius, { open = false, rings = 16, around = 24 } = {}) {
  const lines = [`v 0 ${radius} 0`];
  for (let i = 1; i < rings; ++i) {
    for (let k = 0; k < around; ++k) {
      const [a, b] = [(Math.PI * i) / rings, (2 * Math.PI * k) / around];
      lines.push(`v ${radius * Math.sin(a) * Math.cos(b)} ${radius * Math.cos(a)} ${radius * Math.sin(a) * Math.sin(b)}`);
    }
  }
  lines.push(`v 0 ${-radius} 0`);
  const at = (i, k) => 2 + (i - 1) * around + (k % around);
  for (let k = 0; k < around; ++k) {
    lines.push(`f 1 ${at(1, k + 1)} ${at(1, k)}`);
    for (let i = 1; i < rings - 1; ++i) lines.push(`f ${at(i, k)} ${at(i, k + 1)} ${at(i + 1, k + 1)} ${at(i + 1, k)}`);
    if (!open) lines.push(`f ${at(rings - 1, k)} ${at(rings - 1, k + 1)} ${2 + (rings - 1) * around}`);
  }
  return lines.join("\n") + "\n";
}
