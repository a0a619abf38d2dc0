#include "tool_names.h"

#include <algorithm>

#include "palpate/core/error.h"
#include "palpate/core/fields.h"

namespace palpate {

std::string find_name_problem(std::span<const RecordedTool> before, const std::string& name) {
  if (name.empty()) return "has an empty name";
  const auto same = [&](const RecordedTool& tool) { return tool.name == name; };
  if (std::any_of(before.begin(), before.end(), same))
    return fmt::format("is called {}, as another tool is; allowed: names that differ", quote_for_message(name));
  return {};
}

const RecordedTrack& find_track(const Recording& recording, const std::string& file, std::string_view tool,
                                std::size_t place) {
  const std::vector<RecordedTrack>& tracks = recording.tracks;
  if (tool.empty() && tracks.size() == 1) return tracks.front();
  if (tool.empty() && place < tracks.size()) return tracks[place];
  std::vector<std::string_view> names;
  for (const RecordedTrack& track : tracks) {
    if (!tool.empty() && track.name == tool) return track;
    names.push_back(track.name);
  }
  if (tool.empty())
    fail_input("{}: has no tool number {}; say which one is meant, there are: {}", file, place + 1, join_words(names));
  fail_input("{}: no tool is called {}; there are: {}{}", file, quote_for_message(tool), join_words(names),
             suggest_word(tool, names));
}

}  // namespace palpate
