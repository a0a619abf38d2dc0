#include <array>
#include <optional>

#include "vtu_data.h"
#include "xml_reader.h"

namespace palpate {
namespace {

/// One <Piece>: a mesh of its own.
struct Piece {
  std::size_t points = 0, cells = 0;
  std::optional<VtuArray> coordinates, connectivity, offsets, types, regions;
};

class VtuReader {
 public:
  VtuReader(const std::string& name, std::string_view bytes) : file_{name, bytes}, xml_(file_) {}

  RawVolume run() {
    read_tags();
    RawVolume out;
    out.format = "VTU";
    bool all_regions = true;
    for (const Piece& piece : pieces_) all_regions = all_regions && (piece.regions || piece.cells == 0);
    for (Piece& piece : pieces_) {
      if (!all_regions) piece.regions.reset();
      read_piece(piece, out);
    }
    return out;
  }

 private:
  void read_tags() {
    std::string_view section;
    XmlReader::Tag tag;
    while ((tag = xml_.next()) != XmlReader::Tag::kEnd) {
      const std::string_view name = xml_.name();
      if (tag == XmlReader::Tag::kClose) continue;
      if (!has_root_ && name != "VTKFile") break;
      if (name == "VTKFile") {
        read_root();
      } else if (name == "Piece") {
        pieces_.push_back({count("NumberOfPoints"), count("NumberOfCells"), {}, {}, {}, {}, {}});
      } else if (name == "DataArray") {
        if (!pieces_.empty()) read_array(section);
      } else if (name == "AppendedData") {
        start_appended();
        break;  // What follows may be raw bytes.
      } else if (name == "Points" || name == "Cells" || name.ends_with("Data")) {
        section = name;
      }
    }
    if (!has_root_) fail_input("{}: not a VTK XML file: it has no <VTKFile>", file_.name);
    if (pieces_.empty()) fail_input("{}: no <Piece>; the file is cut short or empty", file_.name);
  }

  void read_root() {
    has_root_ = true;
    const std::string_view type = xml_.attribute("type");
    if (type != "UnstructuredGrid") xml_.fail("type {}; it must be UnstructuredGrid", quote_for_message(type));
    const std::string_view order = xml_.attribute("byte_order", "LittleEndian");
    if (order != "LittleEndian" && order != "BigEndian") {
      xml_.fail("byte_order {}; allowed are LittleEndian, BigEndian", quote_for_message(order));
    }
    encoding_.big_endian = order == "BigEndian";
    const std::string_view header = xml_.attribute("header_type", "UInt32");
    if (header != "UInt32" && header != "UInt64") {
      xml_.fail("header_type {}; allowed are UInt32, UInt64", quote_for_message(header));
    }
    encoding_.wide_headers = header == "UInt64";
    const std::string_view compressor = xml_.attribute("compressor");
    if (!compressor.empty() && compressor != "vtkZLibDataCompressor") {
      xml_.fail("compressor {}; allowed are none and vtkZLibDataCompressor", quote_for_message(compressor));
    }
    encoding_.zlib = !compressor.empty();
  }

  std::size_t count(std::string_view attribute) const {
    std::int64_t n = 0;
    const std::string_view text = xml_.attribute(attribute);
    if (!parse_number(text, n) || n < 0 || n > 2147483647) {
      xml_.fail("{} is {}; it must be a whole number from 0 to 2147483647", attribute, quote_for_message(text));
    }
    return as_size(n);
  }

  ScalarType read_type() const {
    static constexpr std::array<std::string_view, 10> kTypes = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                                                "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    const std::string_view type = xml_.attribute("type");
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      if (type == kTypes[i]) return static_cast<ScalarType>(i);
    }
    xml_.fail("type {}; allowed are Int8 to Int64, UInt8 to UInt64, Float32, Float64", quote_for_message(type));
  }

  /// Notes the array if it is one that is needed.
  void read_array(std::string_view section) {
    Piece& piece = pieces_.back();
    const std::string_view name = xml_.attribute("Name"), components = xml_.attribute("NumberOfComponents", "1");
    std::optional<VtuArray>* target = nullptr;
    if (section == "Points") {
      if (components != "3") xml_.fail("points of {} components; it must be 3", quote_for_message(components));
      target = &piece.coordinates;
    } else if (section == "Cells") {
      target = name == "connectivity" ? &piece.connectivity
               : name == "offsets"    ? &piece.offsets
               : name == "types"      ? &piece.types
                                      : nullptr;
    } else if (section == "CellData" && components == "1" && is_region_name(name)) {
      target = &piece.regions;
    }
    if (target == nullptr || target->has_value()) return;
    VtuArray array;
    array.type = read_type();
    array.begin = xml_.position();
    const std::string_view format = xml_.attribute("format", "ascii");
    if (format == "appended") {
      array.form = VtuArray::Form::kRaw;  // or base64: <AppendedData> will tell
      std::uint64_t offset = 0;
      const std::string_view text = xml_.attribute("offset");
      if (!parse_number(text, offset) || offset > file_.bytes.size()) {
        xml_.fail("offset {}; it must be a whole number within the file", quote_for_message(text));
      }
      array.begin = offset;
    } else if (format == "binary") {
      array.form = VtuArray::Form::kBase64;
    } else if (format != "ascii") {
      xml_.fail("format {}; allowed are ascii, binary, appended", quote_for_message(format));
    }
    *target = array;
  }

  void start_appended() {
    const std::string_view encoding = xml_.attribute("encoding");
    if (encoding != "raw" && encoding != "base64") {
      xml_.fail("encoding {}; allowed are raw, base64", quote_for_message(encoding));
    }
    appended_form_ = encoding == "raw" ? VtuArray::Form::kRaw : VtuArray::Form::kBase64;
    const std::size_t mark = file_.bytes.find_first_not_of(" \t\r\n", xml_.position());
    if (mark == std::string_view::npos || file_.bytes[mark] != '_') xml_.fail("appended data must start with '_'");
    appended_begin_ = mark + 1;
  }

  NumberList read_list(std::optional<VtuArray> array, const char* what, std::size_t values) const {
    if (!array) fail_input("{}: no array of {}; the file is cut short or not a mesh", file_.name, what);
    if (array->form == VtuArray::Form::kRaw) {
      if (!appended_begin_) fail_input("{}: the appended data is missing; the file is cut short", file_.name);
      array->begin += *appended_begin_;
      array->form = appended_form_;
    }
    return read_vtu_array(file_, encoding_, *array, values);
  }

  void read_piece(const Piece& piece, RawVolume& out) const {
    if (piece.points == 0 && piece.cells == 0) return;
    const std::size_t base = out.mesh.vertices.size();
    if (base + piece.points > 2147483647) fail_input("{}: more than 2147483647 points", file_.name);
    add_points(file_, read_list(piece.coordinates, "points", 3 * piece.points), out.mesh.vertices);
    CellList cells;
    const NumberList ends = read_list(piece.offsets, "offsets", piece.cells);
    std::size_t begin = 0;
    for (std::size_t c = 0; c < piece.cells; ++c) {
      const double end = ends.values[c];
      if (!(end >= static_cast<double>(begin) && end <= 4294967295.0) || end != std::floor(end)) {
        fail_input("{}: offset {} of cell {}; offsets must be whole numbers that do not fall, from {} on",
                   describe_place(file_, ends, c), end, c, begin);
      }
      cells.first.push_back(begin);
      cells.count.push_back(as_size(end) - begin);
      begin = as_size(end);
    }
    cells.nodes = read_list(piece.connectivity, "connectivity", begin);
    cells.types = read_list(piece.types, "types", piece.cells);
    if (piece.regions) cells.regions = read_list(piece.regions, "regions", piece.cells);
    add_cells(file_, cells, base, piece.points, out);
  }

  SourceFile file_;
  XmlReader xml_;
  VtuEncoding encoding_;
  bool has_root_ = false;
  std::vector<Piece> pieces_;
  std::optional<std::size_t> appended_begin_;
  VtuArray::Form appended_form_ = VtuArray::Form::kRaw;
};

}  // namespace

RawVolume read_vtu(const std::string& name, std::string_view bytes) {
  return VtuReader(name, bytes).run();
}

}  // namespace palpate
