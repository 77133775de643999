#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/prefer.hpp"
#include "boost/asio/query.hpp"
#include "boost/asio/require.hpp"
#include "common/trace_context.h"

namespace callslip {

// Runs everything on another executor, and tells coroutines which trace they belong to: a coroutine
// that is spawned on it, and all that this one awaits, or spawns on its own executor, find the
// trace by TraceOf(co_await boost::asio::this_coro::executor). So the functions between the start
// of an operation and its calls need no parameter for it.
class TracedExecutor {
  using Inner = boost::asio::any_io_executor;

 public:
  // `trace` can change: only use it on the thread of `inner`.
  TracedExecutor(Inner inner, std::shared_ptr<const TraceContext> trace)
      : inner_(std::move(inner)), trace_(std::move(trace)) {}

  // The current trace of a TracedExecutor; empty for any other executor.
  static TraceContext TraceOf(const Inner& executor) {
    const auto* traced = executor.target<TracedExecutor>();
    return traced == nullptr ? TraceContext() : *traced->trace_;
  }

  // The requirements of Asio for an executor.
  template <typename Function>
  void execute(Function&& function) const {
    inner_.execute(std::forward<Function>(function));
  }

  template <typename Property, std::enable_if_t<boost::asio::can_query_v<Inner, Property>, int> = 0>
  decltype(auto) query(const Property& property) const {
    return boost::asio::query(inner_, property);
  }

  template <typename Property,
            std::enable_if_t<boost::asio::can_require_v<Inner, Property>, int> = 0>
  TracedExecutor require(const Property& property) const {
    return {boost::asio::require(inner_, property), trace_};
  }

  template <typename Property,
            std::enable_if_t<boost::asio::can_prefer_v<Inner, Property>, int> = 0>
  TracedExecutor prefer(const Property& property) const {
    return {boost::asio::prefer(inner_, property), trace_};
  }

  friend bool operator==(const TracedExecutor& one, const TracedExecutor& other) noexcept {
    return one.inner_ == other.inner_ && one.trace_ == other.trace_;
  }

 private:
  Inner inner_;
  std::shared_ptr<const TraceContext> trace_;
};

}  // namespace callslip
