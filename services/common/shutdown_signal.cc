#include "common/shutdown_signal.h"

#include <csignal>

namespace callslip {
namespace {

sigset_t ShutdownSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

ShutdownSignal::ShutdownSignal() {
  const sigset_t signals = ShutdownSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int ShutdownSignal::Wait() const {
  const sigset_t signals = ShutdownSignals();
  int number = 0;
  while (sigwait(&signals, &number) != 0) {
  }
  return number;
}

bool ShutdownSignal::WaitFor(absl::Duration longest) const {
  const sigset_t signals = ShutdownSignals();
  const timespec timeout = absl::ToTimespec(longest);
  return sigtimedwait(&signals, nullptr, &timeout) > 0;
}

}  // namespace callslip
