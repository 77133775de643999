// The bridge's timeouts against the gateway's waits: the inner wait has to end first, with its
// reason.
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "bridge/json/json_rpc.h"
#include "bridge/relay/timeout_policy.h"
#include "gateway/mcp/mcp_server.h"
#include "gateway/mcp/protocol/json_rpc.h"
#include "gtest/gtest.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;

class TimeoutsTest : public testing::Test {
 protected:
  absl::Duration GatewayWait(const std::string& line) {
    const auto body = gateway::ParseJsonRpc(line);
    const auto& parsed = std::get<gateway::JsonRpcBody>(body).messages.front();
    return services_.gateway().mcp().LongestWait(std::get<gateway::JsonRpcMessage>(parsed));
  }

  static std::string LineOf(const std::string& method, const json& params) {
    return json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump();
  }

  // A call of each tool for each of its operations, and for each way to give a duration.
  std::vector<std::string> AllToolCalls() {
    std::vector<std::string> lines;
    const auto listed = services_.Post("/mcp", LineOf("tools/list", json::object())).body;
    for (const json& tool : listed["result"]["tools"]) {
      const json& properties = tool["inputSchema"]["properties"];
      const char* choice = properties.contains("what") ? "what" : "action";
      std::vector<json> calls;
      for (const json& what : properties[choice]["enum"]) calls.push_back({{choice, what}});
      const auto vary = [&](const char* name, const std::vector<json>& values) {
        if (!properties.contains(name)) return;
        for (size_t i = 0, count = calls.size(); i < count; ++i) {
          for (const json& value : values) {
            json call = calls[i];
            call[name] = value;
            calls.push_back(std::move(call));
          }
        }
      };
      vary("correlation_id", {"corr-1", "ann_1"});
      vary("session_id", {"s"});
      vary("wait", {true, false});
      vary("wait_ms", {0, 1, 8000, 8001, 30000, 30001, 55000, "soon"});
      for (const json& call : calls) {
        lines.push_back(LineOf("tools/call", {{"name", tool["name"]}, {"arguments", call}}));
      }
    }
    return lines;
  }

  TestServices services_;
};

TEST_F(TimeoutsTest, BridgeWaitsLongerThanGatewayForEachToolCall) {
  const bridge::TimeoutPolicy policy{bridge::CallTimes()};
  const std::vector<std::string> lines = AllToolCalls();
  EXPECT_GT(lines.size(), 200u);
  int waits = 0;
  for (const std::string& line : lines) {
    const absl::Duration wait = GatewayWait(line);
    const bridge::Message message = bridge::ParseMessage(line);
    EXPECT_GE(policy.TimeoutOf(policy.ClassOf(message)) - wait, bridge::kNestingMargin) << line;
    if (wait == absl::ZeroDuration()) continue;
    ++waits;
    EXPECT_TRUE(policy.MayWait(message)) << line;
  }
  EXPECT_GT(waits, 50);
}

TEST_F(TimeoutsTest, BridgeWaitsLongerThanGatewayWithUserTimes) {
  const bridge::CallTimes times = {.fast = {absl::Seconds(5), absl::Seconds(2)},
                                   .slow = {absl::Seconds(8), absl::Seconds(5)},
                                   .blocking = {absl::Seconds(12), absl::Seconds(8)}};
  const bridge::TimeoutPolicy policy(times);
  for (const std::string& line : AllToolCalls()) {
    bridge::Message message = bridge::ParseMessage(line);
    const absl::Duration timeout = policy.TimeoutOf(policy.ClassOf(message));
    if (const auto wait = policy.ShorterWaitFor(message)) bridge::SetWait(message, *wait);
    EXPECT_GE(timeout - GatewayWait(message.line), bridge::kNestingMargin) << message.line;
  }
}

TEST_F(TimeoutsTest, TaskResultTimeoutExceedsIntervalOfSigns) {
  const bridge::TimeoutPolicy policy{bridge::CallTimes()};
  const std::string line = LineOf("tasks/result", {{"taskId", "ann_1"}});
  const bridge::Message message = bridge::ParseMessage(line);
  EXPECT_TRUE(policy.CountsFromLastSign(message));
  EXPECT_TRUE(policy.MayWait(message));
  // With a factor of three, since the tracker may be down for a while.
  EXPECT_GT(policy.TimeoutOf(policy.ClassOf(message)), 3 * GatewayWait(line));
}

}  // namespace
}  // namespace callslip
