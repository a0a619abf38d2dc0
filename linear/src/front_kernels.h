#pragma once

#include "front_tree.h"

// Arithmetic of one front, on strips laid out as FrontShape says.
namespace palpate::front {

/// Factors the pivot columns of an assembled panel in place: L₁₁L₁₁ᵀ = A₁₁, L₂₁ = A₂₁L₁₁⁻ᵀ; 1/L_jj to `inverse`.
/// Returns −1, or the first scalar column whose pivot is not positive.
int factor_panel(const FrontShape& shape, double* panel, double* inverse) noexcept;

/// update = −L₂₁L₂₁ᵀ, lower triangle.
void compute_update(const FrontShape& shape, const double* panel, double* update) noexcept;

/// Adds columns of a child's update matrix to its parent: those of the parent's pivots to the panel, the others to
/// the parent's update matrix.
void add_to_panel(const FrontTree& tree, const Front& child, const double* update, double* parent_panel) noexcept;
void add_to_update(const FrontTree& tree, const Front& child, const double* update, double* parent_update) noexcept;

/// Strips of right-hand sides: strip number i begins at base + i · stride and holds twelve right-hand sides as rows,
/// slab positions as columns. Only those listed are worked on.
struct StripSet {
  double* base;
  std::size_t stride;
  const int* list;
  int count;
};

/// X ← X L₁₁⁻ᵀ in the front's columns of each strip, then Y −= X L₂₁ᵀ in those of the rows below.
void forward(const FrontTree& tree, const Front& front, const double* panel, const double* inverse,
             const StripSet& strips) noexcept;

/// The front's part of X ← X L⁻¹ in one strip, all later fronts done. `rows` is room for 12 · 12 scalars a row strip.
void backward(const FrontTree& tree, const Front& front, const double* panel, const double* inverse, double* strip,
              double* rows) noexcept;

/// The same for a single right-hand side; `local` is room for 12 scalars a strip of the front.
void forward_one(const FrontTree& tree, const Front& front, const double* panel, const double* inverse, double* slab,
                 double* local) noexcept;
void backward_one(const FrontTree& tree, const Front& front, const double* panel, const double* inverse, double* slab,
                  double* local) noexcept;

}  // namespace palpate::front
