#pragma once

#include "palpate/core/fields.h"
#include "palpate/scene/scene.h"

// The description of scenes, part by part. What methods, the coupling, the safety stage and the rates can be told is
// described where they are.
namespace palpate {

inline constexpr Range kLength{0.0, 1e3, true};  ///< of a thing [m]

void describe(Fields& f, Scene& scene);
void describe(Fields& f, WorldSettings& world);
void describe(Fields& f, SceneShape& shape);
void describe(Fields& f, SceneBody& body);
void describe(Fields& f, SceneJoint& joint);
void describe(Fields& f, SceneTool& tool);
void describe(Fields& f, SceneHand& hand);
void describe(Fields& f, Material& material, const Material& standard = kTissue);

/// The key "shape".
void describe_shape(Fields& f, std::string_view doc, SceneShape& shape);
/// The key "material" of things that are of `standard` where nothing is said; `def` is its name in the schema.
void describe_material(Fields& f, std::string_view def, Material& material, const Material& standard);
/// The key "rotation": a rotation vector.
void describe_rotation(Fields& f, Vec3& rotation, const Vec3& standard = Vec3::Zero());

}  // namespace palpate
