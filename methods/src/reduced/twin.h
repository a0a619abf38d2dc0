#pragma once

#include <span>
#include <vector>

#include "reduced/messages.h"
#include "reduced/reduced_body.h"
#include "reduced/reduction.h"

namespace palpate::reduced {

/// The world as the fast loop has it, in which soft bodies are ReducedBody: one for all the tools that are in it.
///
/// Thread: the fast loop's. After set-up nothing allocates or throws, and a step is bounded by the models' size.
class Twin {
 public:
  /// `first` is copied. The world's tools are in it, each as its own settings have it.
  Twin(const MethodContext& context, const Layout& layout, const Model& first, std::span<const Reduction> reductions);
  Twin(const Twin&) = delete;  // its bodies look into the model that it keeps
  Twin& operator=(const Twin&) = delete;

  World& world() noexcept { return world_; }

  /// The newest model, which outlives the next step; one of sequence 0 is none.
  void take(const Model& model) noexcept;
  /// A tick of all bodies, with the tools' grips as they are. False: it could not be done, or the newest model is one
  /// that could not be made. Then nothing moves, and the safety stage takes the forces down.
  bool step() noexcept;
  /// Of the last tick that was done.
  const StepReport& report() const noexcept { return step_; }
  void tell(Feedback& out) const noexcept;

 private:
  /// A soft body of the twin.
  struct SoftBody {
    ReducedBody* body;
    BodyLayout at;
    std::vector<double> impulses;  ///< of the vertices, since the start [N·s]
  };

  World make_world(const MethodContext& c, std::span<const Reduction> reductions);
  void take_over(const Model& model) noexcept;
  void look_around() noexcept;
  bool has_left_its_region() const noexcept;
  void record() noexcept;

  const Layout layout_;
  const double dt_;
  std::vector<double> first_memory_;
  const Model* first_;  ///< until one arrives
  std::vector<SoftBody> soft_;
  World world_;
  bool valid_ = true;  ///< the newest model
  std::uint64_t tick_ = 0;
  std::uint64_t model_number_ = 0, sequence_ = 0;  ///< of the model in use
  std::int32_t age_ = 0;                           ///< of that model when it came [ticks]
  StepReport step_;                                ///< of the last tick
  std::uint64_t next_look_ = 1;                    ///< tick before which soft bodies are told again what is near them
  std::vector<BoundingBox> regions_;               ///< of each body of the world, in which it is expected until then
  std::vector<BoundingBox> others_;                ///< scratch: those that one body may meet
  std::vector<ContactShape::Plane> planes_;        ///< of the world, as far as something may come to them
};

}  // namespace palpate::reduced
