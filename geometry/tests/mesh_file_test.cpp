#include "palpate/geometry/mesh_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/triangle_tree.h"
#include "palpate/testing/temp_folder.h"
#include "real_data.h"

namespace palpate::mesh_file_test {
namespace {

namespace fs = std::filesystem;

class MeshFile : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path(name); }
  fs::path write(const std::string& name, std::string_view bytes) const { return folder_.write(name, bytes); }
  LoadedMesh load(const std::string& name, std::string_view bytes) const { return load_mesh(write(name, bytes)); }

  /// Loading must throw InputError with the file's name and `part` in its message.
  void expect_refused(const std::string& name, std::string_view bytes, const std::string& part) const {
    try {
      load(name, bytes);
      ADD_FAILURE() << name << " was accepted, expected: " << part;
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(path(name).string()), std::string::npos) << message;
      EXPECT_NE(message.find(part), std::string::npos) << message;
      EXPECT_LT(message.size(), 400u) << message;
    }
  }

 private:
  testing::TempFolder folder_{"mesh_file"};
};

std::string file_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const char* const kTetrahedronOff = "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";

TEST_F(MeshFile, TextFormatsGiveBackTheSameBits) {
  const TriangleMesh mesh = make_noisy_sphere(0.1, 500, 0.003, 3);
  for (const char* name : {"a.obj", "a.ply", "a.off", "a.OBJ"}) {
    write_mesh(path(name), mesh);
    const LoadedMesh loaded = load_mesh(path(name));
    EXPECT_EQ(loaded.mesh.vertices, mesh.vertices) << name;
    EXPECT_EQ(loaded.mesh.triangles, mesh.triangles) << name;
    EXPECT_FALSE(loaded.repair.changed());
    EXPECT_TRUE(loaded.report.is_clean());
  }
}

TEST_F(MeshFile, BinaryStlGivesBackTheShapeInFloat) {
  const TriangleMesh mesh = make_noisy_sphere(0.1, 500, 0.003, 3);
  write_mesh(path("a.stl"), mesh);
  const LoadedMesh loaded = load_mesh(path("a.stl"));
  EXPECT_TRUE(loaded.report.is_clean()) << loaded.report.describe();
  EXPECT_EQ(loaded.mesh.vertices.size(), mesh.vertices.size());
  ASSERT_EQ(loaded.mesh.triangles.size(), mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int i = 0; i < 3; ++i) {
      const Vec3 p = mesh.vertices[mesh.triangles[t][i]];
      EXPECT_EQ(loaded.mesh.vertices[loaded.mesh.triangles[t][i]], p.cast<float>().cast<double>());
    }
  }
}

TEST_F(MeshFile, ScaleIsMetresInAUnit) {
  write_mesh(path("a.obj"), make_box(Vec3(100, 200, 300), 2));
  const LoadedMesh loaded = load_mesh(path("a.obj"), {.scale = 0.001, .repair = {}});
  EXPECT_NEAR(loaded.report.volume, 0.006, 1e-17);
  EXPECT_THROW(load_mesh(path("a.obj"), {.scale = 0.0, .repair = {}}), InputError);
  EXPECT_THROW(load_mesh(path("a.obj"), {.scale = 1e307, .repair = {}}), InputError) << "overflows";
}

TEST_F(MeshFile, ObjDialectsAreRead) {
  const LoadedMesh slashes =
      load("a.obj",
           "# comment\r\nmtllib x.mtl\r\no thing\r\nv 0 0 0 1.0\r\nv 1 0 0\r\nv 1 +1 0\r\nv 0 1 0\r\n"
           "vt 0 0\r\nvn 0 0 1\r\nusemtl m\r\ns off\r\nf 1/1/1 2/1/1 3//1 4/1\r\n");
  EXPECT_EQ(slashes.report.triangles, 2);
  EXPECT_NEAR(compute_area(slashes.mesh), 1.0, 1e-15);
  EXPECT_EQ(load("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n").report.triangles, 1);
  EXPECT_EQ(load("c.obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0").report.triangles, 1) << "faces first, no end of line";
  EXPECT_EQ(load("d.obj", "v 0 0 0\nv 1 0 \\\n 0\nv 0 1 0\nf 1 2 \\\r\n3\n").report.triangles, 1);
}

TEST_F(MeshFile, OffDialectsAreRead) {
  EXPECT_TRUE(load("a.off", kTetrahedronOff).report.is_clean());
  const LoadedMesh commented =
      load("b.off",
           "# first\nOFF # kind\n# counts\n4 4 0\n\n0 0 0 # a\n1 0 0\n0 1 0\n# between\n0 0 1\n"
           "3 0 2 1 255 0 0\n3 0 1 3\n3 0 3 2\n3 1 2 3\n");
  EXPECT_TRUE(commented.report.is_clean());
  EXPECT_EQ(load("c.off", "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").report.triangles, 1);
  EXPECT_EQ(load("d.off", "COFF\n3 1 0\n0 0 0 1 1 1 1\n1 0 0 1 1 1 1\n0 1 0 1 1 1 1\n3 0 1 2\n").report.triangles, 1);
}

TEST_F(MeshFile, AsciiStlIsRead) {
  const std::string facet =
      "facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 1e0 0\n endloop\nendfacet\n";
  EXPECT_EQ(load("a.stl", "solid a # b\n" + facet + "endsolid a # b\n").report.triangles, 1);
  expect_refused("b.stl", "solid a\n" + facet, "cut short");
  expect_refused("c.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\nendsolid\n", "3");
  expect_refused("d.stl", "solid a\nendsolid a\n", "no triangles");
  expect_refused("e.stl", "solid and then something else\n", "cut short");
  expect_refused("f.stl", "solid a\nhello\nendsolid\n", "hello");
}

TEST_F(MeshFile, BinaryPlyOfBothByteOrdersIsRead) {
  const TriangleMesh mesh = make_sphere(1.0, 2);
  for (const bool big : {false, true}) {
    std::string bytes = fmt::format(
        "ply\nformat binary_{}_endian 1.0\ncomment # made by hand\nelement vertex {}\nproperty float64 x\n"
        "property uchar red\nproperty double y\nproperty double z\nelement face {}\n"
        "property list uint8 int32 vertex_index\nproperty float quality\nend_header\n",
        big ? "big" : "little", mesh.vertices.size(), mesh.triangles.size());
    const auto put = [&](auto value) {
      char raw[sizeof value];
      std::memcpy(raw, &value, sizeof value);
      if (big) std::reverse(raw, raw + sizeof value);
      bytes.append(raw, sizeof value);
    };
    for (const Vec3& p : mesh.vertices) {
      put(p.x());
      put(std::uint8_t{7});
      put(p.y());
      put(p.z());
    }
    for (const auto& triangle : mesh.triangles) {
      put(std::uint8_t{3});
      for (const std::int32_t i : triangle) put(i);
      put(1.0f);
    }
    const LoadedMesh loaded = load("a.ply", bytes);
    EXPECT_EQ(loaded.mesh.vertices, mesh.vertices);
    EXPECT_EQ(loaded.mesh.triangles, mesh.triangles);
    expect_refused("b.ply", std::string_view(bytes).substr(0, bytes.size() - 5), "cut short");
    expect_refused("c.ply", std::string_view(bytes).substr(0, 300), "cut short");
  }
}

TEST_F(MeshFile, EveryBadFileIsNamedInTheMessage) {
  EXPECT_THROW(load_mesh(path("missing.obj")), InputError);
  EXPECT_THROW(load_mesh(path("")), InputError);
  fs::create_directories(path("folder.obj"));
  EXPECT_THROW(load_mesh(path("folder.obj")), InputError);
  expect_refused("a.objj", "v 0 0 0\n", "did you mean .obj");
  expect_refused("a", "v 0 0 0\n", ".obj, .stl, .ply, .off");
  const std::string zeros(10 << 20, '\0');
  for (const char* name : {"z.obj", "z.stl", "z.ply", "z.off"}) {
    expect_refused(name, zeros, "not a");
    expect_refused(name, "", "empty");
    expect_refused(name, "\xff\xfe garbage \x01\x02", "not a");
  }
  expect_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "no triangles");
  expect_refused("a.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", "a.obj:2");
  expect_refused("a.obj", "v 0 0 0\nv 1e999 0 0\nv 0 1 0\nf 1 2 3\n", "not finite");
  expect_refused("a.obj", "v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", "three coordinates");
  expect_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "1 to 3");
  expect_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "out of range");
  expect_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "out of range");
  expect_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "three corners");
  expect_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 x 2\n", "\"x\"");
  expect_refused("a.off", "OFF\n4 4 0\n0 0 0\n", "cut short");
  expect_refused("a.off", "OFF\n", "cut short");
  expect_refused("a.off", "OFF\n999999999999 4 0\n0 0 0\n", "fit");
  expect_refused("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "0 to 2");
  expect_refused("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n9 0 1 2\n", "9 corners");
  expect_refused("a.off", "OFF\n3 1 0\n0 0 0\n1 inf 0\n0 1 0\n3 0 1 2\n", "finite");
  expect_refused("a.off", "OFF\n0 0 0\n", "no triangles");
  expect_refused("a.off", "OFF BINARY\n", "binary");
  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string faces = "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 1 0 0 0 1 0\n";
  EXPECT_EQ(load("a.ply", ply + faces + "3 0 1 2\n").report.triangles, 1);
  expect_refused("a.ply", ply + faces, "cut short");
  expect_refused("a.ply", ply + faces + "3 0 1 7\n", "0 to 2");
  expect_refused("a.ply", ply + faces + "-3 0 1 2\n", "-3");
  expect_refused("a.ply", ply + faces + "3 0 1 x\n", "\"x\"");
  expect_refused("a.ply", ply, "cut short");
  expect_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n", "fit");
  expect_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nend_header\n", "no properties");
  expect_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty half x\nend_header\n", "half");
  expect_refused("a.ply", "ply\nformat ascii 1.0\nelement\nend_header\n", "nothing");
  expect_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "finite");
  EXPECT_THROW(write_mesh(path("no/such/folder.obj"), make_sphere(1, 1)), InputError);
  EXPECT_THROW(write_mesh(path("a.gltf"), make_sphere(1, 1)), InputError);
}

/// Any cut and any changed byte gives a mesh or an InputError, never a crash: the sanitizer build makes it a proof.
TEST_F(MeshFile, DamagedFilesNeverCrash) {
  const TriangleMesh mesh = make_sphere(1.0, 2);
  std::uint32_t state = 1;
  int refused = 0;
  for (const char* name : {"a.obj", "a.stl", "a.ply", "a.off"}) {
    write_mesh(path(name), mesh);
    const std::string whole = file_bytes(path(name));
    for (int trial = 0; trial < 300; ++trial) {
      state = state * 1664525u + 1013904223u;
      std::string bytes = whole;
      if (trial % 3 == 0) {
        bytes.resize(state % whole.size());
      } else {
        // Headers are short; half of the damage goes there.
        const std::size_t at =
            (state >> 4) % (trial % 3 == 1 ? std::min<std::size_t>(whole.size(), 200) : whole.size());
        bytes[at] = static_cast<char>(state >> 24);
      }
      try {
        const TriangleTree tree(load(name, bytes).mesh);
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 200);
}

struct RealMesh {
  const char* file;
  int triangles, genus;
};

class RealMeshFile : public ::testing::TestWithParam<RealMesh> {};

INSTANTIATE_TEST_SUITE_P(Real, RealMeshFile,
                         ::testing::Values(RealMesh{"fertility_10k.off", 10000, 4},
                                           RealMesh{"fertility_20k.off", 20000, 4},
                                           RealMesh{"rocker-arm.obj", 20088, 1}, RealMesh{"liver.obj", 274, 0},
                                           RealMesh{"liver-smooth.obj", 4384, 0}),
                         [](const auto& mesh) {
                           std::string name = mesh.param.file;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

/// What the file itself declares, read without the readers under test: OFF in its second line, OBJ by its lines.
std::array<std::size_t, 2> declared_counts(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::array<std::size_t, 2> counts{};
  if (path.extension() == ".off") {
    std::getline(file, line);
    file >> counts[0] >> counts[1];
    return counts;
  }
  while (std::getline(file, line)) {
    if (line.starts_with("v ")) ++counts[0];
    if (line.starts_with("f ")) ++counts[1];
  }
  return counts;
}

TEST_P(RealMeshFile, IsReadWholeAndClosedWithItsGenus) {
  const auto [path, missing] = testing::find_real_data(GetParam().file);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const LoadedMesh loaded = load_mesh(path);
  EXPECT_TRUE(loaded.report.is_clean()) << loaded.report.describe();
  EXPECT_EQ(loaded.report.triangles, GetParam().triangles);
  EXPECT_EQ(loaded.report.genus, GetParam().genus);

  const auto [vertices, faces] = declared_counts(path);
  // liver.obj lists all nodes of its volume mesh; those not on the surface are dropped, and nothing else.
  EXPECT_EQ(loaded.mesh.vertices.size() + as_size(loaded.repair.dropped_vertices), vertices);
  EXPECT_EQ(loaded.mesh.triangles.size(), faces) << "all faces of these files are triangles";
  // Euler: V − E + F = 2 − 2·genus, and on a closed surface of triangles E = 3F/2.
  EXPECT_EQ(loaded.report.vertices - loaded.report.triangles / 2, 2 - 2 * GetParam().genus);
}

TEST_P(RealMeshFile, ComesBackBitForBitThroughEveryTextFormat) {
  const auto [path, missing] = testing::find_real_data(GetParam().file);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const LoadedMesh loaded = load_mesh(path);
  const testing::TempFolder folder("real_mesh");
  for (const char* ending : {".obj", ".ply", ".off"}) {
    const fs::path copy = folder.path(std::string("copy") + ending);
    write_mesh(copy, loaded.mesh);
    const LoadedMesh again = load_mesh(copy);
    EXPECT_EQ(again.mesh.vertices, loaded.mesh.vertices) << ending;
    EXPECT_EQ(again.mesh.triangles, loaded.mesh.triangles) << ending;
  }
}

}  // namespace
}  // namespace palpate::mesh_file_test
