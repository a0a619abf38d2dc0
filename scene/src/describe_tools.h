#pragma once

#include "describe.h"

namespace palpate {

/// The tools of a scene, which a file gives in one of two forms: one tool by keys of the scene itself, or the list
/// "tools". The parts stand apart in a file and are to be visited in the order of these functions. In the second form
/// the scene's own keys are the standard values of what a tool leaves out; only what is read has them, since what is
/// written says everything with the tool.
class ToolsDescription {
 public:
  ToolsDescription(Fields& f, Scene& scene);
  void visit_method(Fields& f);
  void visit_tool(Fields& f);
  /// After the rates, which the standard of "safety" follows.
  void visit_guards(Fields& f);
  /// "hand", or "tools"; after the bodies, whose names are not for tools.
  void visit_rest(Fields& f);

 private:
  HeldTool& own() { return listed_ ? standard_ : scene_.tools.front(); }

  Scene& scene_;
  bool listed_;
  HeldTool standard_;  ///< what the scene's own keys say in the second form
};

}  // namespace palpate
