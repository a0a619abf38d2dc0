#include "palpate/devices/exchange.h"

#include <algorithm>
#include <array>

#include "palpate/core/error.h"
#include "palpate/core/fields.h"

namespace palpate {
namespace {

void describe(Fields& f, ExchangeSettings& s) {
  const ExchangeSettings d;
  f.number({.name = "stale_after", .doc = "a sample older than this counts for nothing", .unit = "s"}, s.stale_after,
           d.stale_after, {0.001, 1.0});
  f.number({.name = "wrench_valid_for", .doc = "a wrench older than this is not sent", .unit = "s"}, s.wrench_valid_for,
           d.wrench_valid_for, {0.001, 0.1});
}

void put(double* to, const Vec3& from) noexcept {
  std::copy_n(from.data(), 3, to);
}

Vec3 get(const double* from) noexcept {
  return {from[0], from[1], from[2]};
}

}  // namespace

std::string_view name_of(Loss loss) noexcept {
  constexpr std::array<std::string_view, 7> kNames{
      "ready", "not connected", "connection closed", "silent", "nonsense", "not ready", "braked"};
  return kNames[as_size(loss)];
}

void validate(const ExchangeSettings& settings) {
  ExchangeSettings s = settings;
  check_fields("exchange", [&](Fields& f) { describe(f, s); });
}

DeviceExchange::DeviceExchange(const ExchangeSettings& settings)
    : stale_ns_(static_cast<std::int64_t>(1e9 * settings.stale_after)),
      valid_ns_(static_cast<std::int64_t>(1e9 * settings.wrench_valid_for)) {
  validate(settings);
}

void DeviceExchange::connect() noexcept {
  const std::uint32_t number = connections_.load(std::memory_order_relaxed) + 1;
  connections_.store(number, std::memory_order_relaxed);
  loss_.store(static_cast<int>(Loss::kNone), std::memory_order_relaxed);
  connection_.store(number, std::memory_order_release);
}

void DeviceExchange::disconnect(Loss why) noexcept {
  connection_.store(0, std::memory_order_release);
  loss_.store(static_cast<int>(why), std::memory_order_relaxed);
}

void DeviceExchange::publish(const HandleSample& s) noexcept {
  const std::uint32_t connection = connection_.load(std::memory_order_relaxed);
  if (connection == 0) return;
  SampleMessage m{};
  m.at_ns = s.at_ns;
  m.connection = connection;
  m.buttons = s.buttons;
  put(m.position, s.pose.position);
  std::copy_n(s.pose.rotation.coeffs().data(), 4, m.rotation);
  put(m.linear, s.velocity.linear);
  put(m.angular, s.velocity.angular);
  m.grip = s.grip;
  m.grip_rate = s.grip_rate;
  sample_slot_.write(m);
  samples_.fetch_add(1, std::memory_order_release);
}

Wrench DeviceExchange::wrench_to_send(std::int64_t now_ns) noexcept {
  wrench_slot_.read(wrench_);
  const std::uint32_t connection = connection_.load(std::memory_order_relaxed);
  if (connection != 0 && wrench_.connection == connection && now_ns - wrench_.at_ns <= valid_ns_) {
    const Wrench out{get(wrench_.force), get(wrench_.torque)};
    if (!out.force.isZero(0.0) || !out.torque.isZero(0.0)) {
      handed_at_.store(now_ns, std::memory_order_release);
      handed_.fetch_add(1, std::memory_order_release);
    }
    return out;
  }
  withheld_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

bool DeviceExchange::take(HandleSample& s, std::int64_t now_ns) noexcept {
  const std::uint32_t connection = connection_.load(std::memory_order_acquire);
  sample_slot_.read(sample_);
  served_ = 0;
  if (connection == 0 || sample_.connection != connection || now_ns - sample_.at_ns > stale_ns_) return false;
  served_ = connection;
  s.at_ns = sample_.at_ns;
  s.buttons = sample_.buttons;
  s.pose.position = get(sample_.position);
  s.pose.rotation.coeffs() = Eigen::Map<const Eigen::Vector4d>(sample_.rotation);
  s.velocity = {get(sample_.linear), get(sample_.angular)};
  s.grip = sample_.grip;
  s.grip_rate = sample_.grip_rate;
  return true;
}

void DeviceExchange::give(const SafeWrench& wrench, std::int64_t now_ns) noexcept {
  WrenchMessage m{};
  m.at_ns = now_ns;
  m.connection = served_;
  put(m.force, wrench.force());
  put(m.torque, wrench.torque());
  wrench_slot_.write(m);
}

}  // namespace palpate
