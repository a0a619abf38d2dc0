#pragma once

namespace palpate {

class Fields;

/// Of method `reduced`.
struct ReducedSettings {
  /// Over how many slow steps the factorisation of a soft body's systems is spread. Models are made of answers from
  /// factors that are up to twice as many steps old, with the stiffness of now. 1: every step has its own. 0: as many
  /// as the body's size demands, one up to some 20,000 tets.
  int factor_steps = 0;
  /// How many states a soft body may have. Fewer make slow steps and ticks shorter, and what a model leaves out larger;
  /// a body beyond some 20,000 tets has 64 at most in any case.
  int states = 120;
  bool operator==(const ReducedSettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, ReducedSettings& settings);

}  // namespace palpate
