#include "gateway/http/http_server.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/http/address_quota.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/raw_connection.h"
#include "support/waiting.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

asio::awaitable<HttpResponse> Echo(std::shared_ptr<const HttpRequest> request) {
  co_return HttpResponse{.body = request->body};
}

// Answers in a later turn of the server's thread.
asio::awaitable<HttpResponse> EchoLater(std::shared_ptr<const HttpRequest> request) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer now(executor, asio::steady_timer::time_point::min());
  co_await now.async_wait(asio::use_awaitable);
  co_return HttpResponse{.body = request->body};
}

class HttpServerTest : public testing::Test {
 protected:
  ~HttpServerTest() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  void Serve(HttpHandler handler, HeadJudge judge = nullptr) {
    Serve(Spawning(std::move(handler)), std::move(judge));
  }

  void Serve(RespondingHandler handler, HeadJudge judge = nullptr) {
    server_.emplace(context_.get_executor(), limits_, std::move(handler), std::move(judge));
    const absl::StatusOr<Address> bound = server_->Listen({.host = "127.0.0.1", .port = 0});
    ASSERT_TRUE(bound.ok()) << bound.status();
    port_ = bound->port;
    thread_ = std::thread([this] { context_.run(); });
  }

  void ServeStream(std::function<asio::awaitable<void>(BodyWriter&)> producer) {
    Serve([producer](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
      if (request->path == "/echo") co_return HttpResponse{.body = "echo"};
      HttpResponse response{.content_type = "text/event-stream"};
      response.stream = producer;
      co_return response;
    });
  }

  static std::string Get(const std::string& path) {
    return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: test\r\n\r\n");
  }

  static std::string Post(const std::string& body, const std::string& more_headers = "") {
    return absl::StrCat("POST / HTTP/1.1\r\nHost: test\r\n", more_headers,
                        "Content-Length: ", body.size(), "\r\n\r\n", body);
  }

  using Verdict = absl::AnyInvocable<void(HeadVerdict) &&>;

  // The result of `look`, called on the server's thread.
  template <typename Look>
  auto OnLoop(Look look) {
    std::optional<decltype(look())> seen;
    Event looked;
    asio::post(context_, [&] {
      seen = look();
      looked.Tell();
    });
    looked.Await();
    return *seen;
  }

  int64_t connections() {
    return OnLoop([this] { return server_->connections(); });
  }

  // Blocks until `count` connections are open.
  void AwaitConnections(int64_t count) {
    while (connections() != count) {
    }
  }

  HttpLimits limits_;
  asio::io_context context_{1};
  std::optional<HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

// Streams.

TEST_F(HttpServerTest, PiecesArriveAsTheyAreWritten) {
  Event first_has_arrived;
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    co_await writer.Write("data: 1\n\n");
    first_has_arrived.Await();
    co_await writer.Write("");
    co_await writer.Write("data: 2\n\n");
  });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  EXPECT_THAT(
      peer.ReadTo("\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Type: text/event-stream\r\n"),
            HasSubstr("Transfer-Encoding: chunked\r\n"), Not(HasSubstr("Content-Length"))));
  EXPECT_EQ(peer.ReadTo("\n\n\r\n"), "9\r\ndata: 1\n\n\r\n");
  first_has_arrived.Tell();
  EXPECT_EQ(peer.ReadTo("0\r\n\r\n"), "9\r\ndata: 2\n\n\r\n0\r\n\r\n");
  // The connection is kept.
  peer.Send(Get("/echo"));
  EXPECT_THAT(peer.ReadTo("echo"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, HeadersOfStreamAreSentAtOnce) {
  ServeStream([&](BodyWriter&) -> asio::awaitable<void> { co_await WaitForever(); });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  EXPECT_THAT(peer.ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, RequestBehindStreamIsAnsweredAfterIt) {
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> { co_await writer.Write("piece"); });
  RawConnection peer(port_);
  peer.Send(Get("/") + Get("/echo"));
  EXPECT_THAT(peer.ReadTo("0\r\n\r\n"), EndsWith("5\r\npiece\r\n0\r\n\r\n"));
  EXPECT_THAT(peer.ReadTo("echo"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, ProducerIsCancelledWhenItsPeerLeaves) {
  Event running;
  Event cancelled;
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    co_await writer.Write("piece");
    running.Tell();
    try {
      co_await WaitForever();
    } catch (const boost::system::system_error& error) {
      EXPECT_EQ(error.code(), asio::error::operation_aborted);
      cancelled.Tell();
      throw;
    }
  });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  running.Await();
  peer.Leave();
  cancelled.Await();
}

TEST_F(HttpServerTest, FloodingProducerIsCancelledWhenItsPeerResets) {
  Event ended;
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    try {
      for (;;) co_await writer.Write(std::string(64 << 10, 'x'));
    } catch (const boost::system::system_error& error) {
      EXPECT_EQ(error.code(), asio::error::operation_aborted);
      ended.Tell();
      throw;
    }
  });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  peer.ReadTo("xxx");
  peer.Abort();
  ended.Await();
}

TEST_F(HttpServerTest, PeerThatDoesNotReadItsStreamIsDisconnected) {
  limits_.write_time = std::chrono::seconds(1);
  Event cut_off;
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    try {
      for (;;) co_await writer.Write(std::string(1 << 20, 'x'));
    } catch (const boost::system::system_error& error) {
      EXPECT_EQ(error.code(), asio::error::operation_aborted);
      cut_off.Tell();
      throw;
    }
  });
  RawConnection peer(port_, /*receive_buffer=*/4096);
  peer.Send(Get("/"));
  cut_off.Await();
}

TEST_F(HttpServerTest, StreamWithoutPausesDoesNotBlockOtherPeers) {
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    for (;;) co_await writer.Write("piece");
  });
  RawConnection reader(port_);
  reader.Send(Get("/"));
  reader.ReadTo("piece");
  std::future<std::string> all =
      std::async(std::launch::async, [&reader] { return reader.ReadTo("never"); });
  RawConnection other(port_);
  other.Send(Get("/echo"));
  EXPECT_THAT(other.ReadTo("echo"), StartsWith("HTTP/1.1 200 OK\r\n"));
  reader.Shutdown();
  EXPECT_THAT(all.get(), HasSubstr("piece"));
}

TEST_F(HttpServerTest, FailedProducerLeavesBodyIncomplete) {
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    co_await writer.Write("piece");
    throw std::runtime_error("out of pieces");
  });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  EXPECT_THAT(peer.ReadAll(), EndsWith("\r\n\r\n5\r\npiece\r\n"));
}

TEST_F(HttpServerTest, HeadRequestDoesNotRunProducer) {
  ServeStream([&](BodyWriter&) -> asio::awaitable<void> {
    ADD_FAILURE();
    co_return;
  });
  RawConnection peer(port_);
  peer.Send("HEAD / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(),
              AllOf(HasSubstr("Content-Type: text/event-stream\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(HttpServerTest, Http10PeersGetUnchunkedStream) {
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    co_await writer.Write("one, ");
    co_await writer.Write("two");
  });
  RawConnection peer(port_);
  peer.Send("GET / HTTP/1.0\r\nHost: test\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(), AllOf(Not(HasSubstr("Transfer-Encoding")),
                                    Not(HasSubstr("keep-alive")), EndsWith("\r\n\r\none, two")));
}

TEST_F(HttpServerTest, DrainWaitsForStreams) {
  Event draining;
  Event idle;
  std::atomic<bool> ended = false;
  ServeStream([&](BodyWriter& writer) -> asio::awaitable<void> {
    co_await writer.Write("piece");
    const auto executor = co_await asio::this_coro::executor;
    server_->Drain([&] {
      EXPECT_TRUE(ended);
      idle.Tell();
    });
    asio::steady_timer later(executor, asio::steady_timer::time_point::min());
    co_await later.async_wait(asio::use_awaitable);
    co_await writer.Write("last");
    ended = true;
  });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  EXPECT_THAT(peer.ReadAll(), EndsWith("4\r\nlast\r\n0\r\n\r\n"));
  idle.Await();
}

TEST_F(HttpServerTest, LeavingServerClosesAfterEachResponseAndStillAccepts) {
  Serve(Echo);
  RawConnection early(port_);
  early.Send(Post("before"));
  EXPECT_THAT(early.ReadTo("before"), Not(HasSubstr("Connection: close")));
  Event leaving;
  asio::post(context_, [&] {
    server_->CloseAfterAnswers();
    leaving.Tell();
  });
  leaving.Await();
  early.Send(Post("after"));
  EXPECT_THAT(early.ReadAll(), AllOf(HasSubstr("Connection: close"), EndsWith("after")));
  RawConnection late(port_);
  late.Send(Post("late"));
  EXPECT_THAT(late.ReadAll(), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("late")));
}

// Requests.

TEST_F(HttpServerTest, NumberOfHeadersIsLimited) {
  Serve(Echo);
  std::string headers;
  for (int i = 0; i < limits_.header_count - 2; ++i) absl::StrAppend(&headers, "X: 1\r\n");
  RawConnection peer(port_);
  peer.Send(Post("as many as there may be", headers));
  EXPECT_THAT(peer.ReadTo("may be"), StartsWith("HTTP/1.1 200 OK\r\n"));
  peer.Send(Post("one more", headers + "X: 1\r\n"));
  EXPECT_THAT(peer.ReadAll(), AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("too_many_headers")));
}

// Browsers send the cookies of all ports of a host.
TEST_F(HttpServerTest, LargeCookiesAreAccepted) {
  Serve([](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    co_return HttpResponse{.body = absl::StrCat(request->Header("cookie").size(), " bytes")};
  });
  std::string cookies;
  for (int i = 0; i < 5; ++i) absl::StrAppend(&cookies, i, "=", std::string(4096 - 4, 'x'), "; ");
  RawConnection peer(port_);
  peer.Send(absl::StrCat("GET / HTTP/1.1\r\nHost: test\r\nCookie: ", cookies, "\r\n\r\n"));
  EXPECT_THAT(peer.ReadTo(" bytes"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\n20479 bytes")));
}

// A header that identifies the caller or its origin must not be repeated: a proxy may have read the
// other copy.
TEST_F(HttpServerTest, RepeatedSecurityHeadersAreRefused) {
  Serve(Echo);
  for (const char* name : {"Host", "ORIGIN", "Authorization", "Content-Type"}) {
    RawConnection peer(port_);
    peer.Send(absl::StrCat("POST / HTTP/1.1\r\n", name, ": a\r\nX: 1\r\n", name,
                           ": a\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_THAT(peer.ReadAll(), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("doubled_header")))
        << name;
  }
}

TEST_F(HttpServerTest, ValuesOfRepeatedHeaderAreJoined) {
  Serve([](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    co_return HttpResponse{.body = absl::StrCat(request->Header("accept"), " | ",
                                                request->Header("cookie"), " | ",
                                                request->Header("x"))};
  });
  RawConnection peer(port_);
  peer.Send(
      "GET / HTTP/1.1\r\nHost: test\r\nAccept: a\r\nCookie: x=1\r\nACCEPT: b\r\nX: 1\r\nX: "
      "1\r\nCookie: y=2\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(), EndsWith("a,b | x=1; y=2 | 1"));
}

TEST_F(HttpServerTest, RequestHasAddressOfItsPeer) {
  Serve([](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    co_return HttpResponse{.body = request->address == AddressKeyOfText("127.0.0.1") ? "y" : "n"};
  });
  RawConnection peer(port_);
  peer.Send("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(), EndsWith("\r\n\r\ny"));
}

// A body with any other encoding could be read as the next request.
TEST_F(HttpServerTest, OnlyChunkedTransferEncodingIsAccepted) {
  Serve(Echo);
  const std::string body = "\r\n4\r\nbody\r\n0\r\n\r\n" + Get("/smuggled");
  const auto ask = [&](const std::string& version, const std::string& headers) {
    RawConnection peer(port_);
    peer.Send("POST / " + version + "\r\nHost: test\r\n" + headers + body);
    return peer.ReadAll();
  };
  for (const char* encoding : {"identity", "chunked, identity", "xchunked", "gzip, chunked",
                               "chunked, chunked", "", ","}) {
    const std::string answer =
        ask("HTTP/1.1", absl::StrCat("Transfer-Encoding: ", encoding, "\r\n"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << encoding;
    EXPECT_THAT(answer, Not(HasSubstr("HTTP/1.1 200 "))) << encoding;
  }
  for (const auto& [version, headers] : std::vector<std::pair<std::string, std::string>>{
           {"HTTP/1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"},
           {"HTTP/1.1", "Transfer-Encoding: chunked\r\ntransfer-encoding: identity\r\n"},
           {"HTTP/1.1", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"},
           {"HTTP/1.0", "Transfer-Encoding: chunked\r\n"}}) {
    const std::string answer = ask(version, headers);
    EXPECT_THAT(answer, HasSubstr(" 400 ")) << headers;
    EXPECT_THAT(answer, Not(HasSubstr(" 200 "))) << headers;
  }
  EXPECT_THAT(ask("HTTP/1.1", "Transfer-Encoding: Chunked\r\nConnection: close\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("body")));
}

TEST_F(HttpServerTest, AbsoluteTargetsAreAccepted) {
  Serve([](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    co_return HttpResponse{.body = absl::StrCat(request->Header("host"), " ", request->path)};
  });
  RawConnection peer(port_);
  peer.Send("GET http://test:1/a HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("test:1 /a")));
}

TEST_F(HttpServerTest, EveryResponseForbidsContentSniffing) {
  Serve(Echo);
  RawConnection peer(port_);
  peer.Send(Post("taken") + "no HTTP\r\n\r\n");
  const std::string answers = peer.ReadAll();
  const size_t refusal = answers.find("HTTP/1.1 400 ");
  ASSERT_NE(refusal, std::string::npos);
  constexpr char kHeader[] = "X-Content-Type-Options: nosniff\r\n";
  EXPECT_THAT(answers.substr(0, refusal), HasSubstr(kHeader));
  EXPECT_THAT(answers.substr(refusal), HasSubstr(kHeader));
}

TEST_F(HttpServerTest, TrailersAreNotHeaders) {
  Serve([](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    co_return HttpResponse{.body = absl::StrCat("late: ", request->headers.count("x-late"))};
  });
  RawConnection peer(port_);
  peer.Send(
      "POST / HTTP/1.1\r\nHost: test\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1\r\nx\r\n0\r\nX-Late: 1\r\nHost: other\r\n\r\n");
  EXPECT_THAT(peer.ReadAll(), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("late: 0")));
}

TEST_F(HttpServerTest, HandlerIsCancelledWhenItsPeerLeaves) {
  Event running;
  Event cancelled;
  Serve([&](std::shared_ptr<const HttpRequest>) -> asio::awaitable<HttpResponse> {
    running.Tell();
    try {
      co_await WaitForever();
    } catch (const boost::system::system_error& error) {
      EXPECT_EQ(error.code(), asio::error::operation_aborted);
      cancelled.Tell();
      throw;
    }
    co_return HttpResponse{};
  });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  running.Await();
  peer.Leave();
  cancelled.Await();
}

// The bytes that the peer sends early keep the socket readable, which could hide that the peer has
// disconnected.
TEST_F(HttpServerTest, HandlerIsCancelledWhenItsPeerSendsMoreAndLeaves) {
  Event running;
  Event cancelled;
  Serve([&](std::shared_ptr<const HttpRequest>) -> asio::awaitable<HttpResponse> {
    running.Tell();
    try {
      co_await WaitForever();
    } catch (const boost::system::system_error&) {
      cancelled.Tell();
      throw;
    }
    co_return HttpResponse{};
  });
  RawConnection peer(port_);
  peer.Send(Get("/"));
  running.Await();
  peer.Send(Get("/"));
  peer.Leave();
  cancelled.Await();
}

TEST_F(HttpServerTest, HeadIsJudgedBeforeItsBodyIsRead) {
  Serve(Echo, [](const std::shared_ptr<HttpRequest>& head, Verdict done) {
    if (head->path == "/refused") return std::move(done)({.is_refused = true});
    std::move(done)({.body_bytes = 100'000});
  });
  // The handler answers with the reason. The bytes that follow are not a request.
  RawConnection refused(port_);
  refused.Send(
      "POST /refused HTTP/1.1\r\nHost: test\r\nContent-Length: 4000000\r\n"
      "Expect: 100-continue\r\n\r\nbegun");
  EXPECT_THAT(refused.ReadTo("\r\n\r\nbegun"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Connection: close\r\n")));
  refused.Send(Get("/"));
  EXPECT_EQ(refused.ReadAll(), "");
  for (const char* too_large : {"Content-Length: 100001\r\nExpect: 100-continue\r\n\r\n",
                                "Transfer-Encoding: chunked\r\n\r\n186a1\r\n"}) {
    RawConnection peer(port_);
    peer.Send(absl::StrCat("POST / HTTP/1.1\r\nHost: test\r\n", too_large));
    EXPECT_THAT(peer.ReadAll(), AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("100000")));
  }
  // The second chunk exceeds the limit.
  RawConnection late(port_);
  late.Send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  late.Send(absl::StrCat("1869f\r\n", std::string(99'999, 'a'), "\r\n2\r\nbb\r\n0\r\n\r\n"));
  EXPECT_THAT(late.ReadAll(), StartsWith("HTTP/1.1 413 "));
  RawConnection largest(port_);
  largest.Send(Post(std::string(99'999, 'a') + "z", "Expect: 100-continue\r\n"));
  EXPECT_THAT(largest.ReadTo("z"),
              AllOf(StartsWith("HTTP/1.1 100 Continue\r\n\r\n"), HasSubstr("HTTP/1.1 200 OK\r\n")));
}

TEST_F(HttpServerTest, AllBodiesShareOneByteLimit) {
  limits_.all_bodies_bytes = 1'000'000;
  Event arrived;
  Serve([&](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    if (request->path == "/held") {
      arrived.Tell();
      co_await WaitForever();
    }
    co_return HttpResponse{.body = "taken"};
  });
  const auto post = [](const std::string& path, size_t bytes) {
    return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", bytes,
                        "\r\n\r\n", std::string(bytes, 'a'));
  };
  // One body is with its handler, the other one is announced.
  RawConnection held(port_);
  held.Send(post("/held", 400'000));
  arrived.Await();
  RawConnection half(port_);
  half.Send(
      "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 400000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_THAT(half.ReadTo("\r\n\r\n"), HasSubstr("100 Continue"));
  RawConnection third(port_);
  third.Send(post("/", 400'000));
  EXPECT_THAT(third.ReadAll(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("too_many_bodies"),
                                     HasSubstr("Retry-After: 1\r\n")));
  RawConnection in_chunks(port_);
  in_chunks.Send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n61a80\r\n");
  EXPECT_THAT(in_chunks.ReadAll(), StartsWith("HTTP/1.1 503 "));
  // A body that comes with its head always fits.
  RawConnection small(port_);
  small.Send(post("/", 3));
  EXPECT_THAT(small.ReadTo("taken"), StartsWith("HTTP/1.1 200 "));
  // Peers that disconnect make room.
  held.Leave();
  half.Leave();
  third.Leave();
  in_chunks.Leave();
  AwaitConnections(1);
  RawConnection fourth(port_);
  fourth.Send(post("/", 900'000));
  EXPECT_THAT(fourth.ReadTo("taken"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, BodyBytesOfEachCallerAreLimited) {
  limits_.all_bodies_bytes = 1'000'000;
  limits_.bodies_of_caller_bytes = 600'000;
  Serve(Echo, [](const std::shared_ptr<HttpRequest>& head, Verdict done) {
    std::move(done)({.caller = head->path});
  });
  const auto begin = [](const std::string& caller, size_t bytes) {
    return absl::StrCat("POST ", caller, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", bytes,
                        "\r\nExpect: 100-continue\r\n\r\n");
  };
  RawConnection first(port_);
  first.Send(begin("/mallory", 500'000));
  EXPECT_THAT(first.ReadTo("\r\n\r\n"), HasSubstr("100 Continue"));
  RawConnection second(port_);
  second.Send(begin("/mallory", 200'000));
  EXPECT_THAT(second.ReadAll(), StartsWith("HTTP/1.1 503 "));
  RawConnection other(port_);
  other.Send(begin("/alice", 500'000));
  EXPECT_THAT(other.ReadTo("\r\n\r\n"), HasSubstr("100 Continue"));
}

// Strangers can send heads and small bodies only.
TEST_F(HttpServerTest, StrangersDoNotUseUpLimitsOfKnownCallers) {
  limits_.all_bodies_bytes = limits_.bodies_of_caller_bytes = 1'000'000;
  limits_.strangers_bodies_bytes = 2 * 4096;
  limits_.connections = 8;
  Serve(Echo, [](const std::shared_ptr<HttpRequest>& head, Verdict done) {
    const std::string& who = head->path;
    if (who == "/stranger") {
      return std::move(done)({.body_bytes = 4096, .account = BodyAccount::kStranger});
    }
    if (who == "/claimed") return std::move(done)({.account = BodyAccount::kClaimed});
    std::move(done)({.caller = who});
  });
  const auto begin = [](RawConnection& peer, const std::string& caller, size_t bytes) {
    peer.Send(absl::StrCat("POST ", caller, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", bytes,
                           "\r\nExpect: 100-continue\r\n\r\n"));
    return peer.ReadTo("\r\n\r\n");
  };
  std::vector<std::unique_ptr<RawConnection>> strangers;
  for (int i = 0; i < 4; ++i) {
    strangers.push_back(std::make_unique<RawConnection>(port_));
    EXPECT_THAT(begin(*strangers.back(), "/stranger", 4096), HasSubstr("100 Continue"));
  }
  // The bodies that had been arriving for longest made room.
  EXPECT_EQ(strangers[0]->ReadAll(), "");
  EXPECT_EQ(strangers[1]->ReadAll(), "");
  RawConnection too_large(port_);
  EXPECT_THAT(begin(too_large, "/stranger", 4097), HasSubstr(" 413 "));
  RawConnection alice(port_);
  EXPECT_THAT(begin(alice, "/alice", 600'000), HasSubstr("100 Continue"));
  RawConnection claimed(port_);
  EXPECT_THAT(begin(claimed, "/claimed", 400'000), HasSubstr("100 Continue"));
  // The remaining connections are taken by peers that are not known yet.
  while (connections() < limits_.connections) {
    strangers.push_back(std::make_unique<RawConnection>(port_));
    strangers.back()->Send("G");
  }
  RawConnection bob(port_);
  bob.Send(Post("from bob", ""));
  EXPECT_THAT(bob.ReadTo("from bob"), HasSubstr(" 200 "));
  alice.Send(std::string(600'000, 'a'));
  EXPECT_THAT(alice.ReadTo("\r\n\r\n"), HasSubstr(" 200 "));
}

TEST_F(HttpServerTest, EachRequestOfConnectionCountsAgainstItsOwnAccount) {
  limits_.strangers_bodies_bytes = 4096;
  Serve(Echo, [](const std::shared_ptr<HttpRequest>& head, Verdict done) {
    if (head->path == "/alice") return std::move(done)({.caller = "alice"});
    if (head->path == "/claimed") return std::move(done)({.account = BodyAccount::kClaimed});
    std::move(done)({.body_bytes = 4096, .account = BodyAccount::kStranger});
  });
  RawConnection peer(port_);
  for (const auto& [path, bytes] :
       std::vector<std::pair<std::string, size_t>>{{"/stranger", 3000},
                                                   {"/alice", 300'000},
                                                   {"/stranger", 3000},
                                                   {"/claimed", 300'000},
                                                   {"/alice", 300'000}}) {
    peer.Send(absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", bytes,
                           "\r\nExpect: 100-continue\r\n\r\n"));
    EXPECT_THAT(peer.ReadTo("\r\n\r\n"), HasSubstr("100 Continue")) << path;
    peer.Send(std::string(bytes - 1, 'a') + "z");
    EXPECT_THAT(peer.ReadTo("z"), StartsWith("HTTP/1.1 200 ")) << path;
  }
  EXPECT_EQ(OnLoop([&] { return server_->body_bytes(); }), 0);
}

// A signature can be verified only once the body has arrived: until then it may be made up.
TEST_F(HttpServerTest, ClaimedBodiesMakeRoomForEachOtherAndForKnownCallers) {
  limits_.all_bodies_bytes = 1'000'000;
  limits_.bodies_of_caller_bytes = 600'000;
  Serve(Echo, [](const std::shared_ptr<HttpRequest>& head, Verdict done) {
    if (head->path == "/") return std::move(done)({.account = BodyAccount::kClaimed});
    std::move(done)({.caller = head->path});
  });
  const auto begin = [](RawConnection& peer, const std::string& path, size_t bytes) {
    peer.Send(absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: test\r\nContent-Length: ", bytes,
                           "\r\nExpect: 100-continue\r\n\r\n"));
    return peer.ReadTo("\r\n\r\n");
  };
  RawConnection first(port_);
  EXPECT_THAT(begin(first, "/", 400'000), HasSubstr("100 Continue"));
  RawConnection second(port_);
  EXPECT_THAT(begin(second, "/", 400'000), HasSubstr("100 Continue"));
  EXPECT_EQ(first.ReadAll(), "");
  // No request is ended if that would not make enough room.
  RawConnection too_large(port_);
  EXPECT_THAT(begin(too_large, "/", 700'000), HasSubstr(" 503 "));
  // Known callers come first.
  RawConnection alice(port_);
  EXPECT_THAT(begin(alice, "/alice", 600'000), HasSubstr("100 Continue"));
  RawConnection bob(port_);
  EXPECT_THAT(begin(bob, "/bob", 400'000), HasSubstr("100 Continue"));
  EXPECT_EQ(second.ReadAll(), "");
  RawConnection third(port_);
  EXPECT_THAT(begin(third, "/", 1000), HasSubstr(" 503 "));
}

// Whether they wait for the rest of a head or for a response.
TEST_F(HttpServerTest, ConnectionsOfStrangersMakeRoom) {
  limits_.connections = 4;
  std::vector<Responder> held;
  Serve(
      [&](std::shared_ptr<HttpRequest> request, Responder responder) {
        if (request->path != "/stranger") responder.admission->LetIn(nullptr);
        if (request->path == "/new") return std::move(responder.respond)({.body = "served"});
        held.push_back(std::move(responder));
      },
      [](const std::shared_ptr<HttpRequest>&, Verdict done) { std::move(done)({}); });
  RawConnection known(port_);
  known.Send(Get("/known"));
  std::vector<std::unique_ptr<RawConnection>> strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.push_back(std::make_unique<RawConnection>(port_));
    strangers.back()->Send(i == 0 ? std::string("GET / HTTP/1.1\r\n") : Get("/stranger"));
  }
  while (connections() < limits_.connections) {
  }
  for (int i = 0; i < 3; ++i) {
    RawConnection next(port_);
    next.Send(Get("/new"));
    EXPECT_THAT(next.ReadTo("served"), StartsWith("HTTP/1.1 200 "));
  }
  // The known peer's request is still held.
  const auto answered = OnLoop([&] {
    std::move(held.front().respond)({.body = "at last"});
    held.clear();
    return true;
  });
  EXPECT_TRUE(answered);
  EXPECT_THAT(known.ReadTo("at last"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, UnfinishedHeadsAndChunkHeadersAreLimited) {
  limits_.strangers_bodies_bytes = 10'000;
  Serve(Echo);
  RawConnection chunk(port_);
  chunk.Send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
             std::string(1100, 'x'));
  EXPECT_THAT(chunk.ReadAll(), StartsWith("HTTP/1.1 400 "));
  // All unfinished heads share one limit.
  const std::string head = "GET / HTTP/1.1\r\nHost: test\r\nX: " + std::string(6000, 'x');
  RawConnection first(port_);
  first.Send(head);
  while (OnLoop([&] { return server_->body_bytes(); }) < 6000) {
  }
  RawConnection second(port_);
  second.Send(head);
  EXPECT_EQ(first.ReadAll(), "");
  second.Send("\r\n\r\n");
  EXPECT_THAT(second.ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(OnLoop([&] { return server_->body_bytes(); }), 0);
}

TEST_F(HttpServerTest, BodyIsNotReadBeforeVerdictOnItsHead) {
  std::array<Event, 2> judged;
  std::vector<Verdict> verdicts;
  Serve(Echo, [&](const std::shared_ptr<HttpRequest>&, Verdict done) {
    verdicts.push_back(std::move(done));
    judged[verdicts.size() - 1].Tell();
  });
  const std::string head = "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 300000\r\n\r\n";
  RawConnection peer(port_);
  peer.Send(head);
  judged[0].Await();
  RawConnection gone(port_);
  gone.Send(head);
  judged[1].Await();
  gone.Leave();
  EXPECT_EQ(OnLoop([&] {
              const int64_t taken = server_->body_bytes();
              for (Verdict& done : verdicts) std::move(done)({.caller = "alice"});
              verdicts.clear();
              return taken;
            }),
            0);
  peer.Send(std::string(299'999, 'a') + "z");
  EXPECT_THAT(peer.ReadTo("z"), StartsWith("HTTP/1.1 200 "));
  AwaitConnections(1);
}

TEST_F(HttpServerTest, UnsentBytesOfResponsesAreLimited) {
  // More than the kernel buffers.
  constexpr size_t kAnswerBytes = 32 << 20;
  limits_.all_unsent_bytes = kAnswerBytes + kAnswerBytes / 2;
  limits_.unsent_of_caller_bytes = limits_.all_unsent_bytes;
  Serve([](std::shared_ptr<const HttpRequest>) -> asio::awaitable<HttpResponse> {
    co_return HttpResponse{.body = std::string(kAnswerBytes, 'a') + "z"};
  });
  RawConnection frozen(port_);
  frozen.Send(Get("/"));
  EXPECT_THAT(frozen.ReadTo("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  RawConnection cut(port_);
  cut.Send(Get("/"));
  EXPECT_LT(cut.ReadAll().size(), kAnswerBytes);
  // A peer that has read its answer makes room.
  frozen.Read(kAnswerBytes + 1);
  RawConnection next(port_);
  next.Send(Get("/"));
  next.ReadTo("\r\n\r\n");
  EXPECT_EQ(next.Read(kAnswerBytes + 1).size(), kAnswerBytes + 1);
}

// A request that is answered when its peer has disconnected, or is to be disconnected.
struct HeldRequest {
  Responder responder;
  bool was_expelled = false;
};

RespondingHandler HoldUntilTold(std::shared_ptr<HeldRequest> held, CredentialPtr credential,
                                Event* arrived) {
  return [=](const std::shared_ptr<HttpRequest>&, Responder responder) {
    responder.admission->LetIn(credential);
    held->responder = std::move(responder);
    held->responder.peer_left.assign([held](asio::cancellation_type) {
      held->was_expelled = *held->responder.is_expelled;
      // The responder must not keep the connection any longer.
      auto respond = std::exchange(held->responder.respond, nullptr);
      std::move(respond)({.body = "told"});
    });
    arrived->Tell();
  };
}

TEST_F(HttpServerTest, RequestEndsWhenItsCredentialIsRevoked) {
  const auto held = std::make_shared<HeldRequest>();
  const auto credential = std::make_shared<Credential>(Principal{"a", Role::kClient});
  Event arrived;
  Serve(HoldUntilTold(held, credential, &arrived));
  RawConnection peer(port_);
  peer.Send(Get("/"));
  arrived.Await();
  credential->Revoke();
  EXPECT_THAT(peer.ReadAll(), AllOf(HasSubstr("Connection: close\r\n"), EndsWith("\r\n\r\ntold")));
  EXPECT_TRUE(held->was_expelled);
}

TEST_F(HttpServerTest, HandlerCanRespondAtOnceWhenPeerSendsMoreAndLeaves) {
  const auto held = std::make_shared<HeldRequest>();
  Event arrived;
  Serve(HoldUntilTold(held, nullptr, &arrived));
  RawConnection peer(port_);
  peer.Send(Get("/"));
  arrived.Await();
  peer.Send(Get("/early"));
  peer.Abort();
  AwaitConnections(0);
  EXPECT_FALSE(held->was_expelled);
}

TEST_F(HttpServerTest, SilentPeersAreDisconnected) {
  limits_.idle = std::chrono::seconds(1);
  limits_.header_time = std::chrono::seconds(1);
  limits_.body_time = std::chrono::seconds(1);
  Serve(Echo);
  RawConnection idle(port_);
  RawConnection in_head(port_);
  in_head.Send("POST / HTTP/1.1\r\nHost: te");
  RawConnection in_body(port_);
  in_body.Send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nab");
  EXPECT_EQ(idle.ReadAll(), "");
  EXPECT_EQ(in_head.ReadAll(), "");
  EXPECT_EQ(in_body.ReadAll(), "");
}

TEST_F(HttpServerTest, StrangersHaveLessTimeToSendBodies) {
  limits_.strangers_body_time = std::chrono::seconds(1);
  limits_.body_time = std::chrono::hours(1);
  Serve(Echo, [](const std::shared_ptr<HttpRequest>& head, Verdict done) {
    const bool is_known = head->path == "/known";
    std::move(done)({.account = is_known ? BodyAccount::kKnown : BodyAccount::kStranger});
  });
  const std::string rest = " HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nab";
  RawConnection known(port_);
  known.Send("POST /known" + rest);
  RawConnection stranger(port_);
  stranger.Send("POST /stranger" + rest);
  EXPECT_EQ(stranger.ReadAll(), "");
  known.Send("cd");
  EXPECT_THAT(known.ReadTo("abcd"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, PeerGets500WhenHandlerThrows) {
  Serve([](std::shared_ptr<const HttpRequest>) -> asio::awaitable<HttpResponse> {
    throw std::runtime_error("broken");
    co_return HttpResponse{};
  });
  RawConnection peer(port_);
  peer.Send(Get("/") + "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  const std::string answers = peer.ReadAll();
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 500 "));
  EXPECT_NE(answers.find("HTTP/1.1 500 ", 1), std::string::npos);
}

// Each request is answered once, in turn, however the requests are split into packets.
TEST_F(HttpServerTest, RequestsCanBeSplitAnywhere) {
  Serve([](std::shared_ptr<const HttpRequest> request) {
    return request->path == "/later" ? EchoLater(request) : Echo(request);
  });
  std::mt19937 random(20240501);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  for (int connection = 0; connection < 50; ++connection) {
    std::string requests;
    std::string bodies;
    for (int i = 0; i < 20; ++i) {
      const std::string body = absl::StrCat("<", i, std::string(below(3000), 'x'), ">");
      const std::string start =
          absl::StrCat("POST ", below(2) == 0 ? "/" : "/later", " HTTP/1.1\r\nHost: test\r\n");
      if (below(2) == 0) {
        absl::StrAppend(&requests, start, "Content-Length: ", body.size(), "\r\n\r\n", body);
      } else {
        absl::StrAppend(&requests, start, "Transfer-Encoding: chunked\r\n\r\n1\r\n<\r\n",
                        absl::Hex(body.size() - 1), ";extension=1\r\n", body.substr(1),
                        "\r\n0\r\nTrailer: 1\r\n\r\n");
      }
      bodies += body;
    }
    requests += "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    RawConnection peer(port_);
    // Read while it is sent: neither side's buffers need to hold it all.
    std::future<std::string> answers =
        std::async(std::launch::async, [&peer] { return peer.ReadAll(); });
    for (size_t at = 0; at < requests.size();) {
      const size_t size = std::min(requests.size() - at, 1 + below(below(4) == 0 ? 8000 : 40));
      peer.Send(requests.substr(at, size));
      at += size;
    }
    std::string answered = answers.get();
    std::string echoed;
    for (size_t at = 0; (at = answered.find('<', at)) != std::string::npos; ++at) {
      echoed += answered.substr(at, answered.find('>', at) + 1 - at);
    }
    ASSERT_EQ(echoed, bodies);
  }
}

// Of a request or of its response.
TEST_F(HttpServerTest, PeersCanDisconnectAtAnyPoint) {
  Serve([](std::shared_ptr<const HttpRequest> request) {
    return request->path == "/later" ? EchoLater(request) : Echo(request);
  });
  const std::string body(2000, 'x');
  const std::string requests =
      absl::StrCat("POST /later HTTP/1.1\r\nHost: test\r\nContent-Length: 2000\r\n\r\n", body,
                   "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n",
                   body, "\r\n0\r\n\r\n", "GET /later HTTP/1.1\r\nHost: test\r\n\r\n");
  std::mt19937 random(20240502);
  for (int connection = 0; connection < 1000; ++connection) {
    std::uniform_int_distribution<size_t> sizes(0, requests.size());
    RawConnection peer(port_);
    peer.Send(requests.substr(0, sizes(random)));
    if (random() % 2 == 0) peer.Abort();
  }
  RawConnection peer(port_);
  peer.Send(Post("still there"));
  EXPECT_THAT(peer.ReadTo("still there"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

// Limits of connections.

TEST_F(HttpServerTest, NewConnectionMustSendFirstRequestWithinHeaderTime) {
  limits_.header_time = std::chrono::seconds(1);
  limits_.idle = std::chrono::seconds(1000);
  Serve(Echo);
  RawConnection kept(port_);
  kept.Send(Post("kept"));
  EXPECT_THAT(kept.ReadTo("kept"), StartsWith("HTTP/1.1 200 OK\r\n"));
  RawConnection silent(port_);
  RawConnection slow(port_);
  slow.Send("GET / HT");
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(slow.ReadAll(), "");
  kept.Send(Post("still"));
  EXPECT_THAT(kept.ReadTo("still"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, LongestIdleConnectionIsClosedWhenServerIsFull) {
  limits_.connections = 3;
  Serve([](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    if (request->path == "/held") co_await WaitForever();
    co_return HttpResponse{.body = request->path};
  });
  const auto ask = [](RawConnection& peer, const std::string& path) {
    peer.Send(Get(path));
    return peer.ReadTo(path);
  };
  RawConnection held(port_);
  held.Send(Get("/held"));
  RawConnection first(port_);
  EXPECT_THAT(ask(first, "/first"), EndsWith("/first"));
  RawConnection second(port_);
  EXPECT_THAT(ask(second, "/second"), EndsWith("/second"));
  // No connection is closed before another peer connects. The one with the latest request stays.
  EXPECT_THAT(ask(first, "/again"), EndsWith("/again"));
  RawConnection newcomer(port_);
  EXPECT_THAT(ask(newcomer, "/new"), EndsWith("/new"));
  EXPECT_EQ(second.ReadAll(), "");
  EXPECT_THAT(ask(first, "/still"), EndsWith("/still"));
}

TEST_F(HttpServerTest, NextConnectionWaitsWhileAllAreBusy) {
  limits_.connections = 1;
  Serve([](std::shared_ptr<const HttpRequest> request) -> asio::awaitable<HttpResponse> {
    if (request->path == "/held") co_await WaitForever();
    co_return HttpResponse{.body = request->path};
  });
  RawConnection held(port_);
  held.Send(Get("/held"));
  RawConnection next(port_);
  next.Send(Get("/next"));
  held.Leave();
  EXPECT_THAT(next.ReadTo("/next"), EndsWith("/next"));
}

}  // namespace
}  // namespace callslip::gateway
