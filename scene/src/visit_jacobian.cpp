#include "visit_methods.h"

namespace palpate {

void visit_jacobian(Fields& f, JacobianSettings& s) {
  using Form = JacobianSettings::Form;
  using Answer = JacobianSettings::Answer;
  std::string form = s.form == Form::kInequality ? "inequality" : "equality";
  f.choice({.name = "form", .doc = "inequality: contacts push only, with friction; equality: the paper's, which hold"},
           form, {"inequality", "equality"});
  s.form = form == "equality" ? Form::kEquality : Form::kInequality;
  std::string answer = s.answer == Answer::kSlow ? "slow" : "fast";
  f.choice({.name = "answer", .doc = "time step of the world's answer to a contact force"}, answer, {"slow", "fast"});
  s.answer = answer == "fast" ? Answer::kFast : Answer::kSlow;
  f.boolean({.name = "track", .doc = "slow steps begin with the fast loop's tool; off: the paper's visual tool"},
            s.track);
  f.number({.name = "filter_time", .doc = "low-pass on the model of the equality form; 0: none", .unit = "s"},
           s.filter_time, {0.0, 10.0});
  f.number({.name = "blend", .doc = "share of a slow period over which a new model of the inequality form takes over"},
           s.blend, {0.0, 1.0});
  f.integer({.name = "max_contacts", .doc = "published; the deepest are kept"}, s.max_contacts,
            {1, JacobianSettings::kMost});
  f.number({.name = "tolerance", .doc = "of the contact solve in a tick", .unit = "m"}, s.tolerance, {0.0, 1.0, true});
  f.integer({.name = "max_iterations", .doc = "of the contact solve in a tick"}, s.max_iterations, {1, 10000});
}

}  // namespace palpate
