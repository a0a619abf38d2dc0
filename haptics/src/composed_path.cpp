// Paths made of other paths: tremor on top of one, and one after another.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "checks.h"
#include "palpate/haptics/hand_path.h"
#include "time_law.h"

namespace palpate {
namespace {

class TremorPath final : public HandPath {
 public:
  TremorPath(const TremorPathSettings& s, std::unique_ptr<HandPath> base)
      : base_(std::move(base)), amplitude_(s.rms * std::sqrt(2.0 / (3.0 * kSines))) {
    // Not std::uniform_real_distribution: its bits differ between standard libraries.
    std::mt19937_64 bits(s.seed);
    const auto uniform = [&bits] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
    // One sine in each eighth of the band: never all in one place, whatever the seed.
    const double width = (s.high - s.low) / kSines;
    for (auto& axis : sines_) {
      for (std::size_t i = 0; i < kSines; ++i) {
        axis[i].rate = 2.0 * std::numbers::pi * (s.low + width * (static_cast<double>(i) + uniform()));
        axis[i].phase = 2.0 * std::numbers::pi * uniform();
      }
    }
  }

  double duration() const noexcept override { return base_->duration(); }

  HandSample at(double t) const noexcept override {
    HandSample h = base_->at(t);
    const double from_start = t > 0.0 ? t : 0.0;
    const double moving = t >= 0.0 ? 1.0 : 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      for (const Sine& sine : sines_[as_size(axis)]) {
        const double angle = sine.rate * from_start + sine.phase;
        h.pose.position[axis] += amplitude_ * std::sin(angle);
        h.velocity.linear[axis] += moving * amplitude_ * sine.rate * std::cos(angle);
      }
    }
    return h;
  }

 private:
  static constexpr std::size_t kSines = 8;
  struct Sine {
    double rate = 0.0;   ///< [rad/s]
    double phase = 0.0;  ///< [rad]
  };
  std::unique_ptr<HandPath> base_;
  double amplitude_;  ///< of one sine [m]
  std::array<std::array<Sine, kSines>, 3> sines_;
};

class SequencePath final : public HandPath {
 public:
  SequencePath(const SequencePathSettings& s, std::vector<std::unique_ptr<HandPath>> parts)
      : blend_time_(s.blend_time), parts_(std::move(parts)) {
    double t = 0.0;
    for (const auto& part : parts_) {
      begins_.push_back(t);
      t += part->duration() + blend_time_;
    }
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      blends_.push_back(make_blend(parts_[i]->at(parts_[i]->duration()), parts_[i + 1]->at(0.0)));
    }
  }

  double duration() const noexcept override { return begins_.back() + parts_.back()->duration(); }

  HandSample at(double t) const noexcept override {
    const double from_start = t > 0.0 ? t : 0.0;
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), from_start);
    const auto i = as_size(next - begins_.begin()) - 1;
    const double local = from_start - begins_[i];
    const double over = local - parts_[i]->duration();
    if (over > 0.0 && i + 1 < parts_.size()) return along(blends_[i], over);
    return parts_[i]->at(t >= 0.0 ? local : t);
  }

 private:
  struct Blend {
    HandSample from;
    Vec3 c2;  ///< position = from + u (h v + u (c2 + u c3))
    Vec3 c3;
    Vec3 turn;  ///< [rad]
    double closing;
  };
  Blend make_blend(const HandSample& from, const HandSample& to) const {
    const Vec3 way = to.pose.position - from.pose.position;
    const Vec3 m0 = blend_time_ * from.velocity.linear;
    const Vec3 m1 = blend_time_ * to.velocity.linear;
    return {from, 3.0 * way - 2.0 * m0 - m1, m0 + m1 - 2.0 * way,
            rotation_vector(to.pose.rotation * from.pose.rotation.conjugate()), to.grip - from.grip};
  }
  HandSample along(const Blend& b, double t) const noexcept {
    const double u = std::min(1.0, t / blend_time_);
    const Vec3 m0 = blend_time_ * b.from.velocity.linear;
    HandSample h;
    h.pose.position = b.from.pose.position + u * (m0 + u * (b.c2 + u * b.c3));
    h.velocity.linear = (m0 + u * (2.0 * b.c2 + 3.0 * u * b.c3)) / blend_time_;
    h.pose.rotation = rotation_from_vector(min_jerk(u) * b.turn) * b.from.pose.rotation;
    h.velocity.angular = min_jerk_rate(u) / blend_time_ * b.turn;
    h.grip = b.from.grip + min_jerk(u) * b.closing;
    h.grip_rate = min_jerk_rate(u) / blend_time_ * b.closing;
    return h;
  }

  double blend_time_;
  std::vector<std::unique_ptr<HandPath>> parts_;
  std::vector<double> begins_;  ///< of each part [s]
  std::vector<Blend> blends_;   ///< after each part but the last
};

}  // namespace

std::unique_ptr<HandPath> make_path(const TremorPathSettings& s, std::unique_ptr<HandPath> base) {
  if (!base) fail_input("tremor: has no path to tremble on");
  require_in("tremor.rms", s.rms, s.kRms, "m");
  require_in("tremor.low", s.low, s.kBand, "Hz");
  require_in("tremor.high", s.high, {s.low, s.kBand.max}, "Hz");
  return std::make_unique<TremorPath>(s, std::move(base));
}

std::unique_ptr<HandPath> make_path(const SequencePathSettings& s, std::vector<std::unique_ptr<HandPath>> parts) {
  require_in("sequence.blend_time", s.blend_time, s.kBlendTime, "s");
  if (parts.empty()) fail_input("sequence.parts is empty: must have one path at least");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i]) fail_input("sequence.parts[{}] is no path", i);
    if (i + 1 < parts.size() && !std::isfinite(parts[i]->duration())) {
      fail_input("sequence.parts[{}] goes on for ever: only the last part may; give it a duration", i);
    }
  }
  return std::make_unique<SequencePath>(s, std::move(parts));
}

}  // namespace palpate
