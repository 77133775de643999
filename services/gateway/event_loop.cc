#include "gateway/event_loop.h"

#include <utility>

#include "boost/asio/execution.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/strand.hpp"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

// An io_context's executor that treats every thread as the context's until the context has stopped:
// a function that need not be posted is called directly. `Inner` is a type of io_context's
// executors.
template <typename Inner>
class CallingExecutor {
 public:
  explicit CallingExecutor(const Inner& inner) : inner_(inner) {}

  template <typename Function>
  void execute(Function&& function) const {
    const bool may_call =
        asio::query(inner_, asio::execution::blocking) == asio::execution::blocking.possibly;
    if (may_call && !asio::query(inner_, asio::execution::context).stopped()) {
      std::decay_t<Function>(std::forward<Function>(function))();
    } else {
      inner_.execute(std::forward<Function>(function));
    }
  }

  template <typename Property>
  requires asio::can_query_v<Inner, Property>
  decltype(auto) query(const Property& property) const { return asio::query(inner_, property); }
  template <typename Property>
  requires asio::can_require_v<Inner, Property>
  auto require(const Property& property) const {
    return CallingExecutor<std::decay_t<decltype(asio::require(inner_, property))>>(
        asio::require(inner_, property));
  }

  bool operator==(const CallingExecutor&) const = default;

 private:
  Inner inner_;
};

}  // namespace

EventLoop::EventLoop()
    : work_(context_.get_executor()),
      executor_(asio::make_strand(CallingExecutor(context_.get_executor()))) {}

EventLoop::~EventLoop() = default;

void EventLoop::Start() {
  thread_ = std::thread([this] { context_.run(); });
}

void EventLoop::Stop() {
  if (!thread_.joinable()) return;
  // On the executor, so that no other function runs at the same time.
  asio::post(executor_, [this] { context_.stop(); });
  thread_.join();
}

}  // namespace callslip::gateway
