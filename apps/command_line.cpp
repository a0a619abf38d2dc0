#include "palpate/cli/command_line.h"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/core/fields.h"
#include "palpate/core/log.h"
#include "palpate/core/version.h"

namespace palpate {
namespace {

/// Everything before the options are read.
void add_commands(CLI::App& app, Action& action) {
  add_run(app, action);
#ifdef PALPATE_VIEWER
  add_view(app, action);
#else
  app.add_subcommand("view", "not in this program, which was built without the viewer (PALPATE_VIEWER=OFF)")
      ->allow_extras()
      ->callback([&] {
        action = []() -> int {
          fail_input("this palpate was built without the viewer: build it with PALPATE_VIEWER=ON");
        };
      });
#endif
  add_compare(app, action);
  add_advise(app, action);
  add_reproduce(app, action);
  add_mesh(app, action);
  add_check(app, action);
  add_bench(app, action);
  add_devices(app, action);
  add_doctor(app, action);
  add_export(app, action);
}

/// Throws for a first word that is no command, before CLI11 says only that it is not expected.
void require_command(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with('-')) continue;
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      init_log(false);
      fail_input("no command is called {}; there are: {}{}", quote_for_message(word), join_words(known),
                 suggest_word(word, known));
    }
    return;
  }
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Palpate: multi-rate haptic rendering, and how good its forces are."};
  app.name(argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "palpate");
  app.set_version_flag("--version", std::string("palpate ") + kVersion);
  app.require_subcommand(1);
  bool verbose = false;
  app.add_flag("-v,--verbose", verbose, "say more on standard error");
  app.footer("Example: palpate run organ --seconds 5\nExit codes: 0 done, 1 a check failed, 2 bad usage or input.");
  Action action;
  add_commands(app, action);
  require_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    app.exit(e);
    return kBadInput;
  }
  init_log(verbose);
  return action();
}

}  // namespace

int run_command_line(int argc, char** argv) noexcept {
  try {
    return parse_and_run(argc, argv);
  } catch (const InputError& e) {
    log::error("{}", e.what());
  } catch (const std::bad_alloc&) {
    log::error("out of memory");
  } catch (const std::exception& e) {
    log::error("{}", e.what());
  }
  return kBadInput;
}

}  // namespace palpate
