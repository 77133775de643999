#include "bench/bare_pair.h"

#include <memory>
#include <string>
#include <utility>

#include "bench/bare_http.h"
#include "bench/bare_rpc.h"
#include "boost/asio/associated_executor.hpp"
#include "boost/asio/async_result.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/use_awaitable.hpp"

namespace callslip::bench {
namespace {

namespace asio = boost::asio;

// Suspends the coroutine until the call is answered.
asio::awaitable<void> Call(RpcClient& client) {
  auto start = [&client](auto handler) {
    using Handler = decltype(handler);
    // std::function copies what it holds, and the handler can't be copied.
    auto shared = std::make_shared<Handler>(std::move(handler));
    auto work = asio::make_work_guard(asio::get_associated_executor(*shared));
    client.Call(
        [shared, work] { asio::post(work.get_executor(), [shared] { std::move (*shared)(); }); });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(std::move(start),
                                                                        asio::use_awaitable);
}

asio::awaitable<std::string> AnswerFixed(std::string body) { co_return body; }

asio::awaitable<std::string> AnswerAfterCall(RpcClient& client, std::string body) {
  co_await Call(client);
  co_return body;
}

}  // namespace

void ServeFixedBody(const ParentLink& parent, size_t body_bytes) {
  const std::string body(body_bytes, 'x');
  ServeBareHttp(parent, [&](std::string, std::string) { return AnswerFixed(body); });
}

void ServeBarePair(const ParentLink& parent, size_t body_bytes, uint16_t rpc_port) {
  const std::string body(body_bytes, 'x');
  const auto client = QueueClient(rpc_port, 1);
  ServeBareHttp(parent, [&](std::string, std::string) { return AnswerAfterCall(*client, body); });
}

}  // namespace callslip::bench
