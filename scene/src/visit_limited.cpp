#include "visit_methods.h"

namespace palpate {

void visit_limited(Fields&, LimitedSettings&) {}

}  // namespace palpate
