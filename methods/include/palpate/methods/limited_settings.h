#pragma once

namespace palpate {

class Fields;

/// Settings of method `limited` (Knott & Kuhlen 2015).
struct LimitedSettings {
  /// Radius of the proximity query around the proxy [m] (their section 5). Where it holds less than a 64th of
  /// `max_constraints` it is doubled, because what is known of free space costs nothing; where it holds more, the
  /// nearest are kept and the trust region shrinks to what they cover.
  double radius = 0.020;
  int max_constraints = 4096;  ///< triangles in the set
  /// Most vertices of moving bodies in the set: three rows of compliance each.
  int max_moving_vertices = 72;
  /// How far below its triangle a constraint reaches at most [m]; where the body is thinner than twice this, half of
  /// its thickness. Also the longest way of one iteration (the inner trust region).
  double depth = 0.010;
  double tolerance = 1e-11;  ///< the tick has converged when an iteration moves the proxy by less [m]
  int max_iterations = 64;   ///< of a tick; then the proxy stops on its way, outside, and goes on in the next
  /// The query lies around where the hand will be when the model is in use. Off, as in the paper: around the proxy.
  bool look_ahead = true;
  /// What has moved between two models comes to its new place over one slow period. Off, as in the paper: at once.
  bool blend = true;
  bool operator==(const LimitedSettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, LimitedSettings& settings);

}  // namespace palpate
