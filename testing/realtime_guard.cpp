#include "palpate/testing/realtime_guard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdio>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PALPATE_GUARD_AVAILABLE 0
#else
#define PALPATE_GUARD_AVAILABLE 1
#endif

namespace palpate::testing {
namespace {

// initial-exec: the first access in a thread must not itself call malloc.
__attribute__((tls_model("initial-exec"))) thread_local int depth = 0;
__attribute__((tls_model("initial-exec"))) thread_local Violations seen;

}  // namespace

RealtimeGuard::RealtimeGuard() noexcept {
  if (depth++ == 0) seen = {};
}
RealtimeGuard::~RealtimeGuard() {
  --depth;
}
Violations RealtimeGuard::violations() const noexcept {
  return seen;
}
bool RealtimeGuard::available() noexcept {
  return PALPATE_GUARD_AVAILABLE != 0;
}

#if PALPATE_GUARD_AVAILABLE
static void count_allocation() noexcept {
  seen.allocations += depth > 0;
}
static void count_lock() noexcept {
  seen.locks += depth > 0;
}
static void count_io() noexcept {
  seen.io += depth > 0;
}

template <typename Function>
static Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#endif

}  // namespace palpate::testing

#if PALPATE_GUARD_AVAILABLE
using palpate::testing::count_allocation;
using palpate::testing::count_io;
using palpate::testing::count_lock;
using palpate::testing::next;

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t n) {
  return count_allocation(), __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
  return count_allocation(), __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
  return count_allocation(), __libc_realloc(p, n);
}
void* memalign(std::size_t a, std::size_t n) {
  return count_allocation(), __libc_memalign(a, n);
}
void* aligned_alloc(std::size_t a, std::size_t n) {
  return count_allocation(), __libc_memalign(a, n);
}
int posix_memalign(void** p, std::size_t a, std::size_t n) {
  count_allocation();
  *p = __libc_memalign(a, n);
  return *p ? 0 : 12;
}
void free(void* p) {
  if (p) count_allocation();
  __libc_free(p);
}

#define PALPATE_INTERPOSE(COUNT, RESULT, NAME, PARAMETERS, ARGUMENTS)       \
  RESULT NAME PARAMETERS {                                                  \
    static RESULT(*const real) PARAMETERS = next<RESULT PARAMETERS>(#NAME); \
    COUNT();                                                                \
    return real ARGUMENTS;                                                  \
  }

PALPATE_INTERPOSE(count_lock, int, pthread_mutex_lock, (pthread_mutex_t * m) noexcept, (m))
PALPATE_INTERPOSE(count_lock, int, pthread_mutex_trylock, (pthread_mutex_t * m) noexcept, (m))
PALPATE_INTERPOSE(count_lock, int, pthread_rwlock_rdlock, (pthread_rwlock_t * l) noexcept, (l))
PALPATE_INTERPOSE(count_lock, int, pthread_rwlock_wrlock, (pthread_rwlock_t * l) noexcept, (l))
PALPATE_INTERPOSE(count_lock, int, pthread_spin_lock, (pthread_spinlock_t * l) noexcept, (l))
PALPATE_INTERPOSE(count_lock, int, pthread_cond_signal, (pthread_cond_t * c) noexcept, (c))
PALPATE_INTERPOSE(count_lock, int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t* m), (c, m))
PALPATE_INTERPOSE(count_io, ssize_t, read, (int fd, void* p, std::size_t n), (fd, p, n))
PALPATE_INTERPOSE(count_io, ssize_t, write, (int fd, const void* p, std::size_t n), (fd, p, n))
PALPATE_INTERPOSE(count_io, std::size_t, fwrite, (const void* p, std::size_t s, std::size_t n, FILE* f), (p, s, n, f))
PALPATE_INTERPOSE(count_io, int, fputs, (const char* s, FILE* f), (s, f))
PALPATE_INTERPOSE(count_io, int, fflush, (FILE * f), (f))
PALPATE_INTERPOSE(count_io, int, fclose, (FILE * f), (f))
PALPATE_INTERPOSE(count_io, FILE*, fopen, (const char* p, const char* m), (p, m))
PALPATE_INTERPOSE(count_io, int, nanosleep, (const struct timespec* a, struct timespec* b), (a, b))
}
#endif
