#pragma once

#include <vector>

#include "live_body.h"

namespace palpate::live {

/// How the soft bodies of a world answer to the tool's forces in a slow step or a tick: W of the nodes near the tool,
/// with what holds the bodies elsewhere (each other, the floor) giving way with them. Thread: the slow loop's.
class Answers {
 public:
  Answers(const MethodContext& context, const Layout& layout, Answer answer);

  /// Before a step, with the hand's velocity [m/s].
  void begin(const Vec3& velocity) noexcept { way_ = 2.0 * slow_period_ * velocity; }
  /// Fills W, `settle`, `answered` and which nodes are known of every body. False if that is not finite or a body has
  /// no room.
  bool compute(const SolvedStep& step, double* model);

 private:
  struct Soft {
    int index;  ///< of the world
    FemBody* body;
    std::vector<int> vertex_begin, vertex_node;  ///< the nodes that carry each vertex
    std::vector<double> distance;                ///< of each node from the tool [m]; −∞: it bears
    std::vector<int> known;
    Eigen::VectorXd force;  ///< of the tool on the nodes [N]
    std::vector<int> rows;  ///< of the whole matrix: of the known nodes, then of others
  };
  /// A row of the step's problem that does not act on the tool.
  struct Other {
    int constraint, offset;
  };

  void list_tool_points(const Body& tool, bool is_point);
  void choose_others(const SolvedStep& step);
  void choose_nodes(const SolvedStep& step, Soft& soft);
  void measure_distances(Soft& soft);
  bool assemble(const SolvedStep& step);
  void eliminate_others();
  double compute_settle(Soft& soft);
  void write(const Soft& soft, int first, BodyView<double> out) const;

  World& world_;
  const Layout layout_;
  const int tool_;
  const Answer answer_;
  const double slow_period_;
  double radius_ = 0.0;  ///< of the tool around its points [m]
  std::vector<BodyPoint> tool_points_;
  std::vector<Vec3> places_;  ///< of those, now and on the hand's way [m]
  Vec3 way_ = Vec3::Zero();   ///< of the hand in two slow periods [m]
  std::vector<Soft> soft_;
  std::vector<Other> held_;  ///< rows that hold
  BlockRows rows_;
  Eigen::MatrixXd W_, own_;
};

}  // namespace palpate::live
