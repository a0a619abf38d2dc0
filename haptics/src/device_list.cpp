#include "palpate/haptics/device_list.h"

namespace palpate {

std::vector<DeviceKind> list_device_kinds() {
  return {
      {"scripted", "an infinitely stiff hand that follows a path; the same input for every method"},
      {"replay", "a recorded hand, played back sample for sample"},
      {"simulated", "a device with inertia, friction and encoder in a compliant hand (omega, touch, ideal)"},
  };
}

}  // namespace palpate
