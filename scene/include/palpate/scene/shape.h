#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "palpate/core/fields.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/tet_mesh.h"
#include "palpate/geometry/triangle_mesh.h"

// Surfaces that a scene asks for, as data. Lengths in metres; each in a frame of its own.
namespace palpate {

/// Edges along the axes, centred.
struct BoxShape {
  Vec3 size = Vec3::Constant(0.1);  ///< edge lengths
  int cells = 1;                    ///< squares along each edge
  bool operator==(const BoxShape&) const = default;
};

struct SphereShape {
  double radius = 0.05;
  int subdivisions = 16;  ///< n: 20 n² triangles
  bool operator==(const SphereShape&) const = default;
};

/// Along y, centred.
struct CylinderShape {
  double radius = 0.02, height = 0.1;
  int around = 48, along = 8;  ///< cells
  bool operator==(const CylinderShape&) const = default;
};

/// Along y, centred.
struct CapsuleShape {
  double radius = 0.02;
  double length = 0.1;  ///< between the hemispheres' centres
  int around = 48;      ///< cells
  bool operator==(const CapsuleShape&) const = default;
};

/// Around y, centred.
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

/// Liver-like, centred.
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

/// From a file (OBJ, STL, PLY or OFF), or written in the scene itself. Exactly one of the two.
struct MeshShape {
  std::string file{};   ///< relative to the scene file, or data:NAME (see data_folder())
  std::string data{};   ///< the text of an OFF file
  double scale = 1.0;   ///< metres in one unit of the file or the data
  bool repair = false;  ///< its holes are filled
  bool operator==(const MeshShape&) const = default;
};

struct SceneShape {
  std::variant<BoxShape, SphereShape, CylinderShape, CapsuleShape, TorusShape, SineShape, OrganShape, FigureShape,
               MeshShape>
      kind{};
  SourcePlace place{};
  bool operator==(const SceneShape&) const = default;
};

/// As files call it: "box", "mesh", …
std::string_view kind_name(const SceneShape& shape) noexcept;

/// In its own frame. `scene_file`: mesh files are relative to its folder. Throws InputError, which begins with the
/// shape's place if it was read.
TriangleMesh make_surface(const SceneShape& shape, const std::string& scene_file);

/// The shape filled with tets of about `cell` [m], in its own frame; a box becomes a regular block. Throws InputError.
TetMesh make_shape_tets(const SceneShape& shape, double cell, const std::string& scene_file);

/// Where real meshes are, which scene files call "data:": the environment's PALPATE_DATA; empty: nowhere.
std::string data_folder();

/// A file of data_folder(), if there is one.
std::optional<std::string> find_data(std::string_view name);

/// A file named in a scene: relative to the scene's folder, or "data:…". Throws InputError if PALPATE_DATA is needed
/// and not set.
std::string resolve_file(const std::string& name, const std::string& scene_file);

}  // namespace palpate
