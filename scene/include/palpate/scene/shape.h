#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "palpate/core/fields.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/tet_mesh.h"
#include "palpate/geometry/triangle_mesh.h"

// Surfaces that a scene asks for, as data. Lengths are in metres; each shape is described in a frame of its own, which
// the body that has it places in the world.
namespace palpate {

/// A box whose edges lie along the axes, centred at the origin.
struct BoxShape {
  Vec3 size = Vec3::Constant(0.1);  ///< edge lengths
  int cells = 1;                    ///< squares along each edge
  bool operator==(const BoxShape&) const = default;
};

/// A sphere, centred at the origin.
struct SphereShape {
  double radius = 0.05;
  int subdivisions = 16;  ///< n: 20 n² triangles
  bool operator==(const SphereShape&) const = default;
};

/// A cylinder along y, centred at the origin.
struct CylinderShape {
  double radius = 0.02, height = 0.1;
  int around = 48, along = 8;  ///< cells
  bool operator==(const CylinderShape&) const = default;
};

/// A capsule along y, centred at the origin.
struct CapsuleShape {
  double radius = 0.02;
  double length = 0.1;  ///< between the hemispheres' centres
  int around = 48;      ///< cells
  bool operator==(const CapsuleShape&) const = default;
};

/// A torus around y, centred at the origin.
struct TorusShape {
  double major_radius = 0.05;  ///< to the centre of the tube
  double minor_radius = 0.02;  ///< of the tube
  int around = 64, around_tube = 32;
  bool operator==(const TorusShape&) const = default;
};

/// An open height field y = amplitude · sin(2π x / wavelength), centred.
struct SineShape {
  double amplitude = SineSurface{}.amplitude, wavelength = SineSurface{}.wavelength;
  double size_x = SineSurface{}.size_x, size_z = SineSurface{}.size_z;
  double cell = SineSurface{}.cell;  ///< largest edge of a square
  bool operator==(const SineShape&) const = default;
};

/// A solid like a liver, centred at the origin.
struct OrganShape {
  double size = 0.2;    ///< length along x
  int resolution = 64;  ///< grid cells along it
  bool operator==(const OrganShape&) const = default;
};

/// A statue of two figures, standing on y = 0.
struct FigureShape {
  double size = 0.1;    ///< height
  int resolution = 96;  ///< grid cells along it
  bool operator==(const FigureShape&) const = default;
};

/// A mesh from a file (OBJ, STL, PLY or OFF), or one that is written in the scene itself. Exactly one of the two is
/// given.
struct MeshShape {
  std::string file{};   ///< relative to the scene file, or data:NAME (see data_folder())
  std::string data{};   ///< the text of an OFF file
  double scale = 1.0;   ///< metres in one unit of the file or the data
  bool repair = false;  ///< its holes are filled
  bool operator==(const MeshShape&) const = default;
};

/// One of these, and where it stands in the file that it was read from.
struct SceneShape {
  std::variant<BoxShape, SphereShape, CylinderShape, CapsuleShape, TorusShape, SineShape, OrganShape, FigureShape,
               MeshShape>
      kind{};
  SourcePlace place{};
  bool operator==(const SceneShape&) const = default;
};

/// What scene files call its kind: "box", "mesh", …
std::string_view kind_name(const SceneShape& shape) noexcept;

/// Makes the surface, in the shape's own frame [m]. Mesh files are relative to the folder of `scene_file`. Throws
/// InputError, which begins with the shape's place if it was read.
TriangleMesh make_surface(const SceneShape& shape, const std::string& scene_file);

/// Fills the shape with tets of about `cell` [m], in its own frame; a box becomes a regular block. Throws InputError.
TetMesh make_shape_tets(const SceneShape& shape, double cell, const std::string& scene_file);

/// The folder of real meshes, which scene files call "data:": what PALPATE_DATA says in the environment, or empty if
/// there is none.
std::string data_folder();

/// The path of a file of that name in data_folder(), if there is one.
std::optional<std::string> find_data(std::string_view name);

/// The path of a file that a scene names: relative to the scene's folder, or "data:…". Throws InputError if
/// PALPATE_DATA is needed and not set.
std::string resolve_file(const std::string& name, const std::string& scene_file);

}  // namespace palpate
