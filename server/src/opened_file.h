#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/mesh_holes.h"
#include "palpate/scene/scene.h"
#include "palpate/server/web_server.h"

// Files that a page opens: a scene is run as it is, a mesh gets a tool and a hand.
namespace palpate {

/// What a person may choose about a mesh that was opened.
struct MeshChoice {
  bool soft = false;
  double cell = 0.0;    ///< edge of the cells that fill a soft body [m]
  double scale = 1.0;   ///< metres in one unit of the file
  bool z_up = false;    ///< the file's z points up, not its y
  bool repair = false;  ///< its holes are filled
  bool operator==(const MeshChoice&) const = default;
};

/// A mesh as it is in its file, or with its holes filled, and what it suggests.
struct OpenedMesh {
  TriangleMesh mesh;            ///< in the file's unit
  MeshReport report;            ///< of the mesh; lengths in the file's unit
  std::vector<MeshHole> holes;  ///< lengths in the file's unit
  int crossings = 0;            ///< pairs of triangles that pass through each other
  std::string repaired;         ///< what was done to it; empty: nothing
  std::string refused_soft;     ///< why it cannot be soft; empty: it can
  std::string units;            ///< why the scale is what it is; empty: the file's unit is the metre
  MeshChoice suggested;
};

/// What cells have made of a mesh.
struct MadeSolid {
  int parts = 0;        ///< that do not hang together
  double volume = 0.0;  ///< [m³]
};

struct OpenedFile {
  std::string name;                  ///< of the file, for people
  std::optional<MadeSolid> solid;    ///< of a soft body; none: not made yet
  std::optional<OpenedMesh> mesh;    ///< none: it is a scene
  std::optional<OpenedMesh> filled;  ///< the same with its holes filled; none: nobody asked for it yet
  Scene scene;                       ///< the file's own, or what make_opened_scene() makes of the suggestions

  /// The mesh that a choice is about. There is one.
  const OpenedMesh& mesh_of(const MeshChoice& choice) const { return choice.repair && filled ? *filled : *mesh; }
};

inline constexpr std::size_t kMaxOpenedBytes = 16u << 20;
inline constexpr std::size_t kMaxOpenedTriangles = 400'000;

/// Reads a file that a page sent: .json is a scene (which must name no files), the others are meshes. Throws
/// InputError that begins with the file's name.
OpenedFile read_opened(const Upload& upload);

/// The cells that a soft body of this mesh may have: from about kMaxOpenedTets tets to three along it [m].
inline constexpr double kFewTets = 1500.0, kManyTets = 6000.0, kMaxOpenedTets = 20'000.0;
double find_least_cell(const OpenedMesh& mesh, double scale);
double find_largest_cell(const OpenedMesh& mesh, double scale);
/// The cell of about kFewTets tets; smaller, down to kManyTets, where thin parts would be lost otherwise [m]. Throws
/// InputError if the mesh cannot be filled.
double suggest_cell(const OpenedMesh& mesh, double scale);

/// Has the body lost a part that one would miss? Empty: no. Else what a person can do about it.
std::string describe_loss(const OpenedMesh& mesh, double scale, const MadeSolid& solid);

/// The largest distance between two vertices along an axis, in the file's unit.
double find_extent(const OpenedMesh& mesh);

/// The mesh without its holes, and what it suggests in the unit that the mesh has been given.
OpenedMesh fill_opened(const std::string& name, const OpenedMesh& mesh);

/// Could a page choose that? The rest is the world's business. A cell of 0 is the one that is suggested, which is not
/// known of a mesh that is yet to be filled.
bool is_allowed(const OpenedFile& file, const MeshChoice& choice);

/// The mesh in the middle, static or soft with its lowest part held; a rod over it, and a hand that presses the rod
/// onto it and strokes. The mesh is in the scene as data. Throws InputError.
Scene make_opened_scene(const std::string& name, const OpenedMesh& mesh, const MeshChoice& choice);

/// As pages show it: web/src/open_file.ts.
nlohmann::ordered_json make_json(const OpenedMesh& mesh, const MeshChoice& choice,
                                 const std::optional<MadeSolid>& solid = {});

}  // namespace palpate
