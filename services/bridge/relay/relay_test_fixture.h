#pragma once

#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bridge/http/fake_gateway.h"
#include "bridge/http/gateway_client.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/relay.h"
#include "bridge/relay/stdio.h"
#include "bridge/relay/timeout_policy.h"
#include "common/fake_clock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {

inline bool Mentions(const httplib::Request& request, absl::string_view text) {
  return absl::StrContains(request.body, text);
}

// A relay that writes to a pipe, which the test reads, and uses a stopped clock, so that no
// deadline passes unless a test requires it. Reading an answer blocks until there is one.
class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe(fds_), 0);
    reader_ = std::make_unique<LineReader>(fds_[0], kMaxLineBytes);
    writer_ = std::make_unique<LineWriter>(fds_[1], [] {});
  }
  ~RelayTest() override {
    relay_.reset();
    client_.reset();
    gateway_.reset();
    close(fds_[0]);
    close(fds_[1]);
  }

  void StartGateway(FakeGateway::Handler handler = {}) {
    StartGateway(FakeGateway::Options{.handler = std::move(handler)});
  }
  void StartGateway(FakeGateway::Options options) {
    if (options.token.empty()) options.token = token_;
    gateway_ = std::make_unique<FakeGateway>(std::move(options));
    Connect(gateway_->port());
  }
  void Connect(int port) {
    client_ = std::make_unique<GatewayClient>(
        *ParseGatewayUrl(absl::StrCat("http://127.0.0.1:", port)), [this] { return token_; },
        clock());
    relay_ =
        std::make_unique<Relay>(TimeoutPolicy(CallTimes()), clock(), client_.get(), writer_.get());
  }

  virtual Clock* clock() { return &fake_clock_; }

  void Send(const std::string& line) { relay_->HandleLine(line); }
  void Call(const std::string& id, const std::string& method, const std::string& params = "{}") {
    Send(absl::StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":")", method, R"(","params":)",
                      params, "}"));
  }
  void CallTool(const std::string& id, const std::string& tool, const std::string& arguments) {
    Call(id, "tools/call", absl::StrCat(R"({"name":")", tool, R"(","arguments":)", arguments, "}"));
  }
  void CancelCall(const std::string& id) {
    Send(absl::StrCat(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)", id, "}}"));
  }

  std::string ReadLine() {
    std::string line;
    EXPECT_EQ(reader_->Next(line), LineReader::Event::kLine);
    return line;
  }
  nlohmann::json Read() { return nlohmann::json::parse(ReadLine()); }

  // Expects that the next line answers this ping, with nothing written before it.
  void ExpectSilenceUntilPing() {
    Call("\"silence\"", "ping");
    EXPECT_EQ(ReadLine(), ResultFor("\"silence\"", R"({"method":"ping"})"));
  }

  // Set it before StartGateway(), which passes it to the gateway as well.
  std::string token_;
  // The default clock(): the relay reads it until it is destroyed.
  FakeClock fake_clock_;
  RealClock real_clock_;
  int fds_[2];
  std::unique_ptr<LineReader> reader_;
  std::unique_ptr<LineWriter> writer_;
  std::unique_ptr<FakeGateway> gateway_;
  std::unique_ptr<GatewayClient> client_;
  std::unique_ptr<Relay> relay_;
};

}  // namespace callslip::bridge
