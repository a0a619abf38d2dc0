#include "visit_methods.h"

namespace palpate {

void visit_compliance(Fields&, ComplianceSettings&) {}

}  // namespace palpate
