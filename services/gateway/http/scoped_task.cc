#include "gateway/http/scoped_task.h"

#include <utility>

#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/post.hpp"

namespace callslip::gateway {

namespace asio = boost::asio;

// The signal must outlive the coroutine.
struct ScopedTask::State {
  asio::cancellation_signal cancel;
  bool over = false;
};

ScopedTask::ScopedTask(asio::any_io_executor executor, asio::awaitable<void> work, Ended ended)
    : executor_(std::move(executor)), state_(std::make_shared<State>()) {
  auto when_over = [state = state_, ended = std::move(ended)](const std::exception_ptr& error) {
    state->over = true;
    if (ended) ended(error);
  };
  asio::co_spawn(executor_, std::move(work),
                 asio::bind_cancellation_slot(state_->cancel.slot(), std::move(when_over)));
}

void ScopedTask::End() {
  if (state_->over) return;
  // Later: Asio fails if a coroutine is canceled before its first wait.
  asio::post(executor_, [state = state_] {
    if (!state->over) state->cancel.emit(asio::cancellation_type::terminal);
  });
}

}  // namespace callslip::gateway
