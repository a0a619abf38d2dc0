#include "palpate/core/second_thread.h"

#include <semaphore>
#include <system_error>
#include <thread>

namespace palpate {

struct SecondThread::Shared {
  std::binary_semaphore begin{0}, done{0};
  void (*task)(void*) noexcept = nullptr;  ///< null: end
  void* context = nullptr;
  std::thread thread;

  void run() noexcept {
    for (;;) {
      begin.acquire();
      if (!task) return;
      task(context);
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
  shared_->begin.release();
}

void SecondThread::wait() noexcept {
  if (shared_) shared_->done.acquire();
}

}  // namespace palpate
