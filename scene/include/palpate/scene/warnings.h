#pragma once

#include <limits>
#include <string>
#include <vector>

#include "palpate/scene/scene.h"

namespace palpate {

/// What is larger than this is rarely meant: millimetres read as metres [m].
inline constexpr double kLargestUsual = 5.0;

/// "100 m large: is "a.obj" in millimetres? …" of a mesh that is larger than that; empty: it is not.
std::string describe_large_mesh(double size, const MeshShape& mesh);

/// How near the tool of a hand comes to what can be touched, if nothing gave way.
struct Approach {
  double start = std::numeric_limits<double>::infinity();    ///< at the beginning [m]; negative inside
  double nearest = std::numeric_limits<double>::infinity();  ///< the least on the way [m]
  double time = 0.0;                                         ///< when that is [s]
  std::string body{};                                        ///< the nearest then
  std::string start_body{};                                  ///< the nearest at the beginning
};

/// Follows the hand's path, or a replayed hand, by the bodies as they are at the start, for as long as a run is. Depth
/// counts in closed surfaces only. `world` is as make_world() gives it.
Approach find_approach(const Scene& scene, const World& world, std::size_t tool);

/// Mass of a body of the world [kg]; 0 for what never moves.
double compute_mass(const WorldBody& body);
/// Nodes of a soft body or ends of a chain that do not move.
int count_fixed(const WorldBody& body);

/// Plain sentences about what is legal but probably not meant: metres that should be millimetres, a hand that never
/// comes near a body, a tool that starts inside one, soft bodies that nothing holds and nothing bears, thin parts of a
/// mesh that the cell loses or that cost many times its nodes. `world` is as make_world() gives it.
std::vector<std::string> find_world_warnings(const Scene& scene, const World& world);

/// Rigid bodies of a scene, copies among them, without its tools.
std::size_t count_rigid(const Scene& scene);

/// Why a method that works on this scene is a poor choice there, by what is in the scene, and what to take instead;
/// empty: nothing is known against it. Measured in docs/choosing-a-method.md.
std::string find_method_warning(const Scene& scene, std::string_view method);
/// The same of all tools' methods, each once; `method` is that of all of them, or each has its own if that is empty.
std::vector<std::string> find_method_warnings(const Scene& scene, const std::string& method = {});

}  // namespace palpate
