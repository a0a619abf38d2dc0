#pragma once

#include <cstdint>
#include <functional>

#include "palpate/geometry/triangle_mesh.h"

// Palpate's own shapes: made, not loaded. All are oriented outward, centred at the origin unless said, and closed but
// for the sine surface. Vertices lie on the shape, so convex shapes are inscribed and area and volume converge with the
// square of the edge length. Sizes [m] must be finite and positive; what is not allowed throws InputError.
namespace palpate {

/// A box with edges `size`; each face is cells × cells squares of two triangles.
TriangleMesh make_box(const Vec3& size, int cells);

/// A sphere of 20 · subdivisions² triangles of nearly equal size: each face of an icosahedron is cut into
/// subdivisions² and moved out onto the sphere.
TriangleMesh make_sphere(double radius, int subdivisions);

/// A sphere of about `triangles` triangles whose vertices are moved along the radius by up to ±amplitude [m]; the same
/// for the same seed on every machine. `amplitude` < radius.
TriangleMesh make_noisy_sphere(double radius, int triangles, double amplitude, std::uint64_t seed);

/// A cylinder along y, `around` (≥ 3) quadrangles around and `along` (≥ 1) on its side.
TriangleMesh make_cylinder(double radius, double height, int around, int along);

/// A capsule along y: a cylinder of `length` between its hemispheres' centres, `around` (≥ 4) quadrangles around.
TriangleMesh make_capsule(double radius, double length, int around);

/// A torus around y: `major_radius` to the centre of the tube, `minor_radius` (smaller) of the tube.
TriangleMesh make_torus(double major_radius, double minor_radius, int around, int around_tube);

/// An open height field y = amplitude · sin(2π x / wavelength) over a rectangle centred at the origin, normals up.
struct SineSurface {
  double amplitude = 0.005;   ///< [m], ≥ 0
  double wavelength = 0.025;  ///< [m]
  double size_x = 0.1;        ///< [m]
  double size_z = 0.1;        ///< [m]
  double cell = 0.001;        ///< largest edge of a square [m]; the true one divides the size evenly
};
TriangleMesh make_sine_surface(const SineSurface& settings = {});

/// Negative inside, positive outside, near the surface smooth and roughly a distance.
using ImplicitFunction = std::function<double(const Vec3&)>;

/// The surface f = 0 within `box`, which it must not touch, from a grid of cubes with edge `cell` [m].
///
/// Marching tetrahedra (six to a cube, all along the same diagonal, so neighbours agree on their faces): closed and
/// manifold by construction. The vertices are then relaxed toward their neighbours' mean and brought back to f = 0 by
/// Newton steps along the gradient, which turns slivers into well-shaped triangles without touching topology.
TriangleMesh make_implicit_surface(const ImplicitFunction& f, const BoundingBox& box, double cell);

/// A liver-like organ: a large right lobe, a flat left lobe, a notch between them and a hollow below. `size` is its
/// length along x, `resolution` (≥ 16) the grid cells along it.
TriangleMesh make_organ(double size, int resolution);

/// A statue: two figures side by side on a base, an arm around the shoulders, hands joined, one arm akimbo; genus 3,
/// convex and concave. It stands on y = 0; `size` is its height, `resolution` (≥ 40) the grid cells along it.
TriangleMesh make_figure(double size, int resolution);

}  // namespace palpate
