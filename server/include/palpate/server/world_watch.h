#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "palpate/core/latest_value.h"
#include "palpate/methods/method.h"
#include "palpate/runtime/run.h"

namespace palpate {

/// A look at a world while it moves: the loop that moves it copies surfaces, contacts, and on demand stress and the
/// contact model out, the viewer takes the newest copy. Neither waits for the other.
class WorldWatch final : public LoopWatch {
 public:
  /// Most contacts shown.
  static constexpr std::size_t kMaxContacts = 256;

  struct Contact {
    float point[3];   ///< [m]
    float normal[3];  ///< unit, towards the tool, or body a of two others
    float force[3];   ///< on that body, world frame [N]
  };

  /// `fingers` of each tool, which are no bodies of the world; tools at the end that have none may be missing.
  explicit WorldWatch(const World& world, std::vector<std::vector<Finger>> fingers = {});

  /// Places on the scene's hands' ways, so that pages look there too; empty: not known.
  void set_ways(std::vector<Vec3> ways) noexcept { ways_ = std::move(ways); }
  /// Which loop moves the world: the fast one, so that every sixteenth tick copies it out, or the slow one, so that
  /// every step does. Before a run.
  void set_moves_in_ticks(bool in_ticks) noexcept { moves_in_ticks_ = in_ticks; }
  void after_step(const StepRow& row, std::span<const ToolMessages> tools) override;
  void after_tick(std::span<const TickRow> rows) noexcept override;

  /// Viewer: what takes time is done only while somebody looks at it.
  void want(bool model, bool stress) noexcept {
    want_model_.store(model, std::memory_order_relaxed);
    want_stress_.store(stress, std::memory_order_relaxed);
  }

  /// Viewer: true if there is a newer copy.
  bool refresh() noexcept { return copies_.refresh(); }
  // Viewer: of the newest copy, valid until the next refresh().
  std::span<const float> positions() const noexcept;  ///< x, y, z of each vertex of all surfaces that move, in order
  std::span<const float> stress() const noexcept;     ///< von Mises of each [Pa], −1: none; empty unless wanted
  std::span<const Contact> contacts() const noexcept;
  std::span<const ModelView::Face> faces() const noexcept;
  std::span<const ModelView::ReducedBody> reduced() const noexcept;

  std::span<const Finger> fingers(std::size_t tool) const noexcept {
    return tool < fingers_.size() ? std::span<const Finger>(fingers_[tool]) : std::span<const Finger>();
  }

  /// What does not change, as one message: a number that surfaces refer to it by, a JSON text with `name` in it (its
  /// length first, padded to four bytes), then positions as float and triangles as uint32 of every surface in order,
  /// fingers last. Bodies and fingers say which tool they belong to, −1: none.
  std::string make_geometry(std::uint32_t number, const std::string& name) const;
  /// The newest copy as a message of sections, "SURF" (that number) first.
  std::string make_surface(std::uint32_t number) const;
  /// Puts another number into such messages.
  static void renumber_geometry(std::string& geometry, std::uint32_t number);
  static void renumber_surface(std::string& surface, std::uint32_t number);

  /// Copies the world out. Thread: the one that moves the world. No allocation.
  void copy_out() noexcept;

 private:
  struct Shown {
    int body = -1;  ///< of the world; −1 − i: static surface i
    std::size_t first = 0, vertices = 0;
  };
  /// A copy: this, room for all contacts, faces and reduced bodies, positions, stress.
  struct Head {
    std::uint64_t contacts, faces, reduced, stressed;
  };
  static constexpr std::size_t kContactsAt = sizeof(Head);
  static constexpr std::size_t kFacesAt = kContactsAt + kMaxContacts * sizeof(Contact);
  static constexpr std::size_t kReducedAt = kFacesAt + ModelView::kMaxFaces * sizeof(ModelView::Face);
  static constexpr std::size_t kPositionsAt = kReducedAt + ModelView::kMaxBodies * sizeof(ModelView::ReducedBody);

  std::uint64_t copy_contacts(std::byte* to) const noexcept;
  Head head() const noexcept;
  template <typename T>
  std::span<const T> part(std::size_t at, std::size_t count) const noexcept {
    return {reinterpret_cast<const T*>(copies_.read_slot() + at), count};
  }

  const World& world_;
  const std::vector<std::vector<Finger>> fingers_;  ///< of the tools
  std::vector<Vec3> ways_;
  bool moves_in_ticks_ = false;
  std::uint64_t ticks_ = 0;   ///< fast thread
  std::vector<Shown> shown_;  ///< those that move first
  std::size_t vertices_ = 0;  ///< of those that move
  LatestBytes copies_;
  ModelView view_;  ///< of the last step
  std::atomic<bool> want_model_{false}, want_stress_{false};
};

}  // namespace palpate
