#pragma once

#include "palpate/scene/scene.h"

namespace palpate {

/// Throws InputError if a scene that a page sent would take more memory or time than a page may ask for: triangles of
/// all surfaces, cells of soft bodies, bodies. Makes the surfaces of soft bodies.
void check_bounds(const Scene& scene);

}  // namespace palpate
