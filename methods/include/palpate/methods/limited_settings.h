#pragma once

namespace palpate {

/// Of method `limited` (Knott & Kuhlen 2015).
struct LimitedSettings {};

}  // namespace palpate
