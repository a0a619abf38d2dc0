#include "palpate/core/second_thread.h"

#include <algorithm>
#include <semaphore>
#include <system_error>
#include <thread>

#include "palpate/core/clock.h"

namespace palpate {
namespace {

thread_local std::int64_t waited_ns = 0;

}  // namespace

struct SecondThread::Shared {
  std::binary_semaphore begin{0}, done{0};
  void (*task)(void*) noexcept = nullptr;  ///< null: end
  void* context = nullptr;
  std::int64_t began = 0;  ///< processor_ns() of the owner
  std::int64_t spent = 0;  ///< on the task [ns]
  std::thread thread;

  void run() noexcept {
    for (;;) {
      begin.acquire();
      if (!task) return;
      const std::int64_t start = processor_ns();
      task(context);
      spent = processor_ns() - start;
      done.release();
    }
  }
};

SecondThread::SecondThread() {
  if (std::thread::hardware_concurrency() < 2) return;
  auto shared = std::make_unique<Shared>();
  try {
    shared->thread = std::thread([s = shared.get()] { s->run(); });
  } catch (const std::system_error&) {
    return;
  }
  shared_ = std::move(shared);
}

SecondThread::~SecondThread() {
  if (!shared_) return;
  shared_->task = nullptr;
  shared_->begin.release();
  shared_->thread.join();
}

void SecondThread::start(void (*task)(void*) noexcept, void* context) noexcept {
  if (!shared_) return task(context);
  shared_->task = task;
  shared_->context = context;
  shared_->began = processor_ns();
  shared_->begin.release();
}

void SecondThread::wait() noexcept {
  if (!shared_) return;
  shared_->done.acquire();
  waited_ns += std::max<std::int64_t>(0, shared_->spent - (processor_ns() - shared_->began));
}

std::int64_t work_ns() noexcept {
  return processor_ns() + waited_ns;
}

}  // namespace palpate
