#pragma once

#include <span>

#include "palpate/core/math.h"

namespace palpate {

/// The elastic forces and energy of a body's elements at positions that the caller has, computed piece by piece: for a
/// thread that knows where the nodes are, has no body, and may not take as long as all elements take.
///
/// It has copies of what it needs of the body (FemBody::make_elastic_forces()) and scratch of its own, so the body may
/// be stepped by another thread meanwhile. One thread at a time; nothing allocates or throws after it is made.
class ElasticForces {
 public:
  virtual ~ElasticForces() = default;
  /// Into how many pieces of about equal cost the work falls, a few hundred nanoseconds each.
  virtual int pieces() const noexcept = 0;
  /// Begins anew with the nodes at these places [m].
  virtual void begin(std::span<const Vec3> positions) noexcept = 0;
  /// The pieces from `first` to before `end`. Each is done once, in ascending order.
  virtual void add(int first, int end) noexcept = 0;
  /// After all pieces: the forces on the nodes [N], and the energy that the elements store there [J]. Equal to
  /// FemBody::compute_elastic_forces() and compute_elastic_energy() but for rounding.
  virtual double finish(std::span<Vec3> forces) noexcept = 0;
  /// After finish(): how far the elements around a node have turned from the shape at rest, in the mean; of the nodes
  /// from `first` to before `end`, into as many matrices.
  virtual void compute_turns(int first, int end, std::span<Mat3> turns) const noexcept = 0;
};

}  // namespace palpate
