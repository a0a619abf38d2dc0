#pragma once

// Scene files that several tests read.
namespace palpate::testing {

/// A scene that has something of every kind, nothing of it as it would be anyway.
inline constexpr const char* kEverything = R"({
  "$schema": "scene.schema.json", "format": 1, "name": "all", "description": "Über \"alles\"\n", "seconds": 0.1, "method": "jacobian",
  "methods": {
    "limited": { "radius": 0.011, "max_constraints": 99, "max_moving_vertices": 33, "depth": 0.003, "tolerance": 1e-9, "max_iterations": 7 },
    "compliance": { "force": "constraints", "lookahead": 2, "tolerance": 1e-7, "max_iterations": 61, "max_seconds": 0.01, "environment_rows": 3 },
    "jacobian": { "form": "equality", "answer": "fast", "track": false, "filter_time": 0.1, "blend": 0.5, "max_contacts": 9, "tolerance": 1e-7, "max_iterations": 41 },
    "interpolation": { "contact": "penalty", "penalty_stiffness": 7, "display": "extrapolate", "force": "end", "predict": true, "linear_strain": true,
      "margin": 0.8, "time_step": 1e-4, "max_steps": 9, "push_out_speed": 0.1, "max_speed": 3 },
    "accelerance": { "way": "tests", "coupled": false, "local_contacts": false, "reach": 0.03, "max_neighbours": 5, "test_force": 0.2, "max_bodies": 4, "tolerance": 1e-6, "max_iterations": 13 }
  },
  "rates": { "dt": 0.002, "slow_period": 0.03, "latency": 0.01, "extra_latency": 0.001, "stall_from": 1, "stall_until": 2 },
  "tool": { "type": "rigid", "shape": { "type": "torus", "major_radius": 0.06, "minor_radius": 0.01, "around": 12, "around_tube": 11 }, "offset": [0, 0.01, 0],
    "mass": 0.02, "convex": false, "friction": 0.1,
    "coupling": { "stiffness": 400, "damping": 0.7, "rotational_stiffness": 0.1, "rotational_damping": 1e-3 } },
  "world": { "gravity": [0, -1, -0.0], "alarm_distance": 0.004, "max_contacts": 99, "max_contacts_per_pair": 9, "max_contacts_per_soft_pair": 8,
    "push_out_speed": 0.4, "max_turn": 0.2,
    "solver": { "name": "direct", "tolerance": 1e-6, "max_iterations": 9, "max_seconds": 1, "pyramid": true } },
  "safety": { "max_force": 3, "max_torque": 0, "max_force_rate": 1000, "max_torque_rate": 99, "ramp_time": 0.1, "stale_after": 0.3, "fade_time": 0.2 },
  "passivity": { "allowance": 0.01, "credit_limit": 0.2, "debt_limit": 0.3, "max_damping": 10, "max_rotational_damping": 0.01 },
  "bodies": [
    { "name": "s", "type": "static", "shape": { "type": "sine", "amplitude": 0.001, "wavelength": 0.02, "size_x": 0.05, "size_z": 0.04, "cell": 0.002 },
      "position": [1, 2, 3], "rotation": [0.1, 0.2, 0.30000000000000004], "friction": 0.5 },
    { "type": "static", "shape": { "type": "organ", "size": 0.1, "resolution": 20 } },
    { "type": "static", "shape": { "type": "figure", "size": 0.2, "resolution": 40 } },
    { "type": "static", "shape": { "type": "mesh", "file": "m.obj", "scale": 0.001 } },
    { "type": "plane", "normal": [0, 1, 1] },
    { "name": "r", "type": "rigid", "shape": { "type": "box", "size": [0.1, 0.2, 0.3], "cells": 2 }, "density": 10, "contact": "hull", "velocity": [1, 0, 0], "spin": [0, 1, 0],
      "damping": 0.1, "copies": { "x": 2, "y": 3, "z": 4, "spacing": [0.2, 0.3, 0.4] } },
    { "type": "rigid", "shape": { "type": "sphere", "radius": 0.01, "subdivisions": 3 }, "contact": "sphere" },
    { "type": "soft", "shape": { "type": "cylinder", "radius": 0.01, "height": 0.02, "around": 9, "along": 2 }, "model": "neo_hookean", "cell": 0.01,
      "material": { "young_modulus": 1e5, "poisson_ratio": 0.1, "density": 900, "mass_damping": 1, "stiffness_damping": 0.01 },
      "fixed": [ { "min": [0, 0, 0], "max": [1, 1, 1] }, { "min": [-1, 0, 0], "max": [1, 1, 1] } ], "self_contact": true, "max_rows": 9, "single_precision_error": 1e-3 },
    { "type": "soft", "volume": "v.vtu" },
    { "name": "c", "type": "chain", "from": [0, 1, 0], "to": [0, 2, 0], "beams": 3, "radius": 0.002, "material": { "young_modulus": 1e7 }, "clamp": "both" }
  ],
  "joints": [
    { "type": "ball", "name": "j", "a": "r 1", "b": "c", "position": [1, 1, 1], "arm": 0.1 },
    { "type": "fixed", "a": "r 2" },
    { "type": "hinge", "a": "r 3", "axis": [0, 1, 0], "lower": -1, "upper": 1, "stiffness": 2, "damping": 3, "rest": 0.1, "max_drive": 4, "speed": -1 },
    { "type": "slider", "a": "r 4", "lower": -0.5 },
    { "type": "curve", "a": "r 5", "points": [ { "position": [0, 0, 0] }, { "position": [0, 0, 1] } ], "upper": 2 },
    { "type": "box", "a": "r 6", "min": [0, 0, 0], "max": [1, 2, 3] }
  ],
  "hand": { "type": "simulated", "preset": "touch", "mass": 0.045, "damping": 0.3, "coulomb_friction": 0.1, "max_force": 3, "encoder_resolution": 0, "delay_output": true,
    "impedance": { "mass": 0.2, "damping": 2, "stiffness": 200, "rotational_inertia": 2e-4, "rotational_damping": 0.006, "rotational_stiffness": 0.6 },
    "path": { "type": "sequence", "blend_time": 0.1, "parts": [
      { "type": "keyframes", "interpolation": "linear", "keyframes": [ { "time": 0, "position": [0, 0, 0] }, { "time": 1, "position": [0, 0, 1], "rotation": [1, 0, 0], "grip": 0.5 } ] },
      { "type": "sine", "start": [1, 0, 0], "velocity": [0, 1, 0], "amplitude": [0, 0, 1], "frequency": 2, "phase": 1, "rotation": [0, 1, 0], "rotation_amplitude": [0, 0, 1],
        "start_time": 0.1, "ramp_time": 0.2, "duration": 3 },
      { "type": "press_and_slide", "start": [1, 1, 1], "rotation": [0, 1, 0], "direction": [0, 0, 1], "depth": 0.02, "approach_time": 0.4, "hold_time": 0.1,
        "slide_direction": [0, 1, 0], "slide_distance": 0.03, "slide_speed": 0.06, "slide_ramp": 0.04, "strokes": 3, "retract_time": 0.4 },
      { "type": "tap", "start": [1, 1, 0], "rotation": [0, 0, 1], "direction": [1, 0, 0], "depth": 0.02, "period": 0.4, "count": 3 },
      { "type": "circle", "centre": [1, 0, 1], "rotation": [1, 1, 0], "axis": [1, 0, 0], "radius": 0.03, "frequency": 0.6, "lead_in": 0.4, "turns": 2 } ] },
    "tremor": { "rms": 1e-5, "low": 7, "high": 13, "seed": 5 } }
})";

/// Two hands, each with something of its own in every part.
inline constexpr const char* kTwoHands = R"({
  "format": 1, "name": "two", "rates": { "slow_period": 0.05 },
  "bodies": [ { "name": "block", "type": "rigid", "shape": { "type": "box", "size": [0.04, 0.04, 0.04] } } ],
  "tools": [
    { "name": "left", "tool": { "type": "rigid", "shape": { "type": "sphere", "radius": 0.01, "subdivisions": 4 }, "mass": 0.02 },
      "hand": { "type": "scripted", "path": { "type": "tap", "start": [-0.05, 0, 0], "direction": [1, 0, 0] } },
      "method": "jacobian", "input": { "max_speed": 2 }, "safety": { "max_force": 3, "stale_after": 0.5 } },
    { "name": "right", "tool": { "type": "point", "radius": 0.005, "coupling": { "stiffness": 200 } },
      "hand": { "type": "simulated", "path": { "type": "tap", "start": [0.05, 0, 0], "direction": [-1, 0, 0] } },
      "passivity": { "allowance": 0.01 } }
  ]
})";

}  // namespace palpate::testing
