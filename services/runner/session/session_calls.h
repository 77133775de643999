#ifndef CALLSLIP_RUNNER_SESSION_SESSION_CALLS_H_
#define CALLSLIP_RUNNER_SESSION_SESSION_CALLS_H_

#include <utility>

#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "runner/session/session_runner.h"
#include "runner/tracker/persistence.h"

// For the files of SessionRunner only.
namespace callslip::runner {

template <typename Request>
auto SessionRunner::Persistently(Request request) {
  return Persist(*host_->tracker, *host_->timers, std::move(request),
                 [self = shared_from_this()] { return self->released_; });
}

// Coroutines of this class hold it themselves; it is held until they begin.
template <typename Coroutine>
void SessionRunner::Spawn(Coroutine coroutine) {
  boost::asio::co_spawn(host_->executor, std::move(coroutine),
                        [self = shared_from_this()](const std::exception_ptr&) {});
}

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_SESSION_SESSION_CALLS_H_
