#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "palpate/experiments/experiment.h"

namespace palpate {

/// Whether a verdict on a claim says nothing of the program: it is a time, and one was measured. Where there was nothing
/// to time, that is no matter of the machine.
bool depends_on_machine(const MeasuredClaim& claim) noexcept;

/// What is expected of the claims of experiments: a file that belongs to the program, kept by hand and by
/// `reproduce --write-expected`. A claim that stands there as not holding has a reason.
class ExpectedClaims {
 public:
  /// That of this program. Throws std::logic_error if it is not as described in docs/experiments.md.
  static ExpectedClaims load();
  /// From the text of such a file; throws InputError that names place and value.
  static ExpectedClaims parse(std::string_view text);

  /// `experiment` as registered. Where notes say that something stood in for a mesh, other claims are expected, and so
  /// they are of the quick form.
  ExpectedComparison compare(std::string_view experiment, const std::vector<MeasuredClaim>& claims,
                             const std::vector<std::string>& notes, bool quick) const;
  /// Takes over what was measured. Reasons stay with the claims that they were given for.
  void update(std::string_view experiment, const std::vector<MeasuredClaim>& claims,
              const std::vector<std::string>& notes, bool quick);
  std::string text() const;

 private:
  struct Expected {
    bool holds = true;
    std::string reason{};
  };
  /// By "full" or "quick", experiment and claim.
  std::map<std::string, std::map<std::string, std::vector<std::pair<std::string, Expected>>>> forms_;
};

}  // namespace palpate
