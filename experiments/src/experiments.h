#pragma once

#include "palpate/experiments/experiment.h"

// One function an experiment, each in a file of its own name.
namespace palpate {

/// The note of an experiment whose mesh of the data folder is not there: `own` is the shape that stands in.
std::string describe_stand_in(std::string_view file, std::string_view own);

ExperimentResult run_dervaux_cylinder_wire(const ExperimentOptions& options);
ExperimentResult run_dervaux_error(const ExperimentOptions& options);
ExperimentResult run_dervaux_rough(const ExperimentOptions& options);
ExperimentResult run_dervaux_tick(const ExperimentOptions& options);
ExperimentResult run_dervaux_two_beams(const ExperimentOptions& options);
ExperimentResult run_knott_fertility_rigid(const ExperimentOptions& options);
ExperimentResult run_knott_fertility_soft(const ExperimentOptions& options);
ExperimentResult run_knott_random_walk(const ExperimentOptions& options);
ExperimentResult run_knott_rocker_arm(const ExperimentOptions& options);
ExperimentResult run_knott_seam(const ExperimentOptions& options);
ExperimentResult run_knott_sine_soft(const ExperimentOptions& options);
ExperimentResult run_knott_sine_static(const ExperimentOptions& options);
ExperimentResult run_otaduy_block(const ExperimentOptions& options);
ExperimentResult run_otaduy_liver(const ExperimentOptions& options);
ExperimentResult run_otaduy_polyp(const ExperimentOptions& options);
ExperimentResult run_otaduy_polyp_rod(const ExperimentOptions& options);
ExperimentResult run_reduced_field(const ExperimentOptions& options);
ExperimentResult run_reduced_loop(const ExperimentOptions& options);
ExperimentResult run_reduced_stiffness(const ExperimentOptions& options);
ExperimentResult run_rest(const ExperimentOptions& options);
ExperimentResult run_rod(const ExperimentOptions& options);
ExperimentResult run_sine_static_halfspace(const ExperimentOptions& options);
ExperimentResult run_susa_cube(const ExperimentOptions& options);
ExperimentResult run_susa_duty(const ExperimentOptions& options);
ExperimentResult run_susa_eighty(const ExperimentOptions& options);
ExperimentResult run_susa_neighbours(const ExperimentOptions& options);
ExperimentResult run_susa_stand(const ExperimentOptions& options);
ExperimentResult run_susa_weight(const ExperimentOptions& options);
ExperimentResult run_wall_passivity(const ExperimentOptions& options);
ExperimentResult run_zhuang_bend(const ExperimentOptions& options);
ExperimentResult run_zhuang_delay(const ExperimentOptions& options);
ExperimentResult run_zhuang_hand(const ExperimentOptions& options);
ExperimentResult run_zhuang_realtime(const ExperimentOptions& options);
ExperimentResult run_zhuang_rotation(const ExperimentOptions& options);
ExperimentResult run_zhuang_timestep(const ExperimentOptions& options);
ExperimentResult run_zhuang_twist(const ExperimentOptions& options);

}  // namespace palpate
