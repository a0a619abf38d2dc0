#pragma once

#include "front_tree.h"
#include "palpate/linear/block_cholesky.h"

// Arithmetic of one front, on strips laid out as FrontShape says, for T double and float.
namespace palpate::front {

/// Factors the pivot columns of an assembled panel in place: L₁₁L₁₁ᵀ = A₁₁, L₂₁ = A₂₁L₁₁⁻ᵀ; 1/L_jj to `inverse`.
/// Returns −1, or the first scalar column whose pivot is not positive.
template <typename T>
int factor_panel(const FrontShape& shape, T* panel, T* inverse) noexcept;

/// update = −L₂₁L₂₁ᵀ, lower triangle.
template <typename T>
void compute_update(const FrontShape& shape, const T* panel, T* update) noexcept;

/// Adds columns of a child's update matrix to its parent: those of the parent's pivots to the panel, the others to
/// the parent's update matrix.
template <typename T>
void add_to_panel(const FrontTree& tree, const Front& child, const T* update, T* parent_panel) noexcept;
template <typename T>
void add_to_update(const FrontTree& tree, const Front& child, const T* update, T* parent_update) noexcept;

/// X ← X L₁₁⁻ᵀ in the front's columns of each strip, then Y −= X L₂₁ᵀ in those of the rows below.
template <typename T>
void forward(const FrontTree& tree, const Front& front, const T* panel, const T* inverse,
             std::span<const RightHandStrip<T>> strips) noexcept;

/// The front's part of X ← X L⁻¹ in one strip, all later fronts done. `rows` is room for kRows · kRows scalars a row
/// strip.
template <typename T>
void backward(const FrontTree& tree, const Front& front, const T* panel, const T* inverse,
              const RightHandStrip<T>& strip, T* rows) noexcept;

/// The same for a single right-hand side; `local` is room for kRows scalars a strip of the front.
template <typename T>
void forward_one(const FrontTree& tree, const Front& front, const T* panel, const T* inverse, T* slab,
                 T* local) noexcept;
template <typename T>
void backward_one(const FrontTree& tree, const Front& front, const T* panel, const T* inverse, T* slab,
                  T* local) noexcept;

/// Zeros where a strip of right-hand sides has no unknowns: beyond the pivots of each front, and after the last.
template <typename T>
void clear_padding(const FrontTree& tree, T* slab) noexcept;

/// The first columns of a strip, back in the order of the blocks, to columns of x; zero at blocks that are left out.
template <typename T>
void store_strip(const FrontTree& tree, const T* slab, int columns, double* x, std::ptrdiff_t stride) noexcept;

}  // namespace palpate::front
