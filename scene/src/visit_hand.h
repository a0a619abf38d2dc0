#pragma once

#include "fields.h"
#include "palpate/scene/scene.h"

namespace palpate {

/// The key "hand" of a scene.
void visit_hand(Fields& f, Scene& scene);

}  // namespace palpate
