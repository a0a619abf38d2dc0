#pragma once

#include <vector>

#include "live_body.h"

namespace palpate::live {

/// How the soft bodies of a world answer to the forces of the tool, and of what else the fast loop has as it is, in a
/// slow step or a tick: W of the nodes near those, with what holds the bodies elsewhere (each other, the floor) giving
/// way with them. Thread: the slow loop's.
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
    std::vector<double> distance;                ///< of each node from the nearest of those [m]; −∞: it bears
    std::vector<int> known;
    Eigen::VectorXd force;  ///< of those on the nodes [N]
    std::vector<int> rows;  ///< of the whole matrix: of the known nodes, then of others
  };
  /// A row of the step's problem that acts on none of those.
  struct Other {
    int constraint, offset;
  };

  void list_points(int index, double radius);
  bool is_the_ticks(const Contact& c) const noexcept {
    return layout_.is_whole(c.body_a) || layout_.is_whole(c.body_b);
  }
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
  /// Of the tool and the others.
  struct Point {
    const Body* body;
    BodyPoint at;
    double radius;  ///< of the body around it [m]
  };
  /// Where such a point is, or will be if it is the tool's.
  struct Place {
    Vec3 x;
    double radius;
  };
  std::vector<Point> points_;
  std::vector<Place> places_;
  Vec3 way_ = Vec3::Zero();  ///< of the hand in two slow periods [m]
  std::vector<Soft> soft_;
  std::vector<Other> held_;  ///< rows that hold
  BlockRows rows_;
  Eigen::MatrixXd W_, own_;
};

}  // namespace palpate::live
