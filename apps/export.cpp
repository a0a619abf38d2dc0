#include "command.h"
#include "palpate/core/log.h"
#include "palpate/record/recording.h"

namespace palpate {
namespace {

struct ExportCommand {
  std::string recording;
  std::string output;
};

int export_command(const ExportCommand& options) {
  const Recording recording = read_recording(options.recording);
  if (recording.cut) log::warn("{}: cut off; what was written before is there", options.recording);
  const std::string csv = options.output.empty() ? options.recording + ".csv" : options.output;
  require_folder_of(csv);
  write_csv(recording, csv);
  const std::vector<std::string> files = tick_csv_paths(recording, csv);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const RecordedTrack& track = recording.tracks[i];
    const std::string whose = files.size() == 1 ? std::string() : " of " + track.name;
    fmt::print("{} ticks{} to {}\n", track.ticks.size(), whose, files[i]);
  }
  fmt::print("{} slow steps to {}\n", recording.steps.size(), steps_csv_path(csv));
  return kDone;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportCommand>();
  CLI::App* command = app.add_subcommand("export", "a recording as CSV, for a spreadsheet");
  command->add_option("RECORDING", options->recording, "recording file")->required();
  command->add_option("-o,--output", options->output,
                      "CSV file; default: RECORDING.csv. Slow steps, and each of several tools, beside it");
  command->footer("Example: palpate export recordings/organ-halfspace-001.palpate");
  command->callback([options, &action] { action = [options] { return export_command(*options); }; });
}

}  // namespace palpate
