#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "palpate/core/index.h"
#include "palpate/core/math.h"
#include "palpate/linear/block_rows.h"

namespace palpate {

/// W += J A Jᵀ for rows J that touch few of A's columns, three at a time, and for the three of a contact the same ones.
/// A is symmetric; of it only the columns that wanted rows touch are read.
///
/// Use: begin(), then begin_group() and add() for each group of rows, then add_to(). Thread: whoever has it. Bounded by
/// the sizes; allocates in reserve() only.
class RowCompliance {
 public:
  void reserve(int most_rows, int most_entries, int most_columns);

  /// Only what is in these rows and columns of W is wanted, ascending; or in any.
  void begin(int rows, std::span<const std::int32_t> wanted);
  void begin(int rows);
  bool is_wanted(int row) const noexcept { return wanted_[as_size(row)] != 0; }

  /// How many of J's rows from `row` on have entries at the same blocks and make a group: three or one.
  static int count_group(const BlockRows& J, int row) noexcept;
  /// The next `count` rows from `first` on, which touch the same columns.
  void begin_group(int first, int count);
  /// What the group has of columns `column`, …, `column` + 2 of A: its row i `values[i]`.
  void add(int column, std::span<const Vec3> values);
  /// Whether one of the last group's rows is wanted.
  bool is_group_wanted() const noexcept { return groups_.back().wanted; }

  void add_to(const Eigen::Ref<const Eigen::MatrixXd>& A, Eigen::Ref<Eigen::MatrixXd> W) noexcept;

 private:
  struct Group {
    int first, count;
    bool wanted, whole;      ///< some of its rows are wanted, or all
    std::size_t begin, end;  ///< in entries_
  };
  struct Entry {
    int column;
    double value[3][4];  ///< of each axis, in each row; zero where there is none
  };
  void multiply(const Group& group, const Eigen::Ref<const Eigen::MatrixXd>& A) noexcept;
  void add_block(const Group& to, const Group& from, Eigen::Ref<Eigen::MatrixXd> W) const noexcept;

  std::vector<std::uint8_t> wanted_;  ///< of each row
  std::vector<Group> groups_;
  std::vector<Entry> entries_;
  Eigen::MatrixXd AJ_;  ///< A Jᵀ of one group, a column a row
};

}  // namespace palpate
