#pragma once

namespace palpate {

/// The whole command line of the program `palpate`: run, view, compare, bench, check and the others. For programs that
/// register methods of their own first (methods/registry.h) and then offer the same commands.
///
/// Takes what main() was given and returns the exit code for it: 0 done, 1 a check failed, 2 bad usage or input. Throws
/// nothing; errors go to standard error. Once a process.
int run_command_line(int argc, char** argv) noexcept;

}  // namespace palpate
