// Where a camera must stand so that all of something is in the free part of its picture.
import * as THREE from "three";

/// Parts of the picture that text covers [px].
export interface Insets {
  top: number;
  bottom: number;
}

/// Turns the camera to look along −`towards` and puts it as near as all points fit between the insets. Returns where it
/// then looks: the point to turn around.
export function fitCamera(camera: THREE.PerspectiveCamera, points: THREE.Vector3[], towards: THREE.Vector3, insets: Insets, height: number): THREE.Vector3 {
  const z = towards.clone().normalize();
  const x = new THREE.Vector3(0, 1, 0).cross(z).normalize();
  const y = z.clone().cross(x);
  const tanY = Math.tan((0.5 * camera.fov * Math.PI) / 180);
  const tanX = tanY * camera.aspect;
  const kFilled = 0.92; // of the free part
  const free = Math.max(0.3, 1 - (insets.top + insets.bottom) / Math.max(1, height));
  const centreY = (insets.bottom - insets.top) / Math.max(1, height); // of the free part, from −1 to 1
  const flat = points.map((p) => [p.dot(x), p.dot(y), p.dot(z)]);
  const nearest = Math.max(...flat.map((p) => p[2]));
  /// What the picture shows from a distance, over the point (cx, cy): the ends of what is seen, each from −1 to 1.
  const see = (cx: number, cy: number, eye: number) => {
    const ends = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
    for (const [px, py, pz] of flat) {
      const sx = (px - cx) / (eye - pz) / tanX;
      const sy = (py - cy) / (eye - pz) / tanY;
      ends.left = Math.min(ends.left, sx);
      ends.right = Math.max(ends.right, sx);
      ends.low = Math.min(ends.low, sy);
      ends.high = Math.max(ends.high, sy);
    }
    return ends;
  };
  const mean = (i: number) => 0.5 * (Math.max(...flat.map((p) => p[i])) + Math.min(...flat.map((p) => p[i])));
  let [cx, cy] = [mean(0), mean(1)];
  const depth = Math.max(...flat.map((p) => Math.max(Math.abs(p[0] - cx), Math.abs(p[1] - cy), nearest - p[2])), 1e-3);
  let eye = nearest + 3 * depth;
  for (let i = 0; i < 40; ++i) {
    const seen = see(cx, cy, eye);
    const distance = eye - nearest;
    cx += 0.5 * (seen.left + seen.right) * tanX * distance;
    cy += (0.5 * (seen.low + seen.high) - centreY) * tanY * distance;
    const used = Math.max((seen.right - seen.left) / (2 * kFilled), (seen.high - seen.low) / (2 * kFilled * free));
    eye = nearest + Math.max(distance * used ** 0.7, 0.05 * depth);
  }
  const middle = mean(2);
  const at = (depthAt: number) => new THREE.Vector3().addScaledVector(x, cx).addScaledVector(y, cy).addScaledVector(z, depthAt);
  camera.position.copy(at(eye));
  return at(middle);
}

/// Of the vertices (x, y, z one after the other), looked at in steps, those that are not in the free part of the picture.
/// What has flown farther than `reach` from `home` is let go.
export function findOutside(camera: THREE.Camera, vertices: Float32Array, home: THREE.Vector3, reach: number, insets: Insets, height: number): THREE.Vector3[] {
  const kLooked = 400;
  const kEdge = 0.97; // of the picture's half width and height
  const [low, high] = [Math.max(-kEdge, (2 * insets.bottom) / Math.max(1, height) - 1), Math.min(kEdge, 1 - (2 * insets.top) / Math.max(1, height))];
  const out: THREE.Vector3[] = [];
  const stride = 3 * Math.ceil(vertices.length / 3 / kLooked);
  for (let i = 0; i + 2 < vertices.length; i += stride) {
    const p = new THREE.Vector3().fromArray(vertices, i);
    if (p.distanceTo(home) > reach) continue;
    const s = p.clone().project(camera);
    if (s.z > 1 || Math.abs(s.x) > kEdge || s.y < low || s.y > high) out.push(p);
  }
  return out;
}
