#include "palpate/experiments/experiment.h"

#include <array>
#include <nlohmann/json.hpp>

#include "experiments.h"
#include "palpate/core/error.h"
#include "palpate/scene/shape.h"

namespace palpate {
namespace {

using Wants = Experiment::Wants;

constexpr std::array kExperiments = {
    Experiment{"sine-static-halfspace",
               "the classic contact model on a static sine surface at 33 ms / 1 ms (Knott & Kuhlen 2015, Fig. 5, SCM)",
               &run_sine_static_halfspace, 10.0, Wants::kOneCore},
    Experiment{"wall-passivity",
               "a virtual wall below and far above the passive stiffness, and the passivity controller (Colgate & "
               "Schenkel 1997; Hannaford & Ryu 2002)",
               &run_wall_passivity, 10.0, Wants::kOneCore},
    Experiment{"rest",
               "a hand presses, strokes 10 mm and rests: what friction bears neither is forgotten nor creeps (our own)",
               &run_rest, 60.0},
    Experiment{"reduced-field", "all methods on fourteen scenes at 10 to 100 Hz, and where our own stands among them",
               &run_reduced_field, 500.0},
    Experiment{"reduced-stiffness",
               "our own method from 1 kPa to 1 MPa, at 10 to 100 Hz, under a hand that shakes at up to 11 Hz",
               &run_reduced_stiffness, 45.0},
    Experiment{"reduced-loop", "a hand that feels on a coupling of 2,000 N/m: our own method is stable, others are not",
               &run_reduced_loop, 40.0},
    Experiment{
        "rod",
        "a rod slid and rolled over a corner of a soft block and over a mesh at 0.3 m/s, slow loop at 10 Hz: how "
        "deep it goes in, and how far the force jumps (our own)",
        &run_rod, 60.0},
    Experiment{
        "dervaux-two-beams",
        "two joined beams, one a loop: symmetric at rest, and the fast one vibrates (Dervaux et al. 2013, Fig. 2)",
        &run_dervaux_two_beams, 15.0, Wants::kOneCore},
    Experiment{"dervaux-cylinder-wire",
               "a wire at 1 kHz drags, lifts and drops a soft cylinder at 50 Hz (Dervaux et al. 2013, Fig. 3)",
               &run_dervaux_cylinder_wire, 62.0},
    Experiment{
        "dervaux-error",
        "where the scheme of Dervaux et al. 2013 is good and where not: slow rates of 10 to 100 Hz, soft to stiff",
        &run_dervaux_error, 40.0},
    Experiment{"dervaux-rough",
               "ten minutes of rough handling, on soft and stiff bodies: minutes of computing (Dervaux et al. 2013)",
               &run_dervaux_rough, 850.0},
    Experiment{"dervaux-tick", "what both loops of the scheme of Dervaux et al. 2013 cost, with 10 to 50 beams",
               &run_dervaux_tick, 25.0, Wants::kMachine},
    Experiment{"otaduy-block",
               "a soft block under a cylinder at 10 to 60 Hz: force, cost, sticking (Otaduy & Gross 2007, Fig. 3)",
               &run_otaduy_block, 95.0},
    Experiment{"otaduy-liver", "a rod on a soft liver at 20 Hz (Otaduy & Gross 2007, Fig. 2)", &run_otaduy_liver, 60.0},
    Experiment{"otaduy-polyp", "a thin polyp bent far by a rod at 20 Hz (Otaduy & Gross 2007, Fig. 2)",
               &run_otaduy_polyp, 60.0},
    Experiment{"otaduy-polyp-rod",
               "the polyp bent by the end of a thin, light rod at 20 Hz (Otaduy & Gross 2007, Fig. 2)",
               &run_otaduy_polyp_rod, 57.0},
    Experiment{"knott-sine-static", "limited constraints on a static sine surface (Knott & Kuhlen 2015, Fig. 5, top)",
               &run_knott_sine_static, 10.0, Wants::kOneCore},
    Experiment{"knott-sine-soft", "the sine surface in a soft block (Knott & Kuhlen 2015, Figs. 5 and 7)",
               &run_knott_sine_soft, 40.0},
    Experiment{"knott-rocker-arm", "a static rocker arm (Knott & Kuhlen 2015, section 5.1)", &run_knott_rocker_arm,
               10.0, Wants::kOneCore},
    Experiment{"knott-fertility-rigid", "the rigid statue (Knott & Kuhlen 2015, Fig. 8)", &run_knott_fertility_rigid,
               10.0, Wants::kOneCore},
    Experiment{"knott-fertility-soft", "the soft statue, and performance (Knott & Kuhlen 2015, Figs. 9 and 10)",
               &run_knott_fertility_soft, 125.0},
    Experiment{"knott-seam", "a point that goes from one soft body over to another (Knott & Kuhlen 2015, eqs. 9 to 11)",
               &run_knott_seam, 20.0},
    Experiment{"knott-random-walk",
               "an hour of random hands over 20 random shapes with limited constraints, and over moving and soft ones",
               &run_knott_random_walk, 85.0},
    Experiment{"zhuang-rotation", "turning a body costs nothing in quadratic strain (Zhuang & Canny 2000, section 4)",
               &run_zhuang_rotation, 10.0, Wants::kOneCore},
    Experiment{"zhuang-twist", "a twisted tower in linear and in quadratic strain (Zhuang & Canny 2000, Fig. 2)",
               &run_zhuang_twist, 12.0, Wants::kOneCore},
    Experiment{"zhuang-bend", "a bent cantilever in linear and in quadratic strain (Zhuang & Canny 2000, Fig. 3)",
               &run_zhuang_bend, 15.0, Wants::kOneCore},
    Experiment{"zhuang-cantilever-hand", "a hand of five proxies lifts a soft cantilever (Zhuang & Canny 2000, Fig. 1)",
               &run_zhuang_hand, 10.0, Wants::kOneCore},
    Experiment{"zhuang-timestep",
               "the stable step without contact, with the scheme, with penalties (Zhuang & Canny 2000)",
               &run_zhuang_timestep, 60.0, Wants::kOneCore},
    Experiment{"zhuang-delay", "force error and energy against delay and stiffness (Zhuang & Canny 2000, section 6)",
               &run_zhuang_delay, 60.0, Wants::kOneCore},
    Experiment{"zhuang-realtime", "vertices in real time on one core, and growth (Zhuang & Canny 2000, section 6)",
               &run_zhuang_realtime, 10.0, Wants::kMachine},
    Experiment{"susa-cube", "a cube of 60 kg meets a pointer, three methods (Susa, Sato & Hasegawa 2011, Fig. 5)",
               &run_susa_cube, 10.0, Wants::kOneCore},
    Experiment{"susa-weight", "what a cube weighs when pushed at 10, 20 and 50 Hz, and when lifted by two fingers",
               &run_susa_weight, 10.0, Wants::kOneCore},
    Experiment{"susa-duty", "what 1 to 200 cubes cost with each method (Susa, Sato & Hasegawa 2011, Figs. 6 and 7)",
               &run_susa_duty, 130.0, Wants::kQuiet},
    Experiment{"susa-eighty", "eighty cubes pushed around for a minute: energy, overlap, cost", &run_susa_eighty, 30.0,
               Wants::kOneCore},
    Experiment{"susa-stand", "a jointed light stand and dice (Susa, Sato & Hasegawa 2011, Fig. 8)", &run_susa_stand,
               20.0, Wants::kOneCore},
    Experiment{"susa-neighbours", "2 to 32 cubes touched at once, where the paper's method broke at 8",
               &run_susa_neighbours, 10.0, Wants::kOneCore},
};

}  // namespace

std::span<const Experiment> registered_experiments() noexcept {
  return kExperiments;
}

const Experiment& find_experiment(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Experiment& e : kExperiments) {
    if (e.name == name) return e;
    names.push_back(e.name);
  }
  const std::string_view near = nearest_word(name, names);
  fail_input("no experiment {}; experiments: {}{}", quote_for_message(name), join_words(names),
             near.empty() ? std::string() : fmt::format(". Did you mean \"{}\"?", near));
}

std::string describe_stand_in(std::string_view file, std::string_view own) {
  return fmt::format("{} is not there ({}): Palpate's own {} stands in.", file,
                     data_folder().empty() ? "PALPATE_DATA is not set" : "in the folder that PALPATE_DATA names", own);
}

Report make_experiment_report(const Experiment& experiment, const ExperimentResult& result,
                              const ExpectedComparison& expected) {
  Report report = result.report;
  if (report.title.empty()) report.title = experiment.name;
  if (report.subtitle.empty()) report.subtitle = experiment.description;
  for (const std::string& note : result.notes) report.paragraphs.push_back(note);
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    const MeasuredClaim& c = result.claims[i];
    const char* relation = c.relation == MeasuredClaim::Relation::kAtMost ? "≤" : "≥";
    report.claims.push_back({c.name, c.paper, format_quantity(c.measured, c.unit),
                             fmt::format("{} {}", relation, format_quantity(c.limit, c.unit)), c.holds(),
                             i < expected.claims.size() ? expected.claims[i].reason : std::string()});
  }
  return report;
}

std::string make_experiments_json(const std::vector<NamedResult>& results) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const NamedResult& r : results) {
    nlohmann::ordered_json claims = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < r.claims.size(); ++i) {
      const MeasuredClaim& c = r.claims[i];
      const bool known = i < r.expected.claims.size();
      claims.push_back({{"name", c.name},
                        {"paper", c.paper},
                        {"measured", c.measured},
                        {"limit", c.limit},
                        {"relation", c.relation == MeasuredClaim::Relation::kAtMost ? "at most" : "at least"},
                        {"unit", c.unit},
                        {"timed", c.timed},
                        {"holds", c.holds()},
                        {"standing", standing_name(known ? r.expected.claims[i].standing : Standing::kUnknown)},
                        {"reason", known ? r.expected.claims[i].reason : std::string()}});
    }
    all.push_back({{"name", r.name},
                   {"report", r.report},
                   {"claims", std::move(claims)},
                   {"missing", r.expected.missing},
                   {"notes", r.notes}});
  }
  return nlohmann::ordered_json{{"experiments", std::move(all)}}.dump(2);
}

}  // namespace palpate
