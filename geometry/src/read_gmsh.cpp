#include <algorithm>
#include <array>
#include <unordered_map>

#include "volume_readers.h"

namespace palpate {
namespace {

enum class Kind { kSkipped, kTet, kHighOrderTet, kOtherSolid };

/// Gmsh's element types (reference manual, "MSH file format"). All tets list their corners first.
Kind kind_of(std::int64_t type) noexcept {
  constexpr std::array<std::int64_t, 17> kFlat = {1, 2, 3, 8, 9, 10, 15, 16, 20, 21, 22, 23, 24, 25, 26, 27, 28};
  if (type == 4) return Kind::kTet;
  if (type == 11 || (type >= 29 && type <= 31)) return Kind::kHighOrderTet;
  return std::find(kFlat.begin(), kFlat.end(), type) != kFlat.end() ? Kind::kSkipped : Kind::kOtherSolid;
}

class GmshReader {
 public:
  GmshReader(const std::string& name, std::string_view bytes)
      : name_(name), file_size_(static_cast<std::int64_t>(bytes.size())), lines_(name, bytes) {}

  RawVolume run() {
    bool first = true;
    while (lines_.next()) {
      const std::string section(lines_.words()[0]);
      if (section[0] != '$') {
        if (first)
          fail_input("{}: not a Gmsh file: it starts with {}, not with $MeshFormat or $NOD", name_, lines_.shown(0));
        lines_.fail("{} where a section ($…) was due; are the counts right?", lines_.shown(0));
      }
      first = false;
      read_section(section);
    }
    if (!has_nodes_) fail_input("{}: no $Nodes; the file is cut short or not a mesh", name_);
    if (!has_elements_) fail_input("{}: no $Elements; the file is cut short or not a mesh", name_);
    choose_regions();
    return std::move(out_);
  }

 private:
  struct Tags {
    std::int64_t physical, elementary;
  };

  void read_section(const std::string& section) {
    if (section == "$MeshFormat") {
      read_format();
    } else if (section == "$NOD" || section == "$Nodes") {
      if (section == "$NOD") set_version(1, "Gmsh 1");
      if (version_ == 0) lines_.fail("$Nodes before $MeshFormat");
      if (has_nodes_) lines_.fail("nodes for a second time");
      has_nodes_ = true;
      version_ == 4 ? read_nodes_4() : read_nodes();
    } else if (section == "$ELM" || section == "$Elements") {
      if (!has_nodes_) lines_.fail("elements before nodes");
      if (has_elements_) lines_.fail("elements for a second time");
      has_elements_ = true;
      version_ == 4 ? read_elements_4() : read_elements();
    } else if (section == "$Entities" && version_ == 4) {
      read_entities();
    } else {
      skip_to(section.substr(1));
      return;
    }
    lines_.require_next("the end of a section");
    const std::string end = section == "$NOD" || section == "$ELM" ? "$END" : "$End";
    if (lines_.words()[0] != end + section.substr(1)) {
      lines_.fail("{} where {}{} was due; are the counts right?", lines_.shown(0), end, section.substr(1));
    }
  }

  void skip_to(const std::string& section) {
    do lines_.require_next("the end of a section");
    while (lines_.words()[0] != "$End" + section && lines_.words()[0] != "$END" + section);
  }

  void set_version(int version, std::string format) {
    version_ = version;
    out_.format = std::move(format);
  }

  void read_format() {
    lines_.require_next("the version");
    const double version = lines_.number(0);
    if (lines_.integer(1) != 0) {
      lines_.fail("a binary Gmsh file; only ASCII is supported (Mesh.Binary = 0, or gmsh -format msh41 without -bin)");
    }
    const bool is_2 = version >= 2.0 && version <= 2.2;
    if (!is_2 && version != 4.1) {
      lines_.fail("Gmsh version {}; allowed are 1, 2.0 to 2.2 and 4.1 (gmsh -format msh22 writes one)",
                  lines_.shown(0));
    }
    set_version(is_2 ? 2 : 4, fmt::format("Gmsh {}", lines_.words()[0]));
  }

  /// A count: each thing counted takes a byte at least, so a larger one is wrong and must not size anything.
  std::int64_t count(std::size_t word, const char* what) const {
    const std::int64_t n = lines_.integer(word);
    if (n < 0 || n > file_size_) {
      lines_.fail("{} {} do not fit into {} bytes; the file is cut short or its counts are wrong", n, what, file_size_);
    }
    return n;
  }

  void add_node(std::int64_t number, const Vec3& p) {
    const auto index = static_cast<std::int32_t>(out_.mesh.vertices.size());
    if (!node_.try_emplace(number, index).second) lines_.fail("node {} for a second time", number);
    out_.mesh.vertices.push_back(p);
  }

  void read_nodes() {
    lines_.require_next("the number of nodes");
    const std::int64_t n = count(0, "nodes");
    for (std::int64_t i = 0; i < n; ++i) {
      lines_.require_next("a node");
      const std::int64_t number = lines_.integer(0);
      add_node(number, lines_.point(1));
    }
  }

  void read_nodes_4() {
    lines_.require_next("the number of nodes");
    const std::int64_t blocks = count(0, "blocks of nodes"), all = count(1, "nodes");
    std::vector<std::int64_t> numbers;
    for (std::int64_t block = 0; block < blocks; ++block) {
      lines_.require_next("a block of nodes");
      const std::int64_t n = count(3, "nodes");
      numbers.clear();
      for (std::int64_t i = 0; i < n; ++i) {
        lines_.require_next("a node's number");
        numbers.push_back(lines_.integer(0));
      }
      for (std::int64_t i = 0; i < n; ++i) {
        lines_.require_next("a node");
        add_node(numbers[i], lines_.point(0));
      }
    }
    if (static_cast<std::int64_t>(out_.mesh.vertices.size()) != all) {
      lines_.fail("{} nodes in all blocks; {} were declared", out_.mesh.vertices.size(), all);
    }
  }

  /// Physical groups of the volumes: the first one of each; a negative one means reversed orientation.
  void read_entities() {
    lines_.require_next("the numbers of entities");
    std::array<std::int64_t, 4> counts;
    for (int dim = 0; dim < 4; ++dim) counts[dim] = count(dim, "entities");
    for (int dim = 0; dim < 4; ++dim) {
      for (std::int64_t i = 0; i < counts[dim]; ++i) {
        lines_.require_next("an entity");
        // A point has a position, all others a box.
        const std::size_t at = dim == 0 ? 4 : 7;
        const std::int64_t groups = lines_.integer(at);
        if (dim == 3 && groups > 0) physical_of_[lines_.integer(0)] = std::abs(tag(at + 1));
      }
    }
  }

  std::int64_t tag(std::size_t word) const {
    const std::int64_t value = lines_.integer(word);
    if (value < -2147483647 || value > 2147483647) lines_.fail("tag {}; allowed are ±2147483647", value);
    return value;
  }

  /// The current line's element, its nodes from `word` on.
  void add_element(std::int64_t type, std::size_t word, const Tags& tags) {
    const Kind kind = kind_of(type);
    if (kind == Kind::kSkipped) {
      ++out_.repair.skipped_elements;
      return;
    }
    if (kind == Kind::kOtherSolid) {
      lines_.fail(
          "element type {}; of solids only tetrahedra (4, 11, 29 to 31) are supported, not hexahedra (5), prisms "
          "(6) or pyramids (7)",
          type);
    }
    if (kind == Kind::kHighOrderTet) ++out_.repair.straightened_tets;
    std::array<std::int32_t, 4> tet;
    for (std::size_t c = 0; c < 4; ++c) {
      const auto node = node_.find(lines_.integer(word + c));
      if (node == node_.end()) {
        lines_.fail("node {} is out of range: none of the {} nodes has that number", lines_.shown(word + c),
                    node_.size());
      }
      tet[c] = node->second;
    }
    out_.mesh.tets.push_back(tet);
    tags_.push_back(tags);
  }

  void read_elements() {
    lines_.require_next("the number of elements");
    const std::int64_t n = count(0, "elements");
    for (std::int64_t i = 0; i < n; ++i) {
      lines_.require_next("an element");
      const std::int64_t type = lines_.integer(1);
      if (version_ == 1) {
        add_element(type, 5, {tag(2), tag(3)});
        continue;
      }
      const std::int64_t tags = count(2, "tags");
      add_element(type, as_size(3 + tags), {tags > 0 ? tag(3) : 0, tags > 1 ? tag(4) : 0});
    }
  }

  void read_elements_4() {
    lines_.require_next("the number of elements");
    const std::int64_t blocks = count(0, "blocks of elements"), all = count(1, "elements");
    std::int64_t read = 0;
    for (std::int64_t block = 0; block < blocks; ++block) {
      lines_.require_next("a block of elements");
      const std::int64_t entity = tag(1), type = lines_.integer(2), n = count(3, "elements");
      const auto physical = physical_of_.find(entity);
      const Tags tags = {physical != physical_of_.end() ? physical->second : 0, entity};
      for (std::int64_t i = 0; i < n; ++i) {
        lines_.require_next("an element");
        add_element(type, 1, tags);
      }
      read += n;
    }
    if (read != all) lines_.fail("{} elements in all blocks; {} were declared", read, all);
  }

  void choose_regions() {
    const bool physical = std::any_of(tags_.begin(), tags_.end(), [](const Tags& t) { return t.physical != 0; });
    const bool elementary = std::any_of(tags_.begin(), tags_.end(), [](const Tags& t) { return t.elementary != 0; });
    if (!physical && !elementary) return;
    for (const Tags& tags : tags_) {
      out_.mesh.regions.push_back(static_cast<std::int32_t>(std::abs(physical ? tags.physical : tags.elementary)));
    }
  }

  const std::string& name_;
  std::int64_t file_size_;
  LineReader lines_;
  int version_ = 0;
  bool has_nodes_ = false, has_elements_ = false;
  std::unordered_map<std::int64_t, std::int32_t> node_;         ///< index of each node's number
  std::unordered_map<std::int64_t, std::int64_t> physical_of_;  ///< group of each volume's tag
  std::vector<Tags> tags_;                                      ///< of each tet
  RawVolume out_;
};

}  // namespace

RawVolume read_gmsh(const std::string& name, std::string_view bytes) {
  return GmshReader(name, bytes).run();
}

}  // namespace palpate
