#include "visit_methods.h"

namespace palpate {

void visit_jacobian(Fields&, JacobianSettings&) {}

}  // namespace palpate
