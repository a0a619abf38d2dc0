#pragma once

#include <Eigen/Core>

#include "messages.h"

namespace palpate::reduced {

/// Keeps a reduced body from having more energy than was done to it.
///
/// A body's energy H = ½ q̇·M q̇ + U, U being what its elements and its weight store, changes by the work W of contacts
/// and falls by damping. What it gains beyond W was made: by elastic forces that act some ticks late, or by a new model
/// that has the body a little elsewhere. At every look of the fast loop at the elements U is known, and with it what
/// was made since the look before; that is owed, and taken out of the motion again. So however wrong a model is, and
/// whatever comes late, the body cannot swing up.
///
/// Thread: the fast loop's; nothing allocates or throws, and every call is bounded.
class EnergyGuard {
 public:
  /// What is known of the energy belongs to another motion.
  void forget() noexcept { knows_ = false; }
  /// Of the body at a look: its energy, and the work done to it since the start until then [J].
  void see(double energy, double work) noexcept;
  /// Takes what is owed out of the motion: along `direction` of the states, in which forces were seen to be wrong, as
  /// far as there is motion along it, then a little out of all of it. Returns whether `speed` was changed.
  bool take_out(const BodyView<const double>& model, double dt, const Eigen::VectorXd& direction,
                Eigen::Ref<Eigen::VectorXd> speed) noexcept;

  double owed() const noexcept { return owed_; }    ///< [J]
  double taken() const noexcept { return taken_; }  ///< since the start [J]

 private:
  bool knows_ = false;
  double energy_ = 0.0, work_ = 0.0;  ///< of the last look
  double owed_ = 0.0, taken_ = 0.0;
};

/// y = M x of a model's states, M = dt (1 − D − dt K), since A(dt) is one.
void multiply_mass(const BodyView<const double>& model, double dt, const Eigen::Ref<const Eigen::VectorXd>& x,
                   Eigen::Ref<Eigen::VectorXd> y) noexcept;

}  // namespace palpate::reduced
