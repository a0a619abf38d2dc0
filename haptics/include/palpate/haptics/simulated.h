#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/core/range.h"
#include "palpate/haptics/device.h"
#include "palpate/haptics/hand_path.h"
#include "palpate/haptics/velocity.h"

namespace palpate {

class Fields;

/// How a hand holds the handle: a mass that goes with it, and a spring and damper to where the hand wants to be.
/// The defaults are a light pencil grip.
struct HandImpedance {
  double mass = 0.1;                  ///< [kg]
  double damping = 3.0;               ///< [N·s/m]
  double stiffness = 300.0;           ///< [N/m]; 0: the hand follows by its damping alone
  double rotational_inertia = 1e-4;   ///< [kg·m²]
  double rotational_damping = 0.005;  ///< [N·m·s/rad]
  double rotational_stiffness = 0.5;  ///< [N·m/rad]
  bool operator==(const HandImpedance&) const = default;
};

void describe(Fields& fields, HandImpedance& settings);

struct SimulatedDeviceSettings {
  std::string name = "simulated";
  double mass = 0.1;                ///< apparent at the handle [kg]
  double damping = 1.0;             ///< viscous [N·s/m]
  double coulomb_friction = 0.0;    ///< [N]; translation only
  double rotational_inertia = 0.0;  ///< [kg·m²]; 0: a 3-DoF device, whose rotation is the path's own
  double rotational_damping = 0.0;  ///< [N·m·s/rad]
  double max_force = 12.0;          ///< the motors give no more [N]
  double max_torque = 0.4;          ///< [N·m]
  double max_stiffness = 5000.0;    ///< the maker's figure [N/m], for warnings
  double workspace_radius = 0.0;    ///< [m]; told in DeviceInfo, not enforced; 0: unlimited
  /// Positions are read as multiples of this, and velocity is then estimated [m]; 0: both are read exactly.
  double encoder_resolution = 0.0;
  VelocityEstimatorSettings velocity;
  bool delay_output = false;  ///< a written wrench takes effect at the write after it: one tick of transport delay
  HandImpedance hand;

  static constexpr Range kMass{0.0, 100.0, true};
  static constexpr Range kDamping{0.0, 1e4};
  static constexpr Range kCoulombFriction{0.0, 1e3};
  static constexpr Range kEncoderResolution{0.0, 0.01};
};

/// Throws InputError naming the field, its value and the allowed range.
void validate(const SimulatedDeviceSettings& settings);

/// Settings of a class of devices: "omega" (12 N, 5000 N/m), "touch" (3.3 N, 500 N/m) or "ideal" (no motor limit, no
/// encoder, no friction). Force and stiffness are makers' figures; damping is the one that makes the maker's stiffness
/// just passive at 1 kHz; mass, friction, encoder and workspace are typical of the class, not measured. Throws
/// InputError.
SimulatedDeviceSettings simulated_device_preset(std::string_view name);
std::vector<std::string_view> simulated_device_presets();

/// A device with inertia in a hand with a will: unlike ScriptedDevice it is moved by the force it is sent, so it shows
/// whether a loop is stable.
///
///   (m_d + m_h) ẍ + b_d ẋ = f_sent + k_h (x_target − x) + b_h (v_target − ẋ) − friction
///
/// and alike in rotation, with isotropic inertia. read(t) advances from the last reading to t under the force held
/// since the last write. Without Coulomb friction this is the exact solution (matrix exponential) for a hand target
/// whose pull k_h x_target + b_h v_target is linear in time over a substep of at most 1 ms; with friction the substep
/// is 1/8 ms and friction is constant within it, sticking included. At most 64 substeps are done a reading,
/// longer ones if need be, and after a jump of more than 6.4 s only its last 6.4 s: bounded work, stable for any jump.
///
/// Thread: the fast loop's alone; read() and write() allocate nothing, take no lock and bounded time.
class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(const SimulatedDeviceSettings& settings, std::unique_ptr<HandPath> path);

  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override;
  void write(const SafeWrench& wrench) noexcept override;

  /// Where the handle really is, without encoder: for tests and plots.
  const Pose& true_pose() const noexcept { return pose_; }
  const Twist& true_velocity() const noexcept { return velocity_; }

 private:
  /// One step of M ẍ + B ẋ + K x = p, with p linear from p0 to p1:
  ///   x⁺ = xx·x + xv·v + x0·p0 + x1·p1   and likewise v⁺.
  struct Propagator {
    double step = -1.0;  ///< [s]
    double xx, xv, x0, x1;
    double vx, vv, v0, v1;
  };
  struct Oscillator {
    double mass = 1.0;
    double damping = 0.0;
    double stiffness = 0.0;
    Propagator propagator;
    void prepare(double step) noexcept;
    void advance(Vec3& x, Vec3& v, const Vec3& p0, const Vec3& p1) const noexcept;
  };
  void substep(double step, const HandSample& from, const HandSample& to) noexcept;
  void translate(const Vec3& pull0, const Vec3& pull1) noexcept;
  void rotate(const HandSample& from, const HandSample& to) noexcept;
  DeviceState measure(double elapsed) noexcept;

  SimulatedDeviceSettings settings_;
  std::unique_ptr<HandPath> path_;
  DeviceInfo info_;
  VelocityEstimator estimator_;
  Oscillator translation_;
  Oscillator rotation_;
  double time_ = 0.0;
  Pose pose_;
  Twist velocity_;
  Wrench acting_;   ///< moves the handle now
  Wrench pending_;  ///< written, not yet acting
};

}  // namespace palpate
