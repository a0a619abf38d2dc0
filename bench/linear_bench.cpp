#include <benchmark/benchmark.h>

#include <iostream>  // which Eigen's METIS header forgets

#include <Eigen/MetisSupport>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <map>

#include "elastic_block.h"
#include "palpate/linear/block_cholesky.h"

#if defined(PALPATE_HAVE_CHOLMOD)
#include <cholmod.h>
#include <dlfcn.h>
#endif

// Factorisation, solve and compliance on A(h) = M/h + hK of a block of tets, ours against CHOLMOD (supernodal, METIS)
// and Eigen (simplicial), all in one thread. Analysis is done once and not counted, as in a simulation. us_per_tet
// shows the growth; gflops the arithmetic of our own order.
namespace palpate {
namespace {

using bench::ElasticBlock;
using Sparse = Eigen::SparseMatrix<double>;

/// Cells along x, y, z by the benchmark's argument, the number of tets.
const ElasticBlock& block_of(std::int64_t tets) {
  static std::map<std::int64_t, ElasticBlock> made;
  const auto found = made.find(tets);
  if (found != made.end()) return found->second;
  const std::map<std::int64_t, std::array<int, 3>> cells{
      {2560, {8, 8, 8}}, {5000, {10, 10, 10}}, {20480, {16, 16, 16}}, {50820, {22, 22, 21}}};
  return made.emplace(tets, ElasticBlock(cells.at(tets), {})).first->second;
}

void report(benchmark::State& state) {
  state.counters["us_per_tet"] = benchmark::Counter(1e-6 * static_cast<double>(state.iterations() * state.range(0)),
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <typename T>
void factor_palpate(benchmark::State& state) {
  const ElasticBlock& body = block_of(state.range(0));
  BasicBlockCholesky<T> cholesky(body.pattern());
  for (auto _ : state) {
    if (!cholesky.factor(body.matrix())) state.SkipWithError("not positive definite");
  }
  report(state);
  state.counters["gflops"] =
      benchmark::Counter(1e-9 * cholesky.floating_point_operations() * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
  state.counters["fronts"] = cholesky.fronts();
  state.counters["MB"] = 1e-6 * sizeof(T) * static_cast<double>(cholesky.stored_scalars());
}

void analyse_palpate(benchmark::State& state) {
  const ElasticBlock& body = block_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(BlockCholesky(body.pattern()));
  report(state);
}

template <typename T>
void solve_palpate(benchmark::State& state) {
  const ElasticBlock& body = block_of(state.range(0));
  BasicBlockCholesky<T> cholesky(body.pattern());
  cholesky.factor(body.matrix());
  Eigen::MatrixXd x = Eigen::MatrixXd::Ones(body.pattern()->scalars(), state.range(1));
  for (auto _ : state) {
    cholesky.solve(x);
    x.setOnes();
  }
  report(state);
}

/// W of range(1) rows: contacts of three rows on triangles of the face opposite to the fixed one, in a square patch.
template <typename T>
void compliance_palpate(benchmark::State& state) {
  const ElasticBlock& body = block_of(state.range(0));
  const int rows = static_cast<int>(state.range(1));
  BasicBlockCholesky<T> cholesky(body.pattern(), {.max_rows = rows});
  cholesky.factor(body.matrix());
  const BlockRows J = body.make_contacts(rows / 3);
  Eigen::MatrixXd W(rows, rows);
  for (auto _ : state) {
    W.setZero();
    cholesky.add_compliance(J, body.settings().step, W);
    benchmark::DoNotOptimize(W.data());
  }
  report(state);
}

template <typename Ordering>
void factor_eigen(benchmark::State& state) {
  const ElasticBlock& body = block_of(state.range(0));
  const Sparse lower = body.make_sparse();
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower, Ordering> solver;
  solver.analyzePattern(lower);
  for (auto _ : state) solver.factorize(lower);
  report(state);
}

#if defined(PALPATE_HAVE_CHOLMOD)
/// The BLAS that CHOLMOD runs on, held to one thread if it has more.
const char* prepare_blas() {
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(set)(1);
  void* config = dlsym(RTLD_DEFAULT, "openblas_get_config");
  return config != nullptr ? reinterpret_cast<const char* (*)()>(config)() : "reference BLAS";
}

void factor_cholmod(benchmark::State& state) {
  state.SetLabel(prepare_blas());
  Sparse lower = block_of(state.range(0)).make_sparse();
  cholmod_common common;
  cholmod_start(&common);
  common.supernodal = CHOLMOD_SUPERNODAL;
  common.nmethods = 1;
  common.method[0].ordering = CHOLMOD_METIS;
  cholmod_sparse view{};
  view.nrow = view.ncol = as_size(lower.cols());
  view.nzmax = as_size(lower.nonZeros());
  view.p = lower.outerIndexPtr();
  view.i = lower.innerIndexPtr();
  view.x = lower.valuePtr();
  view.stype = -1;
  view.itype = CHOLMOD_INT;
  view.xtype = CHOLMOD_REAL;
  view.dtype = CHOLMOD_DOUBLE;
  view.sorted = view.packed = 1;
  cholmod_factor* factor = cholmod_analyze(&view, &common);
  for (auto _ : state) cholmod_factorize(&view, factor, &common);
  if (common.status != CHOLMOD_OK) state.SkipWithError("CHOLMOD failed");
  report(state);
  state.counters["own_gflops"] =
      benchmark::Counter(1e-9 * common.fl * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  cholmod_free_factor(&factor, &common);
  cholmod_finish(&common);
}
#endif

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("tets")->Arg(2560)->Arg(5000)->Arg(20480)->Arg(50820)->Unit(benchmark::kMillisecond);
}
void sizes_and_rows(benchmark::internal::Benchmark* b) {
  b->ArgNames({"tets", "rows"})->ArgsProduct({{2560, 5000, 20480, 50820}, {24, 75, 150}});
  b->Unit(benchmark::kMillisecond);
}
void sizes_and_columns(benchmark::internal::Benchmark* b) {
  b->ArgNames({"tets", "columns"})->ArgsProduct({{2560, 20480}, {1, 12}})->Unit(benchmark::kMillisecond);
}

BENCHMARK(factor_palpate<double>)->Name("linear/factor/palpate")->Apply(sizes);
BENCHMARK(factor_palpate<float>)->Name("linear/factor/palpate_single")->Apply(sizes);
#if defined(PALPATE_HAVE_CHOLMOD)
BENCHMARK(factor_cholmod)->Name("linear/factor/cholmod")->Apply(sizes);
#endif
BENCHMARK(factor_eigen<Eigen::AMDOrdering<int>>)->Name("linear/factor/eigen_amd")->Apply(sizes);
BENCHMARK(factor_eigen<Eigen::MetisOrdering<int>>)->Name("linear/factor/eigen_metis")->Apply(sizes);
BENCHMARK(compliance_palpate<double>)->Name("linear/compliance")->Apply(sizes_and_rows);
BENCHMARK(compliance_palpate<float>)->Name("linear/compliance_single")->Apply(sizes_and_rows);
BENCHMARK(solve_palpate<double>)->Name("linear/solve")->Apply(sizes_and_columns);
BENCHMARK(solve_palpate<float>)->Name("linear/solve_single")->Apply(sizes_and_columns);
BENCHMARK(analyse_palpate)->Name("linear/analyse")->Apply(sizes);

}  // namespace
}  // namespace palpate
