#pragma once

#include "fields.h"
#include "palpate/bodies/material.h"
#include "palpate/geometry/tet_mesh.h"
#include "palpate/scene/scene.h"

namespace palpate {

/// A closed or open surface that a scene asks for.
struct SceneShape {
  std::string kind;                            ///< e.g. "box" or "mesh"
  std::function<TriangleMesh()> make_surface;  ///< in its own frame; throws InputError
  Vec3 size = Vec3::Zero();                    ///< of a box; a sphere's diameter
};

/// An item of a scene's "bodies". `scene_file`: mesh files are relative to its folder.
void visit_body(Fields& f, const std::string& scene_file, SceneBody& body);
/// An item of a scene's "joints".
void visit_joint(Fields& f, SceneJoint& joint);
/// The key "tool".
void visit_tool(Fields& f, const std::string& scene_file, Scene& scene);

/// The shape filled with tets of about `cell` [m], in its own frame; a box becomes a regular block. Throws InputError.
TetMesh make_shape_tets(const SceneShape& shape, double cell);

void visit_shape(Fields& f, const std::string& scene_file, SceneShape& shape);
void visit_material(Fields& f, Material& material);
/// "rotation": a rotation vector in radians.
void visit_rotation(Fields& f, Quat& rotation);

/// A file named in a scene: relative to the scene's folder, or "data:…" in data_folder().
std::string resolve_file(const std::string& name, const std::string& scene_file);

}  // namespace palpate
