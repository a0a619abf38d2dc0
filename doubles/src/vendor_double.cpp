#include "palpate/doubles/vendor_double.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>

#include "fault_queue.h"
#include "palpate/core/error.h"
#include "palpate/doubles/vendor_hooks.h"

namespace palpate {

struct VendorDouble::Hooks {
  explicit Hooks(DoubleHand& h) : hand(h) {
    hooks.context = this;
    hooks.now = [](void* c, double p[3], double q[4], double v[3], unsigned* buttons, double* grip) {
      const HandleTruth t = static_cast<Hooks*>(c)->hand.now();
      std::copy_n(t.pose.position.data(), 3, p);
      q[0] = t.pose.rotation.w();
      std::copy_n(t.pose.rotation.vec().data(), 3, q + 1);
      std::copy_n(t.velocity.linear.data(), 3, v);
      *buttons = t.buttons;
      *grip = t.grip;
    };
    hooks.push = [](void* c, const double f[3], const double t[3]) {
      static_cast<Hooks*>(c)->hand.push({Vec3(f[0], f[1], f[2]), Vec3(t[0], t[1], t[2])}, 0.02);
    };
    hooks.let_go = [](void* c) { static_cast<Hooks*>(c)->hand.let_go(); };
    hooks.next_fault = [](void* c, double* seconds) {
      const auto item = static_cast<Hooks*>(c)->faults.next();
      if (!item) return -1;
      *seconds = item->seconds;
      return static_cast<int>(item->fault);
    };
    hooks.is_plugged = [](void* c) { return static_cast<Hooks*>(c)->plugged.load() ? 1 : 0; };
  }

  DoubleHand& hand;
  PalpateDoubleHand hooks{};
  FaultQueue faults;
  std::atomic<bool> plugged{true};
  void* library = nullptr;
  int device = 0;
  void (*use)(int, const PalpateDoubleHand*) = nullptr;
};

VendorDouble::VendorDouble(DoubleHand& hand, const std::string& path, int device)
    : hooks_(std::make_unique<Hooks>(hand)) {
  hooks_->device = device;
  // It stays loaded: the thread sanitizer does not see that the loader puts one library where another one was, and
  // takes the new one's constructors for a race with the old one's last calls.
  hooks_->library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!hooks_->library) fail_input("{}", ::dlerror());
  hooks_->use =
      reinterpret_cast<void (*)(int, const PalpateDoubleHand*)>(::dlsym(hooks_->library, "palpate_double_use"));
  if (!hooks_->use) fail_input("{}: is no double", path);
  hooks_->use(device, &hooks_->hooks);
}

VendorDouble::~VendorDouble() {
  if (hooks_->use) hooks_->use(hooks_->device, nullptr);
  if (hooks_->library) ::dlclose(hooks_->library);
}

void VendorDouble::plug(bool in) {
  hooks_->plugged = in;
  if (!in) hooks_->hand.let_go();
}

void VendorDouble::inject(Fault fault, double seconds) {
  hooks_->faults.inject(fault, seconds);
}

std::uint64_t VendorDouble::faults_done() const noexcept {
  return hooks_->faults.done();
}

}  // namespace palpate
