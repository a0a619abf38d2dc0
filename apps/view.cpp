#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "command.h"
#include "device_options.h"
#include "palpate/core/error.h"
#include "palpate/core/log.h"
#include "palpate/experiments/advise.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/warnings.h"
#include "palpate/server/viewer.h"

namespace palpate {
namespace {

struct ViewOptions {
  std::string scene;
  std::vector<std::string> methods;
  DeviceOptions device;
  double seconds = 0.0;
  int port = 8642;
  bool exact_port = false;  ///< the command line names one
  std::string address = "127.0.0.1";
  std::string token;
  bool no_open = false;
  bool json = false;
};

/// Asks the desktop for a browser, if there is a desktop.
void open_browser(const std::string& url) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) execlp("xdg-open", "xdg-open", url.c_str(), static_cast<char*>(nullptr));
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

/// A method that the command line names and that cannot work there is refused, as in `run`: the viewer itself would go
/// back to the scene's own.
void require_method(const Scene& scene, const std::string& method) {
  if (method.empty()) return;
  World world = make_world(scene);
  if (const std::string reason = refuse_method(scene, method, world); !reason.empty())
    fail_input("{}: method {} cannot be used here: {}", scene.source.file, method, reason);
}

int view_command(const ViewOptions& options) {
  Scene scene = options.scene.empty() ? load_builtin_scene(builtin_scenes().front().name) : find_scene(options.scene);
  const std::string method = apply_method_options(scene, options.methods);
  if (const std::string warning = settle_methods(scene, true); !warning.empty()) log::warn("{}", warning);
  require_method(scene, method);
  for (const std::string& warning : find_method_warnings(scene, method)) log::warn("{}", warning);
  const std::vector<std::unique_ptr<RealHand>> hands = open_hands(apply_device_options(scene, options.device));
  ViewerSettings settings;
  settings.hands = hands;
  settings.server.port = static_cast<std::uint16_t>(options.port);
  settings.server.exact_port = options.exact_port;
  settings.server.address = options.address;
  settings.server.token = options.token;
  settings.seconds = options.seconds;
  settings.stop = &stop_requested();
  settings.make_recording_path = [](const std::string& name, const std::string& of) {
    return make_free_path("recordings", name + "-" + of, ".palpate");
  };
  settings.ready = [&](const std::string& url) {
    if (options.json)
      fmt::print("{}\n", nlohmann::ordered_json{{"scene", scene.name}, {"url", url}}.dump());
    else
      fmt::print("{} is at {}   (Ctrl-C ends it)\n", scene.name, url);
    std::fflush(stdout);
    if (!options.no_open) open_browser(url);
  };
  const ViewerSummary done = run_viewer(scene, method, settings);
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"seconds", done.seconds},
                                              {"ticks", done.ticks},
                                              {"steps", done.steps},
                                              {"tick_p50", 1e-9 * done.tick_times.compute_percentile_ns(0.5)},
                                              {"tick_p99", 1e-9 * done.tick_times.compute_percentile_ns(0.99)},
                                              {"step_p50", 1e-9 * done.step_times.compute_percentile_ns(0.5)},
                                              {"step_p99", 1e-9 * done.step_times.compute_percentile_ns(0.99)},
                                              {"tick_misses", done.tick_misses},
                                              {"malformed", done.malformed},
                                              {"dropped", done.server.dropped},
                                              {"too_long", done.server.too_long},
                                              {"refused", done.server.refused}}
                           .dump());
  } else {
    fmt::print("{:.1f} s, {} ticks, {} steps; messages dropped {}, not understood {}; requests refused {}\n",
               done.seconds, done.ticks, done.steps, done.server.dropped, done.malformed, done.server.refused);
  }
  return kDone;
}

}  // namespace

void add_view(CLI::App& app, Action& action) {
  auto options = std::make_shared<ViewOptions>();
  CLI::App* command = app.add_subcommand("view", "run a scene with the viewer in the browser, the mouse as a hand");
  command->add_option("SCENE", options->scene, "scene file or built-in scene; default: organ");
  add_method_option(*command, options->methods);
  command->add_option("-s,--seconds", options->seconds, "ends after so long; default: at Ctrl-C")
      ->check(positive_number());
  CLI::Option* port = command->add_option("-p,--port", options->port, "default: 8642 or the next free one; 0: any");
  port->check(CLI::Range(0, 65535));
  command->add_option("--address", options->address, "to listen on; default: this machine only. Others need --token");
  command->add_option("--token", options->token, "pages must know it");
  add_device_options(*command, options->device);
  command->add_flag("--no-open", options->no_open, "do not open a browser");
  command->add_flag("--json", options->json, "address and summary as JSON, one a line");
  command->footer("Example: palpate view soft-block --no-open --seconds 60");
  command->callback([options, port, &action] {
    options->exact_port = port->count() > 0;
    action = [options] { return view_command(*options); };
  });
}

}  // namespace palpate
