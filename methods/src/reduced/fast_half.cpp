#include <new>
#include <utility>

#include "reduced/halves.h"
#include "world_tool.h"

namespace palpate::reduced {
namespace {

/// One hand in the twin.
class FastReduced final : public FastHalf {
 public:
  FastReduced(const MethodContext& c, std::shared_ptr<Twin> twin, Part part)
      : twin_(std::move(twin)),
        leads_(part == Part::kLeads),
        tool_({twin_->world(), c.tool, c.dt, c.slow_period, c.start, c.settings, c.tool_number, nullptr}),
        shared_(c.shared ? c.shared : std::make_shared<SharedTick>()) {}

  void begin_tick(const DeviceState& device) noexcept override {
    tool_.aim(device);
    aimed_ = true;
    shared_->stepped = false;
  }

  TickResult tick_bytes(const DeviceState& device, const std::byte* model, std::byte* feedback) noexcept override {
    if (!aimed_) begin_tick(device);  // alone, nobody waits for it
    aimed_ = false;
    if (leads_) twin_->take(*std::launder(reinterpret_cast<const Model*>(model)));
    // Whoever comes first steps the twin; the others find it stepped. While the device of the one that leads has not
    // said anything yet, that is another, with the model that the twin began with.
    if (!std::exchange(shared_->stepped, true)) shared_->done = twin_->step();
    if (leads_) twin_->tell(*std::launder(reinterpret_cast<Feedback*>(feedback)));
    return tool_.read(shared_->done, twin_->report());
  }

 private:
  std::shared_ptr<Twin> twin_;
  const bool leads_;
  WorldTool tool_;
  std::shared_ptr<SharedTick> shared_;
  bool aimed_ = false;
};

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context, std::shared_ptr<Twin> twin, Part part) {
  return std::make_unique<FastReduced>(context, std::move(twin), part);
}

}  // namespace palpate::reduced
