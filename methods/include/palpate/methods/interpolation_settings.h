#pragma once

#include <cstdint>

namespace palpate {

class Fields;

/// Settings of method `interpolation` (Zhuang & Canny 2000).
struct InterpolationSettings {
  /// How nodes of soft bodies meet fingers and surfaces.
  enum class Contact : std::uint8_t {
    /// The relative normal velocity of a node that has come in becomes zero and stays so: nothing bounces, and a node
    /// at rest on a finger bears its static force without ripple.
    kInelastic,
    /// Eqs. (11) and (12) to the letter: the node is back where it was after two equal steps. The acceleration that
    /// stops it acts on for half of the next step, so what hits with v leaves with v, and held nodes tremble.
    kPaper,
    kPenalty,  ///< the paper's baseline: a spring of `penalty_stiffness` at each node
  };
  Contact contact = Contact::kInelastic;
  double penalty_stiffness = 1000.0;  ///< [N/m]

  /// What the fast loop makes of the slow loop's states.
  enum class Display : std::uint8_t {
    kLinear,       ///< straight from the state before to the newest: one slow step late
    kSmooth,       ///< the same by cubics that go on with the slope they have
    kExtrapolate,  ///< the newest state at once, and from there by its stiffness along the force: not late, but jumps
  };
  Display display = Display::kLinear;

  /// Which force of a slow step is a finger's: its impulse over its time (nothing is lost), or that of the last moment.
  enum class Force : std::uint8_t { kMean, kEnd };
  Force force = Force::kMean;

  /// The slow step takes fingers to where the hand will be when it is done, at its present velocity. Off, as in the
  /// paper: to where the hand is; the force is then a slow step older.
  bool predict = false;
  bool linear_strain = false;    ///< bodies follow Hooke's law in linear strain, to see how it distorts
  double margin = 0.9;           ///< integration steps are this share of the stable one
  double time_step = 0.0;        ///< of the integration [s]; 0: found from the elements
  int max_steps = 2000;          ///< of the integration in a slow step; then simulated time falls behind
  double push_out_speed = 0.05;  ///< inelastic: nodes that are inside come out no faster than this [m/s]; 0: they stay
  double max_speed = 2.0;        ///< of a finger [m/s]: a hand that jumps is followed at this speed
  bool operator==(const InterpolationSettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, InterpolationSettings& settings);

}  // namespace palpate
