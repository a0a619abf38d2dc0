#include <cstdio>
#include <cstdlib>

#if defined(__x86_64__)
namespace {

// A clear sentence instead of an illegal instruction. Priority 101 is the earliest that programs may use.
__attribute__((constructor(101))) void check_cpu() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return;
  std::fputs(
      "error: this build of palpate needs a processor with AVX2, FMA and BMI2 (x86-64-v3); "
      "build it with -DPALPATE_ARCH=x86-64-v2 for older ones\n",
      stderr);
  std::_Exit(2);
}

}  // namespace
#endif
