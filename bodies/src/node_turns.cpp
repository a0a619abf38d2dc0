#include "node_turns.h"

#include "lanes.h"

namespace palpate {
namespace {

/// The polar factors of matrices whose singular values are below √3: R ← R (3 I − RᵀR)/2, Newton's iteration without an
/// inverse, which doubles the correct digits each time. All lanes go on until the last is exact.
void orthogonalise(lanes::Matrix& R) noexcept {
  constexpr int kMostRounds = 6;
  constexpr double kNearlyDone = 1e-8;  // the round that follows leaves its square
  bool done = false;
  for (int round = 0; round < kMostRounds && !done; ++round) {
    lanes::Matrix square;
    lanes::Double4 off{};
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) {
        const lanes::Double4 s =
            lanes::madd(R.m[2][i], R.m[2][j], lanes::madd(R.m[1][i], R.m[1][j], R.m[0][i] * R.m[0][j]));
        const lanes::Double4 error = i == j ? s - 1.0 : s;
        off = lanes::madd(error, error, off);
        square.m[i][j] = square.m[j][i] = s;
      }
    }
    done = !lanes::any(off > lanes::fill(kNearlyDone * kNearlyDone));
    for (auto& row : R.m) {
      lanes::Double4 next[3];
      for (int j = 0; j < 3; ++j) {
        const lanes::Double4 s =
            lanes::madd(row[2], square.m[2][j], lanes::madd(row[1], square.m[1][j], row[0] * square.m[0][j]));
        next[j] = 1.5 * row[j] - 0.5 * s;
      }
      for (int j = 0; j < 3; ++j) row[j] = next[j];
    }
  }
}

}  // namespace

Mat3 NodeTurns::compute_mean(int node) const noexcept {
  using Turn = Eigen::Map<const Eigen::Matrix3f>;
  const int begin = begin_[as_size(node)], count = begin_[as_size(node) + 1] - begin;
  if (count == 0) return Mat3::Identity();
  const std::span<const std::int32_t> around(element_.data() + begin, as_size(count));
  Eigen::Matrix3f sum = Eigen::Matrix3f::Zero();
  for (const std::int32_t e : around) sum += Turn(&turns_[9 * as_size(e)]);
  const Mat3 mean = sum.cast<double>() / static_cast<double>(count);
  // Elements that disagree by more than a right angle have no mean: then one of them is as good as another.
  return mean.squaredNorm() > 1.5 ? mean : Mat3(Turn(&turns_[9 * as_size(around.front())]).cast<double>());
}

void NodeTurns::compute(int first, int end, std::span<Mat3> out) const noexcept {
  for (int i = first; i < end; i += lanes::kLanes) {
    const int count = std::min(lanes::kLanes, end - i);
    lanes::Matrix R;
    for (int lane = 0; lane < lanes::kLanes; ++lane) {
      const Mat3 mean = compute_mean(i + std::min(lane, count - 1));
      for (int k = 0; k < 9; ++k) R.m[k / 3][k % 3][lane] = mean(k / 3, k % 3);
    }
    orthogonalise(R);
    for (int lane = 0; lane < count; ++lane) {
      for (int k = 0; k < 9; ++k) out[as_size(i - first + lane)](k / 3, k % 3) = R.m[k / 3][k % 3][lane];
    }
  }
}

}  // namespace palpate
