#include "palpate/geometry/triangle_tree.h"
#include <gtest/gtest.h>
namespace palpate {
namespace {
TEST(T, T) {
  TriangleMesh m;
  m.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  m.triangles = {{0, 1, 2}};
  TriangleTree t(m);
  SegmentHit h;
  EXPECT_TRUE(t.find_first_hit({0.2, 0.2, 1}, {0.2, 0.2, -1}, h));
  EXPECT_EQ(h.t, 0.5);
  ClosestPoint c;
  EXPECT_TRUE(t.find_closest({2, 0, 0}, 5, c));
  EXPECT_EQ(c.distance, 1.0);
}
}  // namespace
}  // namespace palpate
