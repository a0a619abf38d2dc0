#include "force_errors.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <unsupported/Eigen/FFT>

#include "sent_track.h"

namespace palpate {
namespace {

/// The ticks of a run at which the truth is known, and what both felt there.
struct Pairs {
  std::vector<Vec3> position, force, truth, torque, truth_torque;
  double dt = 0.0;           ///< mean [s]
  double contact_above = 0;  ///< force of the truth from which on it is in contact [N]

  bool in_contact(std::size_t i) const { return truth[i].norm() > contact_above; }
};

Pairs make_pairs(const RunData& run, const RunData& reference) {
  Pairs out;
  SentTrack track(reference.ticks);
  double first = 0.0, last = 0.0;
  for (const TickRow& row : run.ticks) {
    Wrench truth;
    if (!track.at(row.time, truth)) continue;
    if (out.force.empty()) first = row.time;
    last = row.time;
    out.position.push_back(row.device.position);
    out.force.push_back(row.sent.force);
    out.torque.push_back(row.sent.torque);
    out.truth.push_back(truth.force);
    out.truth_torque.push_back(truth.torque);
  }
  double peak = 0.0;
  for (const Vec3& f : out.truth) peak = std::max(peak, f.norm());
  out.contact_above = std::max(kContactForce, kContactShare * peak);
  if (out.force.size() > 1) out.dt = (last - first) / static_cast<double>(out.force.size() - 1);
  return out;
}

double sum_squares(const std::vector<Vec3>& values) {
  double sum = 0.0;
  for (const Vec3& v : values) sum += v.squaredNorm();
  return sum;
}

void compute_force_error(const Pairs& p, Metrics& m) {
  double sum = 0.0, largest = 0.0, peak = 0.0;
  for (std::size_t i = 0; i < p.force.size(); ++i) {
    const double e2 = (p.force[i] - p.truth[i]).squaredNorm();
    sum += e2;
    largest = std::max(largest, e2);
    peak = std::max(peak, p.truth[i].norm());
  }
  m.force_error_rms = std::sqrt(sum / static_cast<double>(p.force.size()));
  m.force_error_max = std::sqrt(largest);
  if (peak >= kLightTouch) m.force_error_relative = 100.0 * std::sqrt(sum / sum_squares(p.truth));
}

void compute_contact_error(const Pairs& p, Metrics& m) {
  double error = 0.0, truth = 0.0, angle = 0.0, weight = 0.0;
  std::size_t ticks = 0, noticed = 0;
  for (std::size_t i = 0; i < p.force.size(); ++i) {
    if (!p.in_contact(i)) continue;
    const double e = (p.force[i] - p.truth[i]).norm(), f = p.truth[i].norm();
    ++ticks;
    noticed += e > kNoticeable * f ? 1 : 0;
    error += e * e;
    truth += f * f;
    if (p.force[i].norm() <= p.contact_above) continue;
    angle += f * std::atan2(p.force[i].cross(p.truth[i]).norm(), p.force[i].dot(p.truth[i]));
    weight += f;
  }
  if (ticks == 0 || std::isnan(m.force_error_relative)) return;
  m.force_error_contact = 100.0 * std::sqrt(error / truth);
  m.noticeable_share = 100.0 * static_cast<double>(noticed) / static_cast<double>(ticks);
  if (weight > 0.0) m.direction_error = 180.0 / std::numbers::pi * angle / weight;
}

void compute_torque_error(const Pairs& p, Metrics& m) {
  double sum = 0.0;
  for (std::size_t i = 0; i < p.torque.size(); ++i) sum += (p.torque[i] - p.truth_torque[i]).squaredNorm();
  const double truth = sum_squares(p.truth_torque);
  if (truth == 0.0 && sum == 0.0) return;
  m.torque_error_rms = std::sqrt(sum / static_cast<double>(p.torque.size()));
  if (truth > 0.0 && !std::isnan(m.force_error_relative)) m.torque_error_relative = 100.0 * std::sqrt(sum / truth);
}

std::vector<Vec3> without_mean(const std::vector<Vec3>& values) {
  Vec3 mean = Vec3::Zero();
  for (const Vec3& v : values) mean += v / static_cast<double>(values.size());
  std::vector<Vec3> out;
  for (const Vec3& v : values) out.push_back(v - mean);
  return out;
}

/// Of a[i] with b[i + lag], over where both are known.
double correlation(const std::vector<Vec3>& a, const std::vector<Vec3>& b, std::ptrdiff_t lag) {
  const auto n = static_cast<std::ptrdiff_t>(a.size());
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, -lag); i < std::min(n, n - lag); ++i) {
    const Vec3 &x = a[as_size(i)], &y = b[as_size(i + lag)];
    ab += x.dot(y);
    aa += x.squaredNorm();
    bb += y.squaredNorm();
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

}  // namespace

double compute_delay(const std::vector<Vec3>& early, const std::vector<Vec3>& late, double dt, double longest) {
  constexpr double kAlike = 0.5;
  if (early.size() < 8 || early.size() != late.size() || !(dt > 0.0)) return kNotAvailable;
  const std::vector<Vec3> a = without_mean(early), b = without_mean(late);
  // Both must be known for most of the run, or chance decides.
  const auto most = std::min(static_cast<std::ptrdiff_t>(longest / dt), static_cast<std::ptrdiff_t>(a.size() / 4));
  std::ptrdiff_t best = 0;
  double highest = kAlike;
  bool found = false;
  for (std::ptrdiff_t lag = -most; lag <= most; ++lag) {
    const double c = correlation(a, b, lag);
    if (c > highest) {
      highest = c;
      best = lag;
      found = true;
    }
  }
  if (!found || best == -most || best == most) return kNotAvailable;
  const double before = correlation(a, b, best - 1), after = correlation(a, b, best + 1);
  const double curve = before - 2.0 * highest + after;
  const double part = curve < 0.0 ? std::clamp(0.5 * (before - after) / curve, -0.5, 0.5) : 0.0;
  return dt * (static_cast<double>(best) + part);
}

double compute_stiffness_felt(const std::vector<Vec3>& positions, const std::vector<Vec3>& forces) {
  constexpr double kTogether = 0.5;
  Vec3 sum = Vec3::Zero();
  for (const Vec3& f : forces) sum += f;
  if (forces.size() < 8 || !(sum.norm() > 0.0)) return kNotAvailable;
  const Vec3 n = sum.normalized();
  double x = 0.0, y = 0.0;
  const double count = static_cast<double>(forces.size());
  for (std::size_t i = 0; i < forces.size(); ++i) {
    x -= positions[i].dot(n) / count;
    y += forces[i].dot(n) / count;
  }
  double xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const double dx = -positions[i].dot(n) - x, dy = forces[i].dot(n) - y;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  if (!(xx > 0.0) || !(yy > 0.0) || xy * xy < kTogether * xx * yy) return kNotAvailable;
  return xy / xx;
}

Spectrum compute_spectrum(const std::vector<Vec3>& forces, double dt) {
  Spectrum out;
  std::size_t n = 1024;
  while (n > forces.size()) n /= 2;
  if (n < 8 || !(dt > 0.0)) return out;
  const std::vector<Vec3> centred = without_mean(forces);
  std::vector<double> window(n), power(n / 2 + 1, 0.0);
  double weight = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    window[i] = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
    weight += window[i] * window[i];
  }
  Eigen::FFT<double> fft;
  std::size_t windows = 0;
  for (std::size_t from = 0; from + n <= centred.size(); from += n / 2, ++windows) {
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<double> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = window[i] * centred[from + i][axis];
      std::vector<std::complex<double>> bins;
      fft.fwd(bins, values);
      for (std::size_t k = 0; k <= n / 2; ++k) power[k] += std::norm(bins[k]);
    }
  }
  for (std::size_t k = 1; k <= n / 2; ++k) {
    const double sides = k == n / 2 ? 1.0 : 2.0;
    out.frequency.push_back(static_cast<double>(k) / (static_cast<double>(n) * dt));
    out.density.push_back(std::sqrt(sides * power[k] * dt / (weight * static_cast<double>(windows))));
  }
  return out;
}

void compute_force_errors(const RunData& run, const RunData* reference, Metrics& m) {
  const Pairs pairs = make_pairs(run, reference ? *reference : run);
  if (pairs.force.empty()) return;
  std::vector<Vec3> positions, forces;
  for (std::size_t i = 0; i < pairs.force.size(); ++i) {
    if (!pairs.in_contact(i)) continue;
    positions.push_back(pairs.position[i]);
    forces.push_back(pairs.force[i]);
  }
  m.stiffness_felt = compute_stiffness_felt(positions, forces);
  if (!reference) return;
  compute_force_error(pairs, m);
  compute_contact_error(pairs, m);
  compute_torque_error(pairs, m);
  m.force_delay = compute_delay(pairs.truth, pairs.force, pairs.dt);
}

}  // namespace palpate
