#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boost/asio/as_tuple.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/error_details.h"
#include "gateway/api/session_api.h"
#include "gateway/json/parse.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_calls.h"
#include "support/session_events.h"

// SessionApi behind its router, with a fake tracker and fake peers.
namespace callslip::gateway {

inline absl::Status Failure(absl::StatusCode code, const std::string& reason) {
  return ErrorWithDetails(code, "It failed.", {.reason = reason, .hint = "Do otherwise."});
}

inline v1::SessionUpdate EventUpdate(int64_t seq, const std::string& text = "x") {
  v1::SessionUpdate update;
  *update.mutable_event() = v1::MakeMessage(text);
  update.mutable_event()->set_seq(seq);
  return update;
}

// A WebSocket peer that the test controls.
class FakeWebSocket final : public WebSocket {
 public:
  explicit FakeWebSocket(boost::asio::io_context& io)
      : news_(io, boost::asio::steady_timer::time_point::max()) {}

  boost::asio::awaitable<std::optional<std::string>> Read() override {
    while (unread_.empty() && !closed) {
      co_await news_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    if (unread_.empty()) co_return std::nullopt;
    std::optional<std::string> message = std::move(unread_.front());
    unread_.pop_front();
    co_return message;
  }
  using WebSocket::Send;
  void Send(std::shared_ptr<const std::string> message) override {
    if (!closed) sent.push_back(std::move(message));
  }
  boost::asio::awaitable<void> AwaitRoom() override { co_return; }
  void Close(WebSocketCloseCode why, const std::string&) override {
    if (closed) return;
    closed = true;
    code = static_cast<int>(why);
    news_.cancel();
  }

  void Say(const std::string& message) {
    unread_.push_back(message);
    news_.cancel();
  }
  void Leave() { Close(WebSocketCloseCode::kNormal, ""); }

  Json Message(size_t index) const { return Json::parse(*sent.at(index)); }
  std::vector<std::string> Types() const {
    std::vector<std::string> types;
    for (const auto& each : sent) types.push_back(Json::parse(*each)["type"]);
    return types;
  }

  std::vector<std::shared_ptr<const std::string>> sent;
  bool closed = false;
  int code = 0;

 private:
  std::deque<std::string> unread_;
  boost::asio::steady_timer news_;
};

class SessionApiTest : public testing::Test {
 protected:
  explicit SessionApiTest(std::shared_ptr<const Credentials> tokens = nullptr)
      : client_(io_.get_executor()),
        hub_(std::make_shared<SessionHub>(io_.get_executor(), &client_,
                                          std::make_shared<ByteBudget>(32 << 20, 16 << 20))),
        api_(&client_, hub_),
        router_(RequestFilter({{.host = "127.0.0.1", .port = 7890}}, {}, {}), std::move(tokens)) {
    api_.AddRoutes(router_);
    client_.On<v1::GetSessionRequest>([this](const auto& request) -> absl::StatusOr<v1::Session> {
      if (request.session_id() != "s-1") {
        return Failure(absl::StatusCode::kNotFound, "unknown_session");
      }
      v1::Session session;
      session.set_session_id("s-1");
      session.set_max_seq(max_seq_);
      return session;
    });
    client_.On<v1::ReadEventsRequest>(
        [this](const auto& request) -> absl::StatusOr<v1::ReadEventsResponse> {
          return Page(request);
        });
  }

  // A log of the events 1 to max_seq_.
  v1::ReadEventsResponse Page(const v1::ReadEventsRequest& request) const {
    const int64_t limit = request.limit() == 0 ? 100 : request.limit();
    int64_t first = request.after_seq() + 1;
    if (request.has_before_seq()) first = std::max<int64_t>(1, request.before_seq() - limit);
    int64_t last = std::min(max_seq_, first + limit - 1);
    if (request.has_before_seq()) last = std::min(last, request.before_seq() - 1);
    v1::ReadEventsResponse page;
    for (int64_t seq = first; seq <= last; ++seq) *page.add_events() = EventUpdate(seq).event();
    page.set_first_seq(first <= last ? first : 0);
    page.set_last_seq(first <= last ? last : 0);
    page.set_max_seq(max_seq_);
    page.set_has_more(request.has_before_seq() ? first > 1 : last < max_seq_);
    return page;
  }

  void Run() {
    io_.restart();
    io_.poll();
  }

  HttpResponse Ask(const std::string& method, const std::string& target,
                   const std::string& body = "", HttpHeaders headers = {}) {
    auto request = std::make_shared<HttpRequest>();
    request->method = method;
    ParseTarget(target, *request);
    request->body = body;
    request->headers = std::move(headers);
    request->headers["host"] = "127.0.0.1:7890";
    request->headers.try_emplace("content-type", "application/json");
    std::optional<HttpResponse> response;
    boost::asio::post(io_, [&] {
      router_.Handle(request,
                     {.respond = [&](HttpResponse answer) { response = std::move(answer); },
                      .executor = io_.get_executor()});
    });
    Run();
    EXPECT_TRUE(response.has_value()) << "no answer to " << target;
    return response.value_or(HttpResponse{});
  }

  std::shared_ptr<FakeWebSocket> Connect(const std::string& path, const std::string& token = "") {
    HttpResponse response = Ask("GET", path, "",
                                {{"authorization", "Bearer " + token},
                                 {"connection", "Upgrade"},
                                 {"upgrade", "websocket"},
                                 {"sec-websocket-version", "13"},
                                 {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}});
    EXPECT_NE(response.upgrade, nullptr) << response.status << response.body;
    auto socket = std::make_shared<FakeWebSocket>(io_);
    boost::asio::co_spawn(io_, response.upgrade->server(socket), boost::asio::detached);
    Run();
    return socket;
  }

  static Json BodyOf(const HttpResponse& response) { return Json::parse(response.body); }

  int64_t max_seq_ = 0;
  boost::asio::io_context io_;
  FakeTrackerCalls client_;
  const std::shared_ptr<SessionHub> hub_;
  const SessionApi api_;
  Router router_;
};

}  // namespace callslip::gateway
