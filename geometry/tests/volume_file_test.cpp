#include "palpate/geometry/volume_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/geometry/tet_quality.h"
#include "palpate/testing/temp_folder.h"
#include "real_data.h"
#include "volume_files.h"

namespace palpate::volume_file_test {
namespace {

namespace fs = std::filesystem;

class VolumeFile : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path(name); }
  fs::path write(const std::string& name, std::string_view bytes) const { return folder_.write(name, bytes); }
  LoadedVolume load(const std::string& name, std::string_view bytes) const { return load_volume(write(name, bytes)); }

  /// Loading must throw InputError with the file's name and `part` in its message.
  void expect_refused(const std::string& name, std::string_view bytes, const std::string& part) const {
    try {
      load(name, bytes);
      ADD_FAILURE() << name << " was accepted, expected: " << part;
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(path(name).string()), std::string::npos) << message;
      EXPECT_NE(message.find(part), std::string::npos) << message;
      EXPECT_LT(message.size(), 450u) << message;
    }
  }
  /// The two tets that all of volume_files.h hold: a unit corner (volume 1/6) and one on its long face (1/3).
  static void expect_two_tets(const LoadedVolume& loaded, const std::vector<std::int32_t>& regions) {
    EXPECT_EQ(loaded.report.tets, 2);
    EXPECT_EQ(loaded.report.vertices, 5);
    EXPECT_NEAR(loaded.report.volume, 0.5, 1e-15);
    EXPECT_EQ(loaded.mesh.regions, regions);
    EXPECT_TRUE(loaded.report.is_clean()) << loaded.report.describe();
    EXPECT_TRUE(check_mesh(extract_surface(loaded.mesh).mesh).is_clean());
  }

 private:
  testing::TempFolder folder_{"volume_file"};
};

std::string with_carriage_returns(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TetMesh make_mesh_with_regions() {
  TetMesh mesh = make_tet_block(Vec3(0.1, 0.2, 0.3), {3, 2, 4});
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) mesh.vertices[i] *= 1.0 + 1e-3 * std::sin(double(i));
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) mesh.regions.push_back(static_cast<std::int32_t>(t % 3));
  return mesh;
}

TEST_F(VolumeFile, EveryFormatGivesBackTheSameBits) {
  const TetMesh mesh = make_mesh_with_regions();
  for (const bool ascii : {false, true}) {
    for (const char* name : {"a.vtu", "a.vtk", "a.msh", "a.VTU"}) {
      VolumeWriteOptions options;
      options.ascii = ascii;
      options.point_fields = {{"height", 1, std::vector<double>(mesh.vertices.size(), 0.25)},
                              {"displacement", 3, std::vector<double>(3 * mesh.vertices.size(), -1e-7)}};
      write_volume(path(name), mesh, options);
      const LoadedVolume loaded = load_volume(path(name));
      EXPECT_EQ(loaded.mesh.vertices, mesh.vertices) << name;
      EXPECT_EQ(loaded.mesh.tets, mesh.tets) << name;
      EXPECT_EQ(loaded.mesh.regions, mesh.regions) << name;
      EXPECT_FALSE(loaded.repair.changed()) << loaded.repair.describe();
    }
  }
}

TEST_F(VolumeFile, WrittenVtuIsWellFormedXml) {
  if (std::system("python3 -c 'import xml.etree.ElementTree' 2>/dev/null") != 0) GTEST_SKIP() << "python3 is not there";
  write_volume(path("binary.vtu"), make_mesh_with_regions());
  write_volume(path("text.vtu"), make_mesh_with_regions(), {.ascii = true, .point_fields = {}});
  write_volume(path("hexes.vtu"), make_hex_grid(Vec3(1, 1, 1), {2, 2, 2}));
  for (const char* name : {"binary.vtu", "text.vtu", "hexes.vtu"}) {
    const std::string command = fmt::format(
        "python3 -c 'import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); "
        "p = r.find(\"UnstructuredGrid/Piece\"); a = {{d.get(\"Name\") for d in p.iter(\"DataArray\")}}; "
        "sys.exit(not (r.tag == \"VTKFile\" and {{\"connectivity\", \"offsets\", \"types\"}} <= a))' {}",
        path(name).string());
    EXPECT_EQ(std::system(command.c_str()), 0) << name;
  }
}

TEST_F(VolumeFile, HexesAreReadBack) {
  const HexGrid grid = make_hex_grid(Vec3(1, 2, 3), {2, 3, 4});
  for (const char* name : {"h.vtu", "h.vtk"}) {
    write_volume(path(name), grid);
    const LoadedVolume loaded = load_volume(path(name), {.scale = 0.1, .allow_hexes = true});
    EXPECT_EQ(loaded.hexes, grid.hexes);
    EXPECT_TRUE(loaded.mesh.tets.empty());
    EXPECT_NEAR(compute_volume(loaded.mesh.vertices, loaded.hexes), 6e-3, 1e-15);
    EXPECT_THROW(load_volume(path(name)), InputError) << "where tets are needed";
  }
}

TEST_F(VolumeFile, HexesAreWrittenInVtkOrder) {
  write_volume(path("a.vtk"), make_hex_grid(Vec3(1, 1, 1), {1, 1, 1}), {.ascii = true, .point_fields = {}});
  const std::string text = read_bytes(path("a.vtk"));
  // VTK_HEXAHEDRON: around the lower square, then around the upper one.
  EXPECT_NE(text.find("CELLS 1 9\n8 0 1 3 2 4 5 7 6"), std::string::npos) << text;
  EXPECT_NE(text.find("CELL_TYPES 1\n12"), std::string::npos);
  expect_refused("a.vtk", text, "hexahedra");
}

TEST_F(VolumeFile, GmshDialectsAreRead) {
  const LoadedVolume one = load("a.msh", kGmsh1);
  expect_two_tets(one, {7, 7});
  EXPECT_EQ(one.repair.skipped_elements, 1);
  EXPECT_EQ(one.format, "Gmsh 1");
  const LoadedVolume two = load("b.msh", kGmsh2);
  expect_two_tets(two, {3, 4});
  EXPECT_EQ(two.repair.skipped_elements, 3);
  EXPECT_EQ(two.repair.dropped_vertices, 1);
  expect_two_tets(load("c.msh", with_carriage_returns(kGmsh2)), {3, 4});
  const LoadedVolume four = load("d.msh", kGmsh4);
  expect_two_tets(four, {30, 40});
  EXPECT_EQ(four.repair.skipped_elements, 2);
  EXPECT_EQ(four.format, "Gmsh 4.1");
  expect_two_tets(load("e.msh", with_carriage_returns(kGmsh4)), {30, 40});
  // Without physical groups, regions are the elementary entities.
  std::string plain = replaced(kGmsh4, "1 30 ", "0 ");
  expect_two_tets(load("f.msh", replaced(plain, "1 -40 ", "0 ")), {1, 2});
}

TEST_F(VolumeFile, GmshBadFilesAreRefused) {
  expect_refused("a.msh", replaced(kGmsh2, "2.2 0 8", "2.2 1 8"), "ASCII");
  expect_refused("a.msh", replaced(kGmsh2, "2.2 0 8", "4 0 8"), "version");
  expect_refused("a.msh", replaced(kGmsh2, "2.2 0 8", "9.9 0 8"), "allowed are 1, 2.0 to 2.2 and 4.1");
  expect_refused("a.msh", replaced(kGmsh2, "0 0 1\n", "0 nan 1\n"), "not finite");
  expect_refused("a.msh", replaced(kGmsh2, "0 0 1\n", "0 0\n"), "three coordinates");
  expect_refused("a.msh", replaced(kGmsh2, "$Nodes\n6", "$Nodes\n4000000000"), "do not fit");
  expect_refused("a.msh", replaced(kGmsh2, "$Nodes\n6", "$Nodes\n5"), "are the counts right");
  expect_refused("a.msh", replaced(kGmsh2, "$Nodes\n6", "$Nodes\n7"), "$EndNodes");
  expect_refused("a.msh", replaced(kGmsh2, "$Elements\n5", "$Elements\n4000000000"), "do not fit");
  expect_refused("a.msh", replaced(kGmsh2, "11 12 13 14", "11 12 13 98"), "\"98\" is out of range");
  expect_refused("a.msh", replaced(kGmsh2, "4 2 3 1 11", "5 2 3 1 11"), "hexahedra");
  expect_refused("a.msh", replaced(kGmsh2, "4 2 3 1 11 12 13 14", "4 2 3 1 11 12 13"), "nothing");
  expect_refused("a.msh", replaced(kGmsh2, "\n12 1 0 0", "\n11 1 0 0"), "second time");
  const std::string cut = kGmsh4;
  expect_refused("a.msh", std::string_view(cut).substr(0, cut.size() / 2), "cut short");
  expect_refused("a.msh", replaced(kGmsh4, "2 5 1 5", "2 6 1 5"), "declared");
  expect_refused("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "no $Nodes");
  expect_refused("a.msh", "$Elements\n0\n$EndElements\n", "before nodes");
}

TEST_F(VolumeFile, LegacyVtkDialectsAreRead) {
  const LoadedVolume old = load("a.vtk", kVtkLegacy);
  expect_two_tets(old, {5, 6});
  EXPECT_EQ(old.repair.skipped_elements, 1);
  expect_two_tets(load("b.vtk", with_carriage_returns(kVtkLegacy)), {5, 6});
  expect_two_tets(load("c.vtk", kVtkLegacy5), {});
  EXPECT_TRUE(holds_volume(path("a.vtk")));
  expect_refused("a.vtk", replaced(kVtkLegacy, "4 0 1 2 3", "4 0 1 2 5"), "out of range; allowed are 0 to 4");
  expect_refused("a.vtk", replaced(kVtkLegacy, "4 0 1 2 3", "4 0 1 2 5"), "a.vtk:11");
  expect_refused("a.vtk", replaced(kVtkLegacy, "4 0 1 2 3", "9 0 1 2 3"), "runs past");
  expect_refused("a.vtk", replaced(kVtkLegacy, "POINTS 5", "POINTS 4000000000"), "do not fit");
  expect_refused("a.vtk", replaced(kVtkLegacy, "POINTS 5", "POINTS 6"), "not a number");
  expect_refused("a.vtk", replaced(kVtkLegacy, "0 0 1", "0 inf 1"), "finite");
  expect_refused("a.vtk", replaced(kVtkLegacy, "CELL_TYPES 3\n10", "CELL_TYPES 3\n14"), "pyramids");
  expect_refused("a.vtk", replaced(kVtkLegacy, "CELL_TYPES 3\n", "CELL_TYPES 2\n"), "are the counts right");
  expect_refused("a.vtk", replaced(kVtkLegacy, "\n5\n6", "\n5.5\n6"), "region 5.5");
  expect_refused("a.vtk", replaced(kVtkLegacy, "UNSTRUCTURED_GRID", "POLYDATA"), "not a volume");
}

TEST_F(VolumeFile, VtuOfEveryEncodingIsRead) {
  for (const bool big : {false, true}) {
    for (const bool wide : {false, true}) {
      for (const bool zlib : {false, true}) {
        for (const VtuForm form : {VtuForm::kText, VtuForm::kInline, VtuForm::kAppendedRaw, VtuForm::kAppendedBase64}) {
          const std::string bytes = make_vtu(form, big, wide, zlib);
          SCOPED_TRACE(fmt::format("form {} big {} wide {} zlib {}", int(form), big, wide, zlib));
          expect_two_tets(load("a.vtu", bytes), {5, 6});
          expect_refused("b.vtu", std::string_view(bytes).substr(0, bytes.size() * 6 / 10), "cut short");
        }
      }
    }
  }
}

TEST_F(VolumeFile, VtuBadFilesAreRefused) {
  const std::string text = make_vtu(VtuForm::kText, false, false, false);
  expect_refused("a.vtu", replaced(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"4000000000\""), "2147483647");
  expect_refused("a.vtu", replaced(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"6\""), "cut short");
  expect_refused("a.vtu", replaced(text, "NumberOfPoints=\"5\"", "NumberOfPoints=\"4\""), "more than the 12 values");
  expect_refused("a.vtu", replaced(text, "UnstructuredGrid\"", "PolyData\""), "must be UnstructuredGrid");
  expect_refused("a.vtu", replaced(text, "<Points>", "<Points"), "a.vtu:");
  expect_refused("a.vtu", replaced(text, "</Piece>", "</Peace>"), "closes nothing");
  expect_refused("a.vtu", replaced(text, "<VTKFile", "<!DOCTYPE a [<!ENTITY b \"c\">]><VTKFile"), "DOCTYPE");
  expect_refused("a.vtu", replaced(text, "LittleEndian", "MiddleEndian"), "allowed are LittleEndian");
  expect_refused("a.vtu", replaced(text, "header_type", "compressor=\"vtkLZ4DataCompressor\" header_type"), "LZ4");
  expect_refused("a.vtu", replaced(text, "1 1 1", "1 nan 1"), "finite");
  const std::string packed = make_vtu(VtuForm::kAppendedRaw, false, false, true);
  std::string damaged = packed;
  damaged[damaged.find("\n</AppendedData>") - 1] ^= 0x55;
  expect_refused("a.vtu", damaged, "damaged");
}

TEST_F(VolumeFile, TetgenIsReadByEitherName) {
  for (const int first : {0, 1}) {
    write("a.node", make_tetgen_node(first));
    write("a.ele", make_tetgen_ele(first));
    for (const char* name : {"a.node", "a.ele"}) expect_two_tets(load_volume(path(name)), {2, 9});
  }
  expect_refused("a.ele", replaced(make_tetgen_ele(1), "1 1 2 3 4", "1 1 2 3 6"), "out of range; allowed are 1 to 5");
  expect_refused("a.ele", replaced(make_tetgen_ele(1), "2 4 1", "3 4 1"), "cut short");
  expect_refused("a.ele", replaced(make_tetgen_ele(1), "2 4 1", "1 4 1"), "more lines");
  write("a.ele", make_tetgen_ele(1));
  expect_refused("a.node", replaced(make_tetgen_node(1), "5 3", "5 2"), "dimension");
  expect_refused("a.node", replaced(make_tetgen_node(1), "3 0 1 0", "4 0 1 0"), "in order");
  EXPECT_THROW(load("lonely.node", make_tetgen_node(0)), InputError) << "no .ele beside it";
}

TEST_F(VolumeFile, RepairsAreCountedAndFlatTetsRefused) {
  const std::string nodes = "$NOD\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n6 7 7 7\n$ENDNOD\n$ELM\n";
  const LoadedVolume loaded = load("a.msh", nodes +
                                                "4\n1 4 1 1 4 1 3 2 4\n2 4 1 1 4 2 3 4 5\n3 4 1 1 4 2 5 4 3\n"
                                                "4 4 1 1 4 1 1 2 3\n$ENDELM\n");
  EXPECT_EQ(loaded.repair.turned_tets, 1) << "1 3 2 4";
  EXPECT_EQ(loaded.repair.dropped_duplicates, 1);
  EXPECT_EQ(loaded.repair.dropped_collapsed, 1);
  EXPECT_EQ(loaded.repair.dropped_vertices, 1);
  EXPECT_EQ(loaded.report.inverted_tets, 0);
  EXPECT_NEAR(loaded.report.volume, 0.5, 1e-15);
  expect_refused("a.msh", "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 2 3 4\n$ENDELM\n",
                 "no volume");
  expect_refused("a.msh", nodes + "1\n1 2 1 1 3 1 2 3\n$ENDELM\n", "only points, lines or faces");
}

TEST_F(VolumeFile, ScaleIsMetresInAUnit) {
  write("a.msh", kGmsh1);
  EXPECT_NEAR(load_volume(path("a.msh"), {.scale = 0.01}).report.volume, 0.5e-6, 1e-20);
  EXPECT_THROW(load_volume(path("a.msh"), {.scale = 0.0}), InputError);
  EXPECT_THROW(load_volume(path("a.msh"), {.scale = 1e200}), InputError);
}

TEST_F(VolumeFile, EveryBadFileIsNamedInTheMessage) {
  EXPECT_THROW(load_volume(path("missing.vtu")), InputError);
  expect_refused("a.vtuu", "x", "did you mean .vtu");
  const std::string zeros(1 << 20, '\0');
  for (const char* name : {"z.msh", "z.vtk", "z.vtu", "z.node"}) {
    write("z.ele", make_tetgen_ele(0));
    expect_refused(name, zeros, "not a");
    expect_refused(name, "", "empty");
    expect_refused(name, "\xff\xfe garbage \x01\x02", name == std::string("z.node") ? "whole number" : "not a");
  }
  EXPECT_THROW(write_volume(path("a.stl"), make_mesh_with_regions()), InputError);
  EXPECT_THROW(write_volume(path("no/such/a.vtu"), make_mesh_with_regions()), InputError);
  VolumeWriteOptions options;
  options.point_fields = {{"short", 1, {1.0}}};
  EXPECT_THROW(write_volume(path("a.vtu"), make_mesh_with_regions(), options), InputError);
}

/// Any cut and any changed bytes give a mesh or an InputError, never a crash: the sanitizer build makes it a proof.
TEST_F(VolumeFile, DamagedFilesNeverCrash) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"a.msh", kGmsh1}, {"a.msh", kGmsh2}, {"a.msh", kGmsh4}, {"a.vtk", kVtkLegacy}, {"a.vtk", kVtkLegacy5}};
  for (const bool zlib : {false, true}) {
    for (const VtuForm form : {VtuForm::kText, VtuForm::kInline, VtuForm::kAppendedRaw, VtuForm::kAppendedBase64}) {
      files.emplace_back("a.vtu", make_vtu(form, false, true, zlib));
    }
  }
  write_volume(path("b.vtk"), make_mesh_with_regions());
  files.emplace_back("a.vtk", read_bytes(path("b.vtk")));
  files.emplace_back("a.node", make_tetgen_node(0));
  files.emplace_back("a.ele", make_tetgen_ele(0));
  std::uint32_t state = 1;
  int refused = 0, trials = 0;
  for (const auto& [name, whole] : files) {
    write("a.node", make_tetgen_node(0));
    write("a.ele", make_tetgen_ele(0));
    for (int trial = 0; trial < 300; ++trial, ++trials) {
      std::string bytes = whole;
      const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
      if (trial % 3 == 0) bytes.resize(random() % whole.size());
      for (int change = 0; change < trial % 3 && !bytes.empty(); ++change) {
        bytes[random() % bytes.size()] =
            trial % 2 == 0 ? static_cast<char>(random()) : "0123456789-. \n"[random() % 14];
      }
      try {
        const LoadedVolume loaded = load(name, bytes);
        compute_tet_quality(loaded.mesh);
        EXPECT_TRUE(loaded.report.is_clean());
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, trials / 3);
}

struct RealVolume {
  const char* file;
  int vertices, tets, skipped;
};

/// Counts are the files' own ($NOD's count; lines of $ELM of type 4): they pin the reader, and say nothing of physics.
TEST(RealVolumeFile, LiversAreReadWhole) {
  for (const RealVolume& real : {RealVolume{"liver.msh", 181, 596, 0}, RealVolume{"liver2.msh", 507, 1493, 931}}) {
    const auto [path, missing] = testing::find_real_data(real.file);
    if (!missing.empty()) GTEST_SKIP() << missing;
    const LoadedVolume loaded = load_volume(path);
    std::printf("%s: %s\n", real.file, loaded.report.describe().c_str());
    EXPECT_EQ(loaded.report.vertices, real.vertices);
    EXPECT_EQ(loaded.report.tets, real.tets);
    EXPECT_EQ(loaded.repair.skipped_elements, real.skipped);
    const MeshReport boundary = check_mesh(extract_surface(loaded.mesh).mesh);
    EXPECT_TRUE(boundary.closed && boundary.consistent) << boundary.describe();
    // The divergence theorem: what the boundary encloses is the sum of the tets.
    EXPECT_NEAR(boundary.volume / loaded.report.volume, 1.0, 1e-12);
  }
}

TEST(RealVolumeFile, LiverVtkIsASurfaceOfFiveThousandPoints) {
  const auto [path, missing] = testing::find_real_data("liver.vtk");
  if (!missing.empty()) GTEST_SKIP() << missing;
  EXPECT_FALSE(holds_volume(path));
  const LoadedMesh loaded = load_mesh(path);
  std::printf("liver.vtk: %s\n", loaded.report.describe().c_str());
  EXPECT_EQ(loaded.report.vertices, 5008) << "its header says POINTS 5008";
  EXPECT_TRUE(loaded.report.closed);
}

}  // namespace
}  // namespace palpate::volume_file_test
