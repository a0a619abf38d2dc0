#pragma once

#include "palpate/methods/method.h"

namespace palpate::reference {

/// Nothing: no slow half fills it.
struct Model {
  MessageHeader header;
};

/// Nothing: no slow half reads it.
struct Feedback {
  MessageHeader header;
};

}  // namespace palpate::reference
