#pragma once

#include <filesystem>

#include "palpate/experiments/compare.h"
#include "palpate/experiments/experiment.h"
#include "palpate/geometry/triangle_tree.h"

// What the experiments of Knott & Kuhlen 2015 share: their settings, hand paths over meshes, and the comparison of
// `limited` (their PCM) with `halfspace` (their SCM) and the truth.
namespace palpate {

/// Their rates, tool and friction, without bodies or hand (section 5: 1 g, 1000 N/m, 0.8 N·s/m, μ = 0.1, 1 / 33 ms).
Scene make_knott_scene(const std::string& name, const std::string& description, double seconds);

inline constexpr double kKnottFriction = 0.1;

/// A hand that goes along a line over a mesh, seen from one side, `depth` below what it sees [m].
struct SweepSettings {
  Vec3 through = Vec3::Zero();                     ///< a point of the line, from which from and to count [m]
  Vec3 along = Vec3::UnitX(), up = Vec3::UnitY();  ///< unit: the line, and where it is seen from, at right angles
  double from = 0.0, to = 0.1;                     ///< [m]
  bool back = false;                               ///< and the same way back
  double depth = 0.001;                            ///< along `up` [m]
  double speed = 0.1;                              ///< of the hand [m/s]
  double smoothing = 0.004;                        ///< half width of the mean that rounds off cliffs [m]
  double above = 0.01;                             ///< where it comes from and goes to, over the surface [m]
};
/// Gives the scene that hand and sets its length.
void add_sweep(Scene& scene, const TriangleTree& mesh, const SweepSettings& sweep);

/// A mesh of the data folder, or a shape that Palpate makes where that is absent.
struct KnottMesh {
  TriangleMesh mesh;
  std::string file;                ///< the mesh's; empty: the shape stands in
  std::vector<std::string> notes;  ///< says so
};
/// In the quick form always the own one, and no note of it.
KnottMesh load_or_make(const std::string& file, double scale, const SceneShape& own, const ExperimentOptions& options);

/// The fertility statue, put upright, or a figure with holes.
struct Statue : KnottMesh {
  Vec3 foot = Vec3::Zero();  ///< where it goes over into its base: convex around it, concave downwards [m]
  Vec3 side = Vec3::Zero();  ///< unit, level: the side of it from which that is seen
};
Statue load_statue(const ExperimentOptions& options);
/// Along x over its top, for this share of its length to both sides of the middle.
SweepSettings sweep_over_top(const Statue& statue, double reach);
/// Down its side, over into the base and back ("The transition from the statue to its base … contains areas which are
/// convex in one direction and concave in another").
SweepSettings sweep_onto_base(const Statue& statue);

/// What is claimed of one scene beyond what all are asked.
struct KnottLimits {
  bool soft = false;         ///< else static: there the proxy's distance from the mesh is claimed
  double jump_ratio = 0.2;   ///< largest jump of limited's force over that of halfspace's
  bool performance = false;  ///< iterations, tick and step times
  bool time_series = false;  ///< plots of the times, as the paper's Fig. 10
  double settle = 0.2;       ///< start-up that is left out of the jumps [s]
};

/// Runs reference, and halfspace and limited as in the paper and with look-ahead and blending, on the same hand; adds
/// claims, tables and plots. `part` stands before the claims' names where an experiment has several, and is a view of
/// its report; empty: it has one.
void add_knott_comparison(const std::string& part, const Scene& scene, World& world, const KnottLimits& limits,
                          const ExperimentOptions& options, ExperimentResult& out);

}  // namespace palpate
