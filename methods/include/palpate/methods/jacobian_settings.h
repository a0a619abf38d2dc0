#pragma once

#include <cstdint>

namespace palpate {

class Fields;

/// Settings of method `jacobian` (Otaduy & Gross 2007).
struct JacobianSettings {
  /// What the slow loop asks of contacts, and what it publishes.
  enum class Form : std::uint8_t {
    kInequality,  ///< contacts push only, with friction; published one by one and solved anew in every tick
    kEquality,    ///< the paper's: no friction, contacts hold until the next model; six linear equations
  };
  Form form = Form::kInequality;
  /// Which time step the world's answer to a contact force has in the model: the slow one, in which it gives way as it
  /// does over a slow period, or the fast one, in which it answers with its inertia alone. See decision 12.
  enum class Answer : std::uint8_t { kSlow, kFast };
  Answer answer = Answer::kSlow;
  /// Each slow step begins with the fast loop's tool and a hand that goes on at its velocity. Off, as in the paper: the
  /// visual tool follows the device by its own coupling, one period late.
  bool track = true;
  /// Equality: time constant of a low-pass on the published matrices [s], 0: none. The paper: "convenient" at 10 Hz.
  double filter_time = 0.0;
  /// Inequality: share of a slow period over which a new model takes the place of the last, 0: at once.
  double blend = 1.0;
  /// Inequality, tracked. Live: every tick finds its contacts anew, on bodies that the contact forces deform as the
  /// model says, in worlds that allow it: one tool, nothing soft tied, else only soft and up to 8 rigid bodies. Held:
  /// those that the slow step found, with their places and normals.
  enum class Contacts : std::uint8_t { kLive, kHeld };
  Contacts contacts = Contacts::kLive;
  int max_contacts = 40;    ///< published, at most kMost; those that bear and the deepest are kept
  double tolerance = 1e-6;  ///< of the tick's solve [m]: felt as at most (k + b/dt) times this
  int max_iterations = 40;  ///< of the tick's solve: its bound in time
  static constexpr int kMost = 40;
  bool operator==(const JacobianSettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, JacobianSettings& settings);

}  // namespace palpate
