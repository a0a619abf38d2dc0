#include <cctype>

#include "vtk_cells.h"

namespace palpate {
namespace {

std::string in_capitals(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

/// Walks through a VTK legacy file: keywords on lines, lists of numbers as text or as big-endian bytes after them.
class LegacyReader {
 public:
  LegacyReader(const std::string& name, std::string_view bytes) : file_{name, bytes} {
    if (!bytes.starts_with("# vtk DataFile Version")) {
      fail_input("{}: not a VTK legacy file: it does not start with '# vtk DataFile Version'", name);
    }
    take_line();
    new_cells_ = words_.size() > 4 && words_[4].starts_with("5.");
    take_line();  // The title, which may be anything.
    if (!next() || (word(0) != "ASCII" && word(0) != "BINARY")) fail("{}; it must be ASCII or BINARY", shown(0));
    binary_ = word(0) == "BINARY";
    if (!next() || word(0) != "DATASET") fail("{} where DATASET was due", shown(0));
    dataset_ = word(1);
  }

  const SourceFile& file() const noexcept { return file_; }
  const std::string& dataset() const noexcept { return dataset_; }
  bool is_binary() const noexcept { return binary_; }
  bool has_new_cells() const noexcept { return new_cells_; }

  /// Goes to the next line with a keyword; false at the end. METADATA, up to the next blank line, is passed over.
  bool next() {
    while (at_ < file_.bytes.size()) {
      take_line();
      if (words_.empty()) continue;
      if (word(0) != "METADATA") return true;
      while (at_ < file_.bytes.size() && !words_.empty()) take_line();
    }
    words_.clear();
    return false;
  }
  void require_next(const char* wanted) {
    if (!next()) fail("the file ends where {} was due; it is cut short", wanted);
  }

  /// Word i of the line in capitals; empty if there is none. Keywords and types are the same in any case.
  std::string word(std::size_t i) const { return i < words_.size() ? in_capitals(words_[i]) : std::string(); }
  std::string_view exact_word(std::size_t i) const { return i < words_.size() ? words_[i] : std::string_view(); }
  std::string shown(std::size_t i) const { return i < words_.size() ? quote_for_message(words_[i]) : "nothing"; }

  /// Everything counted takes a byte or more, so larger counts are wrong.
  std::size_t count(std::size_t i) const {
    std::int64_t n = 0;
    if (!parse_number(exact_word(i), n)) fail("{} is not a whole number", shown(i));
    if (n < 0 || n > static_cast<std::int64_t>(file_.bytes.size())) {
      fail("{} values do not fit into {} bytes; the file is cut short or its counts are wrong", n, file_.bytes.size());
    }
    return as_size(n);
  }

  NumberList read_list(const std::string& type_name, std::size_t n) {
    const ScalarType type = read_type(type_name);
    if (!binary_) return read_text_list(file_, at_, n, at_);
    NumberList list;
    list.begin = at_;
    list.form = NumberList::Form::kBinary;
    list.stride = size_of(type);
    if (n > (file_.bytes.size() - at_) / list.stride) {
      fail("{} values of {} do not fit into the {} bytes left; the file is cut short", n, type_name,
           file_.bytes.size() - at_);
    }
    list.values.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      list.values.push_back(load_scalar(type, file_.bytes.data() + at_ + i * list.stride, true));
    }
    at_ += n * list.stride;
    return list;
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string place =
        binary_ ? fmt::format("{}: byte {}", file_.name, line_begin_) : describe_line(file_, line_begin_);
    fail_input("{}: {}", place, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  ScalarType read_type(const std::string& name) const {
    static const std::vector<std::pair<std::string_view, ScalarType>> kTypes = {{"CHAR", ScalarType::kInt8},
                                                                                {"UNSIGNED_CHAR", ScalarType::kUint8},
                                                                                {"SHORT", ScalarType::kInt16},
                                                                                {"UNSIGNED_SHORT", ScalarType::kUint16},
                                                                                {"INT", ScalarType::kInt32},
                                                                                {"UNSIGNED_INT", ScalarType::kUint32},
                                                                                {"LONG", ScalarType::kInt64},
                                                                                {"UNSIGNED_LONG", ScalarType::kUint64},
                                                                                {"VTKIDTYPE", ScalarType::kInt32},
                                                                                {"VTKTYPEINT64", ScalarType::kInt64},
                                                                                {"VTKTYPEUINT64", ScalarType::kUint64},
                                                                                {"VTKTYPEINT32", ScalarType::kInt32},
                                                                                {"FLOAT", ScalarType::kFloat32},
                                                                                {"DOUBLE", ScalarType::kFloat64}};
    for (const auto& [known, type] : kTypes) {
      if (name == known) return type;
    }
    fail("type {}; allowed are char, short, int, long (also unsigned_), vtkIdType, vtktypeint64, float, double",
         quote_for_message(name));
  }

  void take_line() {
    line_begin_ = at_;
    const std::size_t end = std::min(file_.bytes.find('\n', at_), file_.bytes.size());
    const std::string_view line = file_.bytes.substr(at_, end - at_);
    at_ = std::min(end + 1, file_.bytes.size());
    words_.clear();
    constexpr std::string_view kSpace = " \t\r\v\f";
    for (std::size_t begin = line.find_first_not_of(kSpace); begin != std::string_view::npos && words_.size() < 16;) {
      const std::size_t stop = std::min(line.find_first_of(kSpace, begin), line.size());
      words_.push_back(line.substr(begin, stop - begin));
      begin = line.find_first_not_of(kSpace, stop);
    }
  }

  SourceFile file_;
  std::size_t at_ = 0, line_begin_ = 0;
  bool binary_ = false, new_cells_ = false;
  std::string dataset_;
  std::vector<std::string_view> words_;
};

/// The list after CELLS, POLYGONS and the like. Before 5.1: `cells size`, then for each cell its number of points and
/// the points. Since: `offsets values`, then OFFSETS (one more than cells) and CONNECTIVITY.
void read_cell_points(LegacyReader& reader, CellList& cells) {
  const std::size_t n = reader.count(1), size = reader.count(2);
  if (reader.has_new_cells()) {
    reader.require_next("OFFSETS");
    if (reader.word(0) != "OFFSETS") reader.fail("{} where OFFSETS was due", reader.shown(0));
    const NumberList offsets = reader.read_list(reader.word(1), n);
    reader.require_next("CONNECTIVITY");
    if (reader.word(0) != "CONNECTIVITY") reader.fail("{} where CONNECTIVITY was due", reader.shown(0));
    cells.nodes = reader.read_list(reader.word(1), size);
    for (std::size_t c = 0; c + 1 < n; ++c) {
      const double begin = offsets.values[c], end = offsets.values[c + 1];
      if (!(begin >= 0.0 && begin <= end && end <= static_cast<double>(size))) {
        fail_input("{}: offsets {} and {}; they must not fall, from 0 to {}", describe_place(reader.file(), offsets, c),
                   begin, end, size);
      }
      cells.first.push_back(as_size(begin));
      cells.count.push_back(as_size(end) - as_size(begin));
    }
    return;
  }
  cells.nodes = reader.read_list("INT", size);
  std::size_t at = 0;
  for (std::size_t c = 0; c < n; ++c) {
    const double count = at < size ? cells.nodes.values[at] : -1.0;
    if (!(count >= 0.0 && count <= static_cast<double>(size - at - 1))) {
      fail_input("{}: cell {} runs past the {} values declared", describe_place(reader.file(), cells.nodes, at), c,
                 size);
    }
    cells.first.push_back(at + 1);
    cells.count.push_back(as_size(count));
    at += 1 + as_size(count);
  }
  if (at != size) reader.fail("{} cells take {} values; {} were declared", n, at, size);
}

/// FIELD name arrays: each `name components tuples type` and its values.
void read_field(LegacyReader& reader, NumberList* regions) {
  const std::size_t arrays = reader.count(2);
  for (std::size_t i = 0; i < arrays; ++i) {
    reader.require_next("a field's array");
    const std::size_t components = reader.count(1), tuples = reader.count(2);
    if (components > 1000) reader.fail("{} components; allowed are up to 1000", components);
    const bool wanted = regions != nullptr && components == 1 && is_region_name(reader.exact_word(0));
    NumberList list = reader.read_list(reader.word(3), components * tuples);
    if (wanted && regions->values.empty()) *regions = std::move(list);
  }
}

/// One attribute of `n` points or cells, keyword in the current line; false if it is none. `regions`, if given, takes
/// the list that is named so.
bool read_attribute(LegacyReader& reader, std::size_t n, NumberList* regions) {
  const std::string keyword = reader.word(0);
  if (keyword == "FIELD") {
    read_field(reader, regions);
  } else if (keyword == "SCALARS") {
    const bool named = is_region_name(reader.exact_word(1));
    const std::string type = reader.word(2);
    const std::size_t components = reader.word(3).empty() ? 1 : reader.count(3);
    if (components < 1 || components > 4) reader.fail("{} components; allowed are 1 to 4", components);
    reader.require_next("LOOKUP_TABLE");
    if (reader.word(0) != "LOOKUP_TABLE") reader.fail("{} where LOOKUP_TABLE was due", reader.shown(0));
    NumberList list = reader.read_list(type, components * n);
    if (regions != nullptr && named && components == 1 && regions->values.empty()) *regions = std::move(list);
  } else if (keyword == "VECTORS" || keyword == "NORMALS") {
    reader.read_list(reader.word(2), 3 * n);
  } else if (keyword == "TENSORS") {
    reader.read_list(reader.word(2), 9 * n);
  } else if (keyword == "TEXTURE_COORDINATES") {
    reader.read_list(reader.word(3), std::min<std::size_t>(reader.count(2), 3) * n);
  } else if (keyword == "COLOR_SCALARS") {
    reader.read_list("UNSIGNED_CHAR", std::min<std::size_t>(reader.count(2), 4) * n);
  } else if (keyword == "LOOKUP_TABLE") {
    reader.read_list("UNSIGNED_CHAR", 4 * reader.count(2));
  } else if (keyword == "GLOBAL_IDS" || keyword == "PEDIGREE_IDS") {
    reader.read_list(reader.word(2), n);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string find_vtk_dataset(std::string_view bytes) {
  const std::string head = in_capitals(bytes.substr(0, 1024));
  const std::size_t at = head.find("\nDATASET");
  if (at == std::string::npos) return {};
  const std::size_t begin = std::min(head.find_first_not_of(" \t", at + 8), head.size());
  return head.substr(begin, head.find_first_of(" \t\r\n", begin) - begin);
}

RawVolume read_vtk_volume(const std::string& name, std::string_view bytes) {
  LegacyReader reader(name, bytes);
  if (reader.dataset() != "UNSTRUCTURED_GRID") {
    reader.fail("the data set is {}, not a volume mesh; it must be UNSTRUCTURED_GRID",
                quote_for_message(reader.dataset()));
  }
  RawVolume out;
  out.format = reader.is_binary() ? "VTK legacy, binary" : "VTK legacy, ASCII";
  CellList cells;
  bool has_points = false, has_cells = false, in_cell_data = false;
  std::size_t items = 0;  // points or cells that the attributes are of
  while (reader.next()) {
    const std::string keyword = reader.word(0);
    if (keyword == "POINTS" && !has_points) {
      const std::string type = reader.word(2);
      add_points(reader.file(), reader.read_list(type, 3 * reader.count(1)), out.mesh.vertices);
      has_points = true;
    } else if (keyword == "CELLS" && !has_cells) {
      read_cell_points(reader, cells);
      has_cells = true;
    } else if (keyword == "CELL_TYPES" && has_cells && cells.types.values.empty()) {
      cells.types = reader.read_list("INT", reader.count(1));
    } else if (keyword == "CELL_DATA" || keyword == "POINT_DATA") {
      in_cell_data = keyword == "CELL_DATA";
      items = reader.count(1);
    } else if (!read_attribute(reader, items, in_cell_data ? &cells.regions : nullptr)) {
      reader.fail("{} is not expected here; are the counts right?", reader.shown(0));
    }
  }
  if (!has_points || !has_cells) fail_input("{}: no {}; the file is cut short", name, has_points ? "CELLS" : "POINTS");
  const std::size_t n = cells.first.size(), regions = cells.regions.values.size();
  if (cells.types.values.size() != n || (regions != 0 && regions != n)) {
    fail_input("{}: {} cells, but {} types and {} regions", name, n, cells.types.values.size(), regions);
  }
  add_cells(reader.file(), cells, 0, out.mesh.vertices.size(), out);
  return out;
}

TriangleMesh read_vtk_surface(const std::string& name, std::string_view bytes) {
  LegacyReader reader(name, bytes);
  if (reader.dataset() != "POLYDATA") {
    reader.fail("the data set is {}, not a surface; it must be POLYDATA", quote_for_message(reader.dataset()));
  }
  TriangleMesh mesh;
  CellList polygons;
  std::size_t items = 0;
  while (reader.next()) {
    const std::string keyword = reader.word(0);
    if (keyword == "POINTS" && mesh.vertices.empty()) {
      const std::string type = reader.word(2);
      add_points(reader.file(), reader.read_list(type, 3 * reader.count(1)), mesh.vertices);
    } else if (keyword == "POLYGONS" && polygons.first.empty()) {
      read_cell_points(reader, polygons);
    } else if (keyword == "VERTICES" || keyword == "LINES") {
      CellList passed;
      read_cell_points(reader, passed);
    } else if (keyword == "TRIANGLE_STRIPS") {
      reader.fail("triangle strips are not supported; write polygons");
    } else if (keyword == "CELL_DATA" || keyword == "POINT_DATA") {
      items = reader.count(1);
    } else if (!read_attribute(reader, items, nullptr)) {
      reader.fail("{} is not expected here; are the counts right?", reader.shown(0));
    }
  }
  std::vector<std::int32_t> corners;
  for (std::size_t c = 0; c < polygons.first.size(); ++c) {
    corners.clear();
    for (std::size_t i = 0; i < polygons.count[c]; ++i) {
      corners.push_back(read_index(reader.file(), polygons.nodes, polygons.first[c] + i, mesh.vertices.size()));
    }
    add_polygon(mesh, corners);
  }
  return mesh;
}

}  // namespace palpate
