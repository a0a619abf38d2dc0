#pragma once

#include <cstddef>

namespace palpate {

/// So many rigid bodies that move may be beside the tool where contacts live in the tick (`compliance`, `jacobian`): a
/// matter of what a tick has time for. Where there are more, contacts are held.
inline constexpr std::size_t kMaxLiveRigid = 8;

}  // namespace palpate
