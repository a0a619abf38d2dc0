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

/// A hand that goes along x over the top of a mesh, seen from above, `depth` below it [m].
struct SweepSettings {
  double from = 0.0, to = 0.1;  ///< x [m]
  double z = 0.0;               ///< [m]
  double depth = 0.001;         ///< [m]
  double speed = 0.1;           ///< along x [m/s]
  double smoothing = 0.004;     ///< half width of the mean that rounds off cliffs [m]
  double above = 0.01;          ///< where it comes from and goes to, over the surface [m]
};
/// Gives the scene that hand and sets its length.
void add_sweep(Scene& scene, const TriangleTree& mesh, const SweepSettings& sweep);

/// A mesh of the data folder, or a shape that Palpate makes where that is absent.
struct KnottMesh {
  SceneShape shape;
  TriangleMesh mesh;               ///< made of the shape
  std::string file;                ///< the mesh's; empty: the shape stands in
  std::vector<std::string> notes;  ///< says so
};
/// In the quick form always the own one, and no note of it.
KnottMesh load_or_make(const std::string& file, double scale, const SceneShape& own, const ExperimentOptions& options);
KnottMesh load_statue(const ExperimentOptions& options);  ///< the fertility statue, or a figure with holes

/// What is claimed of one scene beyond what all are asked.
struct KnottLimits {
  bool proxy_on_surface = false;  ///< static: distance of limited's proxy from the mesh
  double jump_ratio = 0.2;        ///< largest jump of limited's force over that of halfspace's
  bool performance = false;       ///< iterations, tick and step times
  double settle = 0.2;            ///< start-up that is left out of the jumps [s]
};

/// Runs reference, halfspace and limited on the reference's hand; claims, tables and plots.
ExperimentResult compare_knott(const Scene& scene, World& world, const KnottLimits& limits,
                               const ExperimentOptions& options);

}  // namespace palpate
