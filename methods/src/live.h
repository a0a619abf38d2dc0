#pragma once

#include "live_body.h"

// Contacts that live in the fast loop. Methods whose models answer for a tool's neighbourhood may have them: instead of
// contacts that the slow loop found, which keep their place and normal until the next model, the fast loop has a twin
// of the world, and every tick finds, solves and remembers its own by the world's code (decision 28).
namespace palpate::live {

struct LiveSettings {
  Answer answer = Answer::kTick;
  double lookahead = 0.0;       ///< how long nodes go on along their path, from the model's time [s]
  double blend = 0.0;           ///< over which a new model takes the place of the last [s]
  double aim_ahead = 0.0;       ///< the slow step's hand is where the device will be then [s]
  SolverSettings solver;        ///< of a tick
  bool by_constraints = false;  ///< the hand is given Σ Jᵀλ instead of the grip's force
};

/// A tick's solver of this tolerance [m]. A world takes its tolerance for steps of 5 ms, and less for shorter ones.
SolverSettings tick_solver(const MethodContext& context, double tolerance, int max_iterations);

/// Why a world cannot have them; empty if it can. In it there is one tool, which is a body of the world, nothing
/// soft is tied, and beside it there move soft bodies and at most kMaxWhole rigid ones, no chains.
std::string refuse(const ToolInWorld& where);

/// What the user is told where contacts are held though live ones were asked for; `reason` is refuse()'s.
std::string describe_held(const std::string& reason);

Method make_method(const MethodContext& context, const LiveSettings& settings);

/// The slow loop's half: the whole world at ΔT, with the tool and what is rigid as the fast loop has them, and the
/// contacts that the fast loop felt as what the step begins with.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context, const LiveSettings& settings,
                                         const Layout& layout);

/// The fast loop's: steps a twin of the world in every tick, in which soft bodies are LiveBody and others are
/// themselves. Before the first model, where something is soft, all wait but for the tool, which gives no force.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context, const LiveSettings& settings,
                                         const Layout& layout);

}  // namespace palpate::live
