#pragma once

#include <memory>

#include "reduced/messages.h"
#include "reduced/reduction.h"
#include "reduced/twin.h"

namespace palpate::reduced {

/// Follows what the fast loop did with the soft bodies, and makes a model of each. Nothing else is stepped: contacts,
/// rigid bodies and chains live in the fast loop, and the slow loop's world shows where they are.
class SlowReduced final : public SlowHalf {
 public:
  SlowReduced(const MethodContext& context, const Layout& layout);

  /// The model of the world as it is, which is what the fast loop begins with.
  bool make_first_model(Model& model);
  std::span<Reduction> reductions() noexcept { return reductions_; }

  StepWish begin_bytes(const std::byte* feedback, std::byte* model, StepReport& report) override;
  void read_tick_bytes(const FreeTick&, std::byte*, StepReport&) noexcept override {}
  void read_solved_bytes(const SolvedStep&, std::byte*, StepReport&) override {}
  void read_advanced_bytes(const AdvancedStep&, std::byte*, StepReport&) override {}
  void finish_bytes(bool, std::byte*, StepReport&) override {}
  void show_bytes(const std::byte* model, ModelView& view) const noexcept override;

 private:
  void follow(const Feedback& feedback);
  bool make_model(std::uint64_t tick, double ahead, Model& model);
  void begin_with(const Model& model);
  void compute_distances(int index, const Reduction& reduction, double ahead);
  void list_points(const Body& body, double until);

  World& world_;
  const double dt_, slow_period_;
  const Layout layout_;
  std::unique_ptr<SecondThread> second_;  ///< does part of what a model takes; null: all bodies are small
  std::vector<Reduction> reductions_;
  std::uint64_t models_ = 0;               ///< so many were made
  Reduction::Distances distances_;         ///< of one body's vertices
  std::vector<Vec3> points_, velocities_;  ///< on a body's surface [m, m/s]
};

/// The slow half of tools whose models another one makes. Theirs say nothing but when they were made, so that a slow
/// loop that stands still fades every hand's force.
class SlowFollower final : public SlowHalf {
 public:
  StepWish begin_bytes(const std::byte*, std::byte*, StepReport&) override { return {.step = false}; }
  void read_tick_bytes(const FreeTick&, std::byte*, StepReport&) noexcept override {}
  void read_solved_bytes(const SolvedStep&, std::byte*, StepReport&) override {}
  void read_advanced_bytes(const AdvancedStep&, std::byte*, StepReport&) override {}
  void finish_bytes(bool, std::byte*, StepReport&) override {}
};

/// Of the tools of one world the first leads: its messages are Model and Feedback. The others follow, and have none.
enum class Part : std::uint8_t { kLeads, kFollows };

/// Steps the twin in every tick, once for all the tools in it.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context, std::shared_ptr<Twin> twin, Part part);

}  // namespace palpate::reduced
