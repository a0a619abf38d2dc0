#include "describe.h"

namespace palpate {
namespace {

constexpr Range kCells{1, 2000};
constexpr Range kCellsAround{3, 2000};

void describe_box(Fields& f, BoxShape& s) {
  const BoxShape d;
  f.vector({.name = "size", .doc = "edge lengths", .unit = "m"}, s.size, d.size);
  f.integer({.name = "cells", .doc = "squares along each edge"}, s.cells, d.cells, kCells);
}

void describe_sphere(Fields& f, SphereShape& s) {
  const SphereShape d;
  f.number({.name = "radius", .doc = "of the sphere", .unit = "m"}, s.radius, d.radius, kLength);
  f.integer({.name = "subdivisions", .doc = "20 n² triangles"}, s.subdivisions, d.subdivisions, kCells);
}

void describe_cylinder(Fields& f, CylinderShape& s) {
  const CylinderShape d;
  f.number({.name = "radius", .doc = "of the cylinder", .unit = "m"}, s.radius, d.radius, kLength);
  f.number({.name = "height", .doc = "along y", .unit = "m"}, s.height, d.height, kLength);
  f.integer({.name = "around", .doc = "cells around"}, s.around, d.around, kCellsAround);
  f.integer({.name = "along", .doc = "cells along"}, s.along, d.along, kCells);
}

void describe_capsule(Fields& f, CapsuleShape& s) {
  const CapsuleShape d;
  f.number({.name = "radius", .doc = "of the capsule", .unit = "m"}, s.radius, d.radius, kLength);
  f.number({.name = "length", .doc = "between the hemispheres' centres", .unit = "m"}, s.length, d.length, kLength);
  f.integer({.name = "around", .doc = "cells around"}, s.around, d.around, {4, 2000});
}

void describe_torus(Fields& f, TorusShape& s) {
  const TorusShape d;
  f.number({.name = "major_radius", .doc = "to the centre of the tube", .unit = "m"}, s.major_radius, d.major_radius,
           kLength);
  f.number({.name = "minor_radius", .doc = "of the tube", .unit = "m"}, s.minor_radius, d.minor_radius, kLength);
  f.integer({.name = "around", .doc = "cells around the axis"}, s.around, d.around, kCellsAround);
  f.integer({.name = "around_tube", .doc = "cells around the tube"}, s.around_tube, d.around_tube, kCellsAround);
}

void describe_sine(Fields& f, SineShape& s) {
  const SineShape d;
  f.number({.name = "amplitude", .doc = "of the sine", .unit = "m"}, s.amplitude, d.amplitude, {0.0, 1e3});
  f.number({.name = "wavelength", .doc = "along x", .unit = "m"}, s.wavelength, d.wavelength, kLength);
  f.number({.name = "size_x", .doc = "along x", .unit = "m"}, s.size_x, d.size_x, kLength);
  f.number({.name = "size_z", .doc = "along z", .unit = "m"}, s.size_z, d.size_z, kLength);
  f.number({.name = "cell", .doc = "largest edge of a square", .unit = "m"}, s.cell, d.cell, kLength);
}

void describe_organ(Fields& f, OrganShape& s) {
  const OrganShape d;
  f.number({.name = "size", .doc = "length along x", .unit = "m"}, s.size, d.size, kLength);
  f.integer({.name = "resolution", .doc = "grid cells along it"}, s.resolution, d.resolution, {16, 512});
}

void describe_figure(Fields& f, FigureShape& s) {
  const FigureShape d;
  f.number({.name = "size", .doc = "height", .unit = "m"}, s.size, d.size, kLength);
  f.integer({.name = "resolution", .doc = "grid cells along it"}, s.resolution, d.resolution, {32, 512});
}

void describe_mesh(Fields& f, MeshShape& s) {
  f.text({.name = "file",
          .doc = "relative to the scene file, or data:NAME in the folder that the environment's PALPATE_DATA names",
          .file = true},
         s.file, "");
  f.text({.name = "data", .doc = "the mesh itself instead of a file: the text of an OFF file"}, s.data, "");
  f.require(s.file.empty() != s.data.empty(), "give one of file and data");
  f.number({.name = "scale", .doc = "metres in one unit of the file or the data", .unit = "m"}, s.scale,
           MeshShape{}.scale, {0.0, 1e6, true});
  f.boolean({.name = "repair", .doc = "fill the holes of the surface; `palpate mesh` says what holes there are"},
            s.repair, MeshShape{}.repair);
}

}  // namespace

void describe(Fields& f, SceneShape& shape) {
  f.mark(shape.place);
  auto& k = shape.kind;
  f.kind({make_kind<BoxShape>("box", "edges along the axes, centred", k, describe_box),
          make_kind<SphereShape>("sphere", "centred", k, describe_sphere),
          make_kind<CylinderShape>("cylinder", "along y, centred", k, describe_cylinder),
          make_kind<CapsuleShape>("capsule", "along y, centred", k, describe_capsule),
          make_kind<TorusShape>("torus", "around y, centred", k, describe_torus),
          make_kind<SineShape>("sine", "an open height field y = amplitude · sin(2π x / wavelength), centred", k,
                               describe_sine),
          make_kind<OrganShape>("organ", "liver-like, centred", k, describe_organ),
          make_kind<FigureShape>("figure", "a statue of two figures, standing on y = 0", k, describe_figure),
          make_kind<MeshShape>("mesh", "from a file (OBJ, STL, PLY or OFF), or written here", k, describe_mesh)});
}

void describe_shape(Fields& f, std::string_view doc, SceneShape& shape) {
  f.object({.name = "shape", .doc = doc, .required = true, .def = "shape"}, [&](Fields& o) { describe(o, shape); });
}

void describe_rotation(Fields& f, Vec3& rotation, const Vec3& standard) {
  f.vector({.name = "rotation", .doc = "rotation vector: axis times angle", .unit = "rad"}, rotation, standard);
}

void describe(Fields& f, Material& m, const Material& d) {
  f.number({.name = "young_modulus", .doc = "E", .unit = "Pa"}, m.young_modulus, d.young_modulus, {0.0, 1e13, true});
  f.number({.name = "poisson_ratio", .doc = "ν"}, m.poisson_ratio, d.poisson_ratio, {0.0, 0.495});
  f.number({.name = "density", .doc = "ρ", .unit = "kg/m³"}, m.density, d.density, {0.0, 1e5, true});
  f.number({.name = "mass_damping", .doc = "Rayleigh α: force −αMv", .unit = "1/s"}, m.mass_damping, d.mass_damping,
           {0.0, 1e4});
  f.number({.name = "stiffness_damping", .doc = "Rayleigh β: force −βKv", .unit = "s"}, m.stiffness_damping,
           d.stiffness_damping, {0.0, 10.0});
}

void describe_material(Fields& f, std::string_view def, Material& material, const Material& standard) {
  f.object({.name = "material", .doc = "elastic, with Rayleigh damping", .def = def},
           [&](Fields& o) { describe(o, material, standard); });
}

}  // namespace palpate
