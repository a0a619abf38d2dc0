#include <filesystem>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/geometry/shapes.h"
#include "visit_body.h"

namespace palpate {
namespace {

constexpr Range kCells{1, 2000};

std::vector<Kind> shape_kinds(const std::string& scene_file, SceneShape& shape) {
  auto& make = shape.make_surface;
  const auto named = [&shape](const char* name) { shape.kind = name; };
  return {
      {"box", "edges along the axes, centred",
       [&make, &shape, named](Fields& f) {
         named("box");
         Vec3 size = Vec3::Constant(0.1);
         int cells = 1;
         f.vector({.name = "size", .doc = "edge lengths", .unit = "m"}, size);
         f.integer({.name = "cells", .doc = "squares along each edge"}, cells, kCells);
         shape.size = size;
         make = [=] { return make_box(size, cells); };
       }},
      {"sphere", "centred",
       [&make, &shape, named](Fields& f) {
         named("sphere");
         double radius = 0.05;
         int subdivisions = 16;
         f.number({.name = "radius", .doc = "of the sphere", .unit = "m"}, radius, kLength);
         f.integer({.name = "subdivisions", .doc = "20 n² triangles"}, subdivisions, kCells);
         shape.size = Vec3::Constant(2.0 * radius);
         make = [=] { return make_sphere(radius, subdivisions); };
       }},
      {"cylinder", "along y, centred",
       [&make, named](Fields& f) {
         named("cylinder");
         double radius = 0.02, height = 0.1;
         int around = 48, along = 8;
         f.number({.name = "radius", .doc = "of the cylinder", .unit = "m"}, radius, kLength);
         f.number({.name = "height", .doc = "along y", .unit = "m"}, height, kLength);
         f.integer({.name = "around", .doc = "cells around"}, around, {3, 2000});
         f.integer({.name = "along", .doc = "cells along"}, along, kCells);
         make = [=] { return make_cylinder(radius, height, around, along); };
       }},
      {"capsule", "along y, centred",
       [&make, named](Fields& f) {
         named("capsule");
         double radius = 0.02, length = 0.1;
         int around = 48;
         f.number({.name = "radius", .doc = "of the capsule", .unit = "m"}, radius, kLength);
         f.number({.name = "length", .doc = "between the hemispheres' centres", .unit = "m"}, length, kLength);
         f.integer({.name = "around", .doc = "cells around"}, around, {4, 2000});
         make = [=] { return make_capsule(radius, length, around); };
       }},
      {"torus", "around y, centred",
       [&make, named](Fields& f) {
         named("torus");
         double major = 0.05, minor = 0.02;
         int around = 64, around_tube = 32;
         f.number({.name = "major_radius", .doc = "to the centre of the tube", .unit = "m"}, major, kLength);
         f.number({.name = "minor_radius", .doc = "of the tube", .unit = "m"}, minor, kLength);
         f.integer({.name = "around", .doc = "cells around the axis"}, around, {3, 2000});
         f.integer({.name = "around_tube", .doc = "cells around the tube"}, around_tube, {3, 2000});
         make = [=] { return make_torus(major, minor, around, around_tube); };
       }},
      {"sine", "an open height field y = amplitude · sin(2π x / wavelength), centred",
       [&make, named](Fields& f) {
         named("sine");
         SineSurface s;
         f.number({.name = "amplitude", .doc = "of the sine", .unit = "m"}, s.amplitude, {0.0, 1e3});
         f.number({.name = "wavelength", .doc = "along x", .unit = "m"}, s.wavelength, kLength);
         f.number({.name = "size_x", .doc = "along x", .unit = "m"}, s.size_x, kLength);
         f.number({.name = "size_z", .doc = "along z", .unit = "m"}, s.size_z, kLength);
         f.number({.name = "cell", .doc = "largest edge of a square", .unit = "m"}, s.cell, kLength);
         make = [=] { return make_sine_surface(s); };
       }},
      {"organ", "liver-like, centred",
       [&make, named](Fields& f) {
         named("organ");
         double size = 0.2;
         int resolution = 64;
         f.number({.name = "size", .doc = "length along x", .unit = "m"}, size, kLength);
         f.integer({.name = "resolution", .doc = "grid cells along it"}, resolution, {16, 512});
         make = [=] { return make_organ(size, resolution); };
       }},
      {"figure", "a statue of two figures, standing on y = 0",
       [&make, named](Fields& f) {
         named("figure");
         double size = 0.1;
         int resolution = 96;
         f.number({.name = "size", .doc = "height", .unit = "m"}, size, kLength);
         f.integer({.name = "resolution", .doc = "grid cells along it"}, resolution, {32, 512});
         make = [=] { return make_figure(size, resolution); };
       }},
      {"mesh", "from a file: OBJ, STL, PLY or OFF",
       [&make, named, &scene_file](Fields& f) {
         named("mesh");
         std::string file;
         MeshFileOptions options;
         f.text({.name = "file",
                 .doc = "relative to the scene file, or data:NAME in the folder PALPATE_DATA",
                 .required = true},
                file);
         f.number({.name = "scale", .doc = "metres in one unit of the file", .unit = "m"}, options.scale,
                  {0.0, 1e6, true});
         make = [=, path = resolve_file(file, scene_file)] { return load_mesh(path, options).mesh; };
       }},
  };
}

}  // namespace

std::string resolve_file(const std::string& name, const std::string& scene_file) {
  if (name.starts_with("data:")) return (std::filesystem::path(data_folder()) / name.substr(5)).string();
  return (std::filesystem::path(scene_file).parent_path() / name).string();
}

void visit_shape(Fields& f, const std::string& scene_file, SceneShape& shape) {
  f.kind(shape_kinds(scene_file, shape));
  if (f.place().empty()) return;
  // What goes wrong when the surface is made is said with the place that asked for it.
  shape.make_surface = [make = std::move(shape.make_surface), place = f.place()] {
    try {
      return make();
    } catch (const InputError& error) {
      fail_input("{}: {}", place, error.what());
    }
  };
}

void visit_rotation(Fields& f, Quat& rotation) {
  Vec3 r = rotation_vector(rotation);
  f.vector({.name = "rotation", .doc = "rotation vector: axis times angle", .unit = "rad"}, r);
  rotation = rotation_from_vector(r);
}

void visit_material(Fields& f, Material& m) {
  f.number({.name = "young_modulus", .doc = "E", .unit = "Pa"}, m.young_modulus, {0.0, 1e13, true});
  f.number({.name = "poisson_ratio", .doc = "ν"}, m.poisson_ratio, {0.0, 0.495});
  f.number({.name = "density", .doc = "ρ", .unit = "kg/m³"}, m.density, {0.0, 1e5, true});
  f.number({.name = "mass_damping", .doc = "Rayleigh α: force −αMv", .unit = "1/s"}, m.mass_damping, {0.0, 1e4});
  f.number({.name = "stiffness_damping", .doc = "Rayleigh β: force −βKv", .unit = "s"}, m.stiffness_damping,
           {0.0, 10.0});
}

}  // namespace palpate
