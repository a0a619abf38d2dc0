#pragma once

#include "fields.h"
#include "palpate/scene/scene.h"

namespace palpate {

/// An item of a scene's "bodies". `scene_file`: mesh files are relative to its folder.
void visit_body(Fields& f, const std::string& scene_file, SceneBody& body);

/// A file named in a scene: relative to the scene's folder, or "data:…" in data_folder().
std::string resolve_file(const std::string& name, const std::string& scene_file);

/// "rotation": a rotation vector in radians.
void visit_rotation(Fields& f, Quat& rotation);

}  // namespace palpate
