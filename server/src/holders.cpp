#include "holders.h"

namespace palpate {

bool Holders::hold(std::size_t tool, std::uint64_t page, double now) noexcept {
  Entry& e = tools_[tool];
  Tool& t = e.tool;
  if (t.holder == 0 && (t.reserved == 0 || t.reserved == page)) {
    t.holder = page;
    t.reserved = 0;
    if (t.asker == page) t.asker = 0;
  }
  if (t.holder != page) return false;
  e.heard = now;
  return true;
}

void Holders::release(Entry& e, double now) noexcept {
  e.tool = {.reserved = e.tool.asker};
  e.until = now + kReserved;
}

bool Holders::let_go(std::size_t tool, std::uint64_t page, double now) noexcept {
  Entry& e = tools_[tool];
  if (e.tool.holder != page) return false;
  release(e, now);
  return true;
}

void Holders::ask(std::size_t tool, std::uint64_t page, double now) noexcept {
  Entry& e = tools_[tool];
  if (e.tool.holder == page || e.tool.reserved == page || e.tool.asker != 0) return;
  e.tool.asker = page;
  e.heard = now;
  if (e.tool.holder == 0 && e.tool.reserved == 0) release(e, now);
}

bool Holders::give(std::size_t tool, std::uint64_t page, double now) noexcept {
  return tools_[tool].tool.asker != 0 && let_go(tool, page, now);
}

bool Holders::keep(std::size_t tool, std::uint64_t page, double now) noexcept {
  Entry& e = tools_[tool];
  if (e.tool.holder != page || e.tool.asker == 0) return false;
  e.tool.asker = 0;
  e.heard = now;
  return true;
}

void Holders::update(double now, const std::function<bool(std::uint64_t)>& is_connected,
                     const std::function<void(std::size_t)>& free) {
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    Entry& e = tools_[i];
    Tool& t = e.tool;
    if (t.asker != 0 && !is_connected(t.asker)) t.asker = 0;
    const bool silent = t.asker != 0 && now >= e.heard + kSilence;
    if (t.holder != 0 && (silent || !is_connected(t.holder))) {
      release(e, now);
      free(i);
    }
    if (t.reserved != 0 && (now >= e.until || !is_connected(t.reserved))) release(e, now);
  }
}

void Holders::clear(double now) noexcept {
  for (Entry& e : tools_) {
    if (e.tool.holder != 0) release(e, now);
  }
}

}  // namespace palpate
