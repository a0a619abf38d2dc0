#include "palpate/bodies/explicit_tets.h"

#include "explicit_newmark.h"
#include "models.h"
#include "palpate/core/error.h"

// ExplicitTets against NonlinearTets, which it must repeat four elements at a time, and against what must hold by
// itself.
namespace palpate::explicit_tets_test {
namespace {

using namespace testing;

const Material kSoft{.young_modulus = 1e4, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 3.0};

/// 45 tets: the last block of lanes is not full.
TetMesh make_mesh() {
  return make_tet_block(Vec3(0.12, 0.05, 0.09), {3, 1, 3});
}

NonlinearTets make_body(HyperelasticModel model) {
  NonlinearTetSettings settings;
  settings.model = model;
  return NonlinearTets(make_mesh(), std::span(&kSoft, 1), settings);
}

ExplicitModel explicit_of(HyperelasticModel model) {
  return model == HyperelasticModel::kStVenantKirchhoff ? ExplicitModel::kStVenantKirchhoff
                                                        : ExplicitModel::kStableNeoHookean;
}

constexpr HyperelasticModel kModels[] = {HyperelasticModel::kStVenantKirchhoff, HyperelasticModel::kStableNeoHookean};

/// Moves both by the same random vectors, by up to `amplitude` [m].
void deform(NonlinearTets& body, ExplicitTets& tets, double amplitude, unsigned seed) {
  std::vector<Vec3> x(body.rest_positions().begin(), body.rest_positions().end());
  const std::vector<Vec3> by = random_vectors(body.node_count(), amplitude, seed);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += by[i];
  body.set_positions(x);
  for (int i = 0; i < body.node_count(); ++i) tets.set_position(i, x[as_size(i)]);
}

// The same forces and energy as the plain loop, to rounding, from small strain to crushed and inverted elements. A sum
// of some twenty contributions of size |P| V |g|, each of which a few dozen operations made: 1e-13 of the largest.
TEST(ExplicitTets, ForcesAndEnergyAreThoseOfThePlainLoop) {
  for (const HyperelasticModel model : kModels) {
    NonlinearTets body = make_body(model);
    ExplicitTets tets(make_mesh(), std::span(&kSoft, 1), explicit_of(model));
    for (const double amplitude : {1e-6, 0.005, 0.03}) {
      deform(body, tets, amplitude, 5);
      std::vector<Vec3> f(as_size(body.node_count()));
      body.compute_elastic_forces(f);
      tets.restart();
      double largest = 0.0;
      for (const Vec3& one : f) largest = std::max(largest, one.norm());
      // Strain is a difference from 1: of forces at 1e-6 m on cells of 40 mm only ten digits are there.
      const double tolerance = 1e-13 * std::max(1.0, 0.04 / amplitude);
      for (int i = 0; i < body.node_count(); ++i)
        EXPECT_LT((f[as_size(i)] - tets.force(i)).norm(), tolerance * largest) << amplitude;
      EXPECT_NEAR(tets.compute_elastic_energy() / body.compute_elastic_energy(), 1.0, 1e-7);
    }
  }
}

// f = −∂Ψ/∂x by central differences; of the linear model too, which has no plain loop. The difference quotient's
// error is that of a quartic energy, ∼(h/cell)² = 6e-10, and rounding, ∼1e-16 cell/h = 4e-12.
TEST(ExplicitTets, ForceIsMinusTheGradientOfTheEnergy) {
  for (const ExplicitModel model :
       {ExplicitModel::kLinear, ExplicitModel::kStVenantKirchhoff, ExplicitModel::kStableNeoHookean}) {
    NonlinearTets body = make_body(HyperelasticModel::kStVenantKirchhoff);
    ExplicitTets tets(make_mesh(), std::span(&kSoft, 1), model);
    deform(body, tets, 0.02, 9);
    tets.restart();
    double scale = 0.0;
    for (int i = 0; i < tets.node_count(); ++i) scale = std::max(scale, tets.force(i).norm());
    const double h = 1e-6;
    for (const int node : {0, 7, 20}) {
      const Vec3 x = tets.position(node);
      for (int axis = 0; axis < 3; ++axis) {
        tets.set_position(node, x + h * Vec3::Unit(axis));
        const double above = tets.compute_elastic_energy();
        tets.set_position(node, x - h * Vec3::Unit(axis));
        const double below = tets.compute_elastic_energy();
        tets.set_position(node, x);
        EXPECT_NEAR(tets.force(node)[axis], -(above - below) / (2.0 * h), 1e-7 * scale);
      }
    }
  }
}

// Turning a body as a whole strains it in linear strain only: there by ε = ½(R + Rᵀ) − I, whose trace at a quarter turn
// is −2, so that the energy is V (μ|ε|² + ½λ tr²ε) = V (2μ + 2λ).
TEST(ExplicitTets, RotationCostsNothingInGreensStrainAndMuchInLinear) {
  for (const ExplicitModel model :
       {ExplicitModel::kLinear, ExplicitModel::kStVenantKirchhoff, ExplicitModel::kStableNeoHookean}) {
    ExplicitTets tets(make_mesh(), std::span(&kSoft, 1), model);
    const double volume = tets.compute_volume();
    const Quat turn(Eigen::AngleAxisd(0.5 * M_PI, Vec3(1, 2, 3).normalized()));
    for (int i = 0; i < tets.node_count(); ++i) tets.set_position(i, turn * tets.position(i));
    const double scale = volume * 2.0 * (kSoft.lame_mu() + kSoft.lame_lambda());
    EXPECT_NEAR(tets.compute_elastic_energy() / scale, model == ExplicitModel::kLinear ? 1.0 : 0.0, 1e-12);
    EXPECT_NEAR(tets.compute_volume() / volume, 1.0, 1e-12);
  }
}

// The same steps as ExplicitNewmark, with weight, damping and held nodes.
TEST(ExplicitTets, StepsAreThoseOfExplicitNewmark) {
  for (const HyperelasticModel model : kModels) {
    NonlinearTets body = make_body(model);
    body.set_gravity(Vec3(0.0, -9.81, 0.0));
    for (int i = 0; i < body.node_count(); ++i) {
      if (body.rest_positions()[as_size(i)].x() < -0.0599) body.prescribe(i, Vec3(0.0, 0.0, 0.01));
    }
    ExplicitTets tets(body);
    ExplicitNewmark newmark(body);
    for (int step = 0; step < 200; ++step) {
      newmark.step(1e-3);
      tets.advance(1e-3);
    }
    double moved = 0.0, apart = 0.0;
    for (int i = 0; i < body.node_count(); ++i) {
      const auto k = as_size(i);
      moved = std::max(moved, (body.positions()[k] - body.rest_positions()[k]).norm());
      apart = std::max(apart, (body.positions()[k] - tets.position(i)).norm());
    }
    EXPECT_GT(moved, 0.01);
    EXPECT_LT(apart, 1e-12);
  }
}

TEST(ExplicitTets, RepeatsBitForBitFromASavedState) {
  ExplicitTets tets(make_mesh(), std::span(&kSoft, 1), ExplicitModel::kStVenantKirchhoff);
  tets.set_gravity(Vec3(0.0, -9.81, 0.0));
  tets.prescribe(0, Vec3::Zero());
  ExplicitTets::State start, a, b;
  tets.save(start);
  for (ExplicitTets::State* end : {&a, &b}) {
    tets.restore(start);
    for (int step = 0; step < 100; ++step) tets.advance(1e-3);
    tets.save(*end);
  }
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.v, b.v);
}

// At rest Green's bound is the element's exact frequency; in any state it is on the safe side of the exact one of the
// elements there, which NonlinearTets finds by eigenvalues of 12 × 12 matrices; and not absurdly so.
TEST(ExplicitTets, StableStepIsExactAtRestAndSafeInAnyState) {
  for (const HyperelasticModel model : kModels) {
    NonlinearTets body = make_body(model);
    ExplicitTets tets(make_mesh(), std::span(&kSoft, 1), explicit_of(model));
    const double rest = tets.compute_stable_step() / body.compute_stable_step();
    if (model == HyperelasticModel::kStVenantKirchhoff) {
      EXPECT_NEAR(rest, 1.0, 1e-9);
    } else {
      EXPECT_LE(rest, 1.0 + 1e-9);
      EXPECT_GT(rest, 0.6);
    }
    for (unsigned seed = 0; seed < 20; ++seed) {
      deform(body, tets, 0.002 * (seed + 1), seed);
      const double ratio = tets.compute_stable_step() / body.compute_stable_step();
      EXPECT_LE(ratio, 1.0 + 1e-9) << seed;
      EXPECT_GT(ratio, 0.4) << seed;
    }
  }
}

TEST(ExplicitTets, WhatItCannotIntegrateIsRefused) {
  Material stiff = kSoft;
  stiff.stiffness_damping = 0.01;
  EXPECT_THROW(ExplicitTets(make_mesh(), std::span(&stiff, 1), ExplicitModel::kLinear), InputError);
  Material wet = kSoft;
  wet.poisson_ratio = 0.49;
  const NonlinearTets patched(make_mesh(), std::span(&wet, 1));
  EXPECT_THROW(ExplicitTets{patched}, InputError);
}

}  // namespace
}  // namespace palpate::explicit_tets_test
