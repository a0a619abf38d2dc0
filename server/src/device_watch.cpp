#include "device_watch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace palpate {
namespace {

using DeviceJson = nlohmann::ordered_json;

constexpr double kPastPeriod = 0.5;  // between two that are kept [s]
constexpr std::size_t kPastKept = 20;
constexpr std::size_t kRateOver = 2;  // of those kept: what a rate is told of

DeviceJson to_json(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}
DeviceJson to_json(const double (&v)[3]) {
  return {v[0], v[1], v[2]};
}

std::vector<std::string> list_reasons(unsigned reasons) {
  std::vector<std::string> out;
  if ((reasons & DeviceDesk::kByHand) != 0) out.emplace_back("hand");
  if ((reasons & DeviceDesk::kByPause) != 0) out.emplace_back("pause");
  return out;
}

}  // namespace

DeviceWatch::DeviceWatch(std::span<const std::unique_ptr<RealHand>> hands) : hands_(hands), watched_(hands.size()) {}

bool DeviceWatch::any() const noexcept {
  return std::any_of(hands_.begin(), hands_.end(), [](const auto& hand) { return hand != nullptr; });
}

Scene DeviceWatch::with_devices(Scene scene, const Scene& first) const {
  for (std::size_t i = 0; i < std::min(scene.tools.size(), first.tools.size()); ++i) {
    if (find(i) && !scene.tools[i].device) scene.tools[i].device = first.tools[i].device;
  }
  return scene;
}

void DeviceWatch::stop(DeviceDesk::Reason why) noexcept {
  for (const auto& hand : hands_) {
    if (hand) hand->desk().stop(why);
  }
}

void DeviceWatch::resume(DeviceDesk::Reason why) noexcept {
  for (const auto& hand : hands_) {
    if (hand) hand->desk().resume(why);
  }
}

std::string DeviceWatch::make_message(double now) {
  DeviceJson all = DeviceJson::array();
  for (std::size_t i = 0; i < hands_.size(); ++i) {
    if (!hands_[i]) {
      all.push_back(nullptr);
      continue;
    }
    RealHand& hand = *hands_[i];
    const DriverDevice& driver = hand.driver();
    Watched& w = watched_[i];
    if (w.past.empty() || now >= w.past.back().time + kPastPeriod)
      w.past.push_back({now, driver.samples(), driver.live_round_trips().counts()});
    if (w.past.size() > kPastKept) w.past.pop_front();
    hand.desk().read(w.reading);
    const DeviceReading& r = w.reading;
    const Vec3 at(r.position[0], r.position[1], r.position[2]);
    w.reached_min = w.reached_min.cwiseMin(at);
    w.reached_max = w.reached_max.cwiseMax(at);

    const Past& before = w.past[w.past.size() > kRateOver ? w.past.size() - 1 - kRateOver : 0];
    const double rate =
        now > before.time ? static_cast<double>(driver.samples() - before.samples) / (now - before.time) : 0.0;
    Counts trips = driver.live_round_trips().counts();
    for (std::size_t k = 0; k < trips.size(); ++k) trips[k] -= w.past.front().round_trips[k];

    const DeviceInfo& info = hand.info();
    const bool known = info.workspace_min.allFinite() && info.workspace_max.allFinite();
    all.push_back({{"name", info.name},
                   {"phase", name_of(r.phase)},
                   {"stopped", list_reasons(hand.desk().reasons())},
                   {"loss", driver.loss() == Loss::kNone ? "" : std::string(name_of(driver.loss()))},
                   {"losses", hand.losses()},
                   {"workspace",
                    {{"known", known},
                     {"min", to_json(known ? info.workspace_min : w.reached_min)},
                     {"max", to_json(known ? info.workspace_max : w.reached_max)}}},
                   {"position", to_json(r.position)},
                   {"clutch_button", hand.mapping().clutch_button},
                   {"clutched", r.clutched},
                   {"asked", to_json(r.asked)},
                   {"sent", to_json(r.sent)},
                   {"max_force", std::isfinite(info.max_force) ? info.max_force : 0.0},
                   {"share", r.share},
                   {"grip", r.grip},
                   {"buttons", r.buttons},
                   {"scale", hand.mapping().scale},
                   {"rate", rate},
                   {"round_trip_edges_us", RoundTripBins::kEdgesUs},
                   {"round_trips", trips}});
  }
  return DeviceJson{{"devices", all}}.dump();
}

}  // namespace palpate
