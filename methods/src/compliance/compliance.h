#pragma once

#include "palpate/methods/method.h"

namespace palpate {

/// Stiff and soft bodies at different rates (Dervaux, Peterlík, Dequidt, Cotin & Duriez 2013).
///
/// The slow loop steps the whole world at ΔT with a proxy of the tool in it, and publishes all constraints with their
/// violation and compliance at dt as the tool meets them: everything but the tool's own part. The fast loop has a tool
/// of its own, adds that part every tick, and solves the same mixed complementarity problem at dt. The scheme knows the
/// tool only as a Body, so points and rigid tools do as well as chains. docs/methods/compliance.md.
Method make_compliance(const MethodContext& context);

/// Why it cannot work there; empty if it can.
std::string refuse_compliance(const ToolInWorld& context);

}  // namespace palpate
