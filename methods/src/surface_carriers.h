#pragma once

#include <span>
#include <vector>

#include "palpate/bodies/fem_body.h"

namespace palpate {

/// Which nodes carry each vertex of a soft body's surface. Set-up only.
class SurfaceCarriers {
 public:
  struct Carrier {
    std::int32_t node;
    double weight;  ///< not zero
  };
  explicit SurfaceCarriers(const FemBody& body) : begin_(1, 0) {
    const BodySurface surface = body.surface();
    std::vector<BodyPoint> corner(surface.positions.size());
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      for (int k = 0; k < 3; ++k)
        corner[as_size(surface.triangles[t][as_size(k)])] =
            BodyPoint::on_surface(static_cast<std::int32_t>(t), Vec3::Unit(k));
    }
    std::vector<BlockRows::Entry> entries(as_size(body.max_row_entries()));
    for (const BodyPoint& point : corner) {
      const int count = point.element < 0 ? 0 : body.compute_point_row(point, Vec3::UnitX(), entries);
      for (const BlockRows::Entry& e : std::span(entries).first(as_size(count))) {
        if (e.value.x() != 0.0) carriers_.push_back({e.block, e.value.x()});
      }
      begin_.push_back(carriers_.size());
    }
  }

  std::size_t vertices() const noexcept { return begin_.size() - 1; }
  /// None if no triangle has the vertex.
  std::span<const Carrier> of(std::size_t vertex) const noexcept {
    return std::span(carriers_).subspan(begin_[vertex], begin_[vertex + 1] - begin_[vertex]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<Carrier> carriers_;
};

}  // namespace palpate
