#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "mesh_readers.h"

namespace palpate {
namespace {

enum class Type { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat, kDouble };

struct Property {
  std::string name;
  Type type = Type::kFloat;
  bool is_list = false;
  Type count_type = Type::kUint8;
};

struct Element {
  std::string name;
  std::int64_t count = 0;
  std::vector<Property> properties;
};

enum class Format { kAscii, kLittle, kBig };

struct Header {
  Format format = Format::kAscii;
  std::vector<Element> elements;
};

Type read_type(const LineReader& lines, std::size_t word) {
  static constexpr std::array<std::array<std::string_view, 2>, 8> kNames = {{{"char", "int8"},
                                                                             {"uchar", "uint8"},
                                                                             {"short", "int16"},
                                                                             {"ushort", "uint16"},
                                                                             {"int", "int32"},
                                                                             {"uint", "uint32"},
                                                                             {"float", "float32"},
                                                                             {"double", "float64"}}};
  for (std::size_t i = 0; i < kNames.size() && word < lines.words().size(); ++i) {
    if (lines.words()[word] == kNames[i][0] || lines.words()[word] == kNames[i][1]) return static_cast<Type>(i);
  }
  lines.fail("{} is not a PLY type; allowed are char, uchar, short, ushort, int, uint, float, double",
             lines.shown(word));
}

void read_property(const LineReader& lines, Header& header) {
  if (header.elements.empty()) lines.fail("a property before any element");
  Property property;
  property.is_list = lines.words().size() > 1 && lines.words()[1] == "list";
  if (property.is_list) property.count_type = read_type(lines, 2);
  property.type = read_type(lines, property.is_list ? 3 : 1);
  const std::size_t at = property.is_list ? 4 : 2;
  if (lines.words().size() <= at) lines.fail("a property without a name");
  property.name = lines.words()[at];
  header.elements.back().properties.push_back(property);
}

Header read_header(LineReader& lines, std::int64_t file_size) {
  Header header;
  while (true) {
    lines.require_next("'end_header'");
    const auto& words = lines.words();
    if (words[0] == "end_header") return header;
    if (words[0] == "format") {
      const std::string_view kind = words.size() > 1 ? words[1] : "";
      if (kind != "ascii" && kind != "binary_little_endian" && kind != "binary_big_endian") {
        lines.fail("format {}; allowed are ascii, binary_little_endian, binary_big_endian", lines.shown(1));
      }
      header.format = kind == "ascii" ? Format::kAscii : kind == "binary_big_endian" ? Format::kBig : Format::kLittle;
    } else if (words[0] == "element") {
      const std::int64_t count = lines.integer(2);
      // An element takes a byte at least, so a larger count is wrong and must not size an allocation or a loop.
      if (count < 0 || count > file_size)
        lines.fail("{} elements do not fit into {} bytes; the file is cut short or its counts are wrong", count,
                   file_size);
      header.elements.push_back({std::string(words[1]), count, {}});
    } else if (words[0] == "property") {
      read_property(lines, header);
    } else if (words[0] != "comment" && words[0] != "obj_info") {
      lines.fail("{} is not a word of a PLY header", lines.shown(0));
    }
  }
}

/// Reads one value after the other from the body, whatever its format.
class Body {
 public:
  Body(const std::string& name, std::string_view bytes, Format format) : name_(name), bytes_(bytes), format_(format) {}

  void start(const Element& element, std::int64_t index) noexcept {
    element_ = &element;
    index_ = index;
  }
  double read(Type type) { return format_ == Format::kAscii ? read_text() : read_binary(type); }
  [[noreturn]] void fail(const std::string& what) const {
    fail_input("{}: {} {}: {}", name_, quote_for_message(element_->name), index_, what);
  }
  std::int64_t read_whole(Type type) {
    const double x = read(type);
    if (!(std::abs(x) < 9e15) || x != std::floor(x)) fail(fmt::format("{} is not a whole number", x));
    return static_cast<std::int64_t>(x);
  }

 private:
  double read_text() {
    constexpr std::string_view kSpace = " \t\r\n\v\f";
    at_ = bytes_.find_first_not_of(kSpace, at_);
    if (at_ == std::string_view::npos) fail("missing; the file is cut short");
    const std::size_t end = std::min(bytes_.find_first_of(kSpace, at_), bytes_.size());
    const std::string_view word = bytes_.substr(at_, end - at_);
    at_ = end;
    double x = 0.0;
    if (!parse_number(word, x)) fail(fmt::format("{} is not a number", quote_for_message(word)));
    return x;
  }
  template <typename T>
  double take() {
    std::array<char, sizeof(T)> raw;
    if (bytes_.size() - at_ < sizeof(T)) fail("missing; the file is cut short");
    std::memcpy(raw.data(), bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    if (format_ == Format::kBig) std::reverse(raw.begin(), raw.end());
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return static_cast<double>(value);
  }
  double read_binary(Type type) {
    switch (type) {
      case Type::kInt8:
        return take<std::int8_t>();
      case Type::kUint8:
        return take<std::uint8_t>();
      case Type::kInt16:
        return take<std::int16_t>();
      case Type::kUint16:
        return take<std::uint16_t>();
      case Type::kInt32:
        return take<std::int32_t>();
      case Type::kUint32:
        return take<std::uint32_t>();
      case Type::kFloat:
        return take<float>();
      case Type::kDouble:
        return take<double>();
    }
    return 0.0;
  }

  const std::string& name_;
  std::string_view bytes_;
  Format format_;
  std::size_t at_ = 0;
  const Element* element_ = nullptr;
  std::int64_t index_ = 0;
};

void read_vertex(Body& body, const Element& element, TriangleMesh& mesh) {
  Vec3 p = Vec3::Constant(std::numeric_limits<double>::quiet_NaN());
  for (const Property& property : element.properties) {
    const std::int64_t values = property.is_list ? body.read_whole(property.count_type) : 1;
    for (std::int64_t i = 0; i < values; ++i) {
      const double x = body.read(property.type);
      if (!property.is_list && property.name.size() == 1 && property.name >= "x" && property.name <= "z") {
        p[property.name[0] - 'x'] = x;
      }
    }
  }
  if (!p.allFinite()) body.fail(fmt::format("({}, {}, {}) must be three finite numbers", p.x(), p.y(), p.z()));
  mesh.vertices.push_back(p);
}

void read_face(Body& body, const Element& element, std::int64_t vertices, TriangleMesh& mesh) {
  std::vector<std::int32_t> corners;
  for (const Property& property : element.properties) {
    const bool wanted = property.is_list && (property.name == "vertex_indices" || property.name == "vertex_index");
    const std::int64_t values = property.is_list ? body.read_whole(property.count_type) : 1;
    if (values < 0) body.fail(fmt::format("a list of {} values", values));
    for (std::int64_t i = 0; i < values; ++i) {
      if (!wanted) {
        body.read(property.type);
        continue;
      }
      const std::int64_t index = body.read_whole(property.type);
      if (index < 0 || index >= vertices) {
        body.fail(fmt::format("vertex index {} is out of range; allowed are 0 to {}", index, vertices - 1));
      }
      corners.push_back(static_cast<std::int32_t>(index));
    }
  }
  add_polygon(mesh, corners);
}

}  // namespace

TriangleMesh read_ply(const std::string& name, std::string_view bytes) {
  LineReader lines(name, bytes);
  if (!bytes.starts_with("ply") || !lines.next() || lines.words()[0] != "ply") {
    fail_input("{}: not a PLY file: it does not start with 'ply'", name);
  }
  const Header header = read_header(lines, static_cast<std::int64_t>(bytes.size()));
  Body body(name, bytes.substr(lines.position()), header.format);
  TriangleMesh mesh;
  std::int64_t vertices = 0;
  for (const Element& element : header.elements) {
    if (element.name == "vertex") vertices = element.count;
  }
  for (const Element& element : header.elements) {
    if (element.name == "tristrips") fail_input("{}: triangle strips are not supported; write faces", name);
    if (element.properties.empty() && element.count > 0) {
      fail_input("{}: element {} has no properties", name, quote_for_message(element.name));
    }
    for (std::int64_t i = 0; i < element.count; ++i) {
      body.start(element, i);
      if (element.name == "vertex") {
        read_vertex(body, element, mesh);
      } else {
        read_face(body, element, vertices, mesh);
      }
    }
  }
  return mesh;
}

}  // namespace palpate
