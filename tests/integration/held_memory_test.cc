// A waiting call does not keep its request: neither the bytes, nor the parsed values, nor its place
// among the bodies.
#include <malloc.h>

#include <cstddef>
#include <string>
#include <vector>

#include "common/metrics.h"
#include "common/metrics_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/mcp_client.h"
#include "support/prometheus_text.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using json = nlohmann::json;

constexpr int kCalls = 16;
constexpr size_t kMeta = 512 << 10;

// All allocated memory of this process.
size_t InUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class HeldMemoryTest : public testing::Test {
 protected:
  // Holds as many calls as the limit allows, each with a large `_meta`.
  void Hold(McpClient& client, const std::string& method, const json& params, int waits_of_each) {
    const int64_t before = static_cast<int64_t>(InUse());
    {
      std::vector<HttpStream> held;
      for (int i = 0; i < kCalls; ++i) {
        json sent = params;
        sent["_meta"]["example.org/notes"] = std::string(kMeta, 'x');
        held.push_back(client.Open(client.Request(method, std::move(sent))));
      }
      services_.AwaitWaits(kCalls * waits_of_each);
      EXPECT_EQ(BodiesTaken(), 0) << method << " " << params;
      const int64_t taken = static_cast<int64_t>(InUse()) - before;
      EXPECT_LT(taken, kCalls * static_cast<int64_t>(kMeta) / 4) << method << " " << params;
    }
    services_.AwaitWaits(0);
  }

  double BodiesTaken() {
    MetricsPage page;
    services_.gateway().AddMetrics(page);
    return PrometheusText(PlainMetricsText(page))
        .Sum("callslip_memory_used_bytes", {{"table", "bodies"}});
  }

  std::string NewCommand(McpClient& client) {
    return client.CallTool("interact",
                           {{"action", "get_page"}})["structuredContent"]["correlation_id"];
  }

  TestServices services_;
};

TEST_F(HeldMemoryTest, WaitingToolCallsDoNotKeepTheirRequests) {
  McpClient client(services_.gateway_address(), "2026-07-28");
  const std::string id = NewCommand(client);
  const std::vector<json> calls = {
      {{"name", "interact"}, {"arguments", {{"action", "get_page"}, {"wait_ms", 20'000}}}},
      {{"name", "analyze"}, {"arguments", {{"what", "page"}, {"wait_ms", 20'000}}}},
      {{"name", "observe"},
       {"arguments", {{"what", "command_result"}, {"correlation_id", id}, {"wait_ms", 20'000}}}},
  };
  for (const json& call : calls) {
    Hold(client, "tools/call", call, 1);
    // A caller that wants progress waits in another way.
    json listening = call;
    listening["_meta"]["progressToken"] = "t";
    Hold(client, "tools/call", listening, 1);
  }
}

TEST_F(HeldMemoryTest, WaitingToolCallsDoNotKeepTheirArguments) {
  McpClient client(services_.gateway_address(), "2026-07-28");
  const int64_t before = static_cast<int64_t>(InUse());
  std::vector<HttpStream> held;
  for (int i = 0; i < kCalls; ++i) {
    held.push_back(client.Open(client.ToolCall(
        "interact",
        {{"action", "execute_js"}, {"script", std::string(kMeta, 'x')}, {"wait_ms", 20'000}})));
  }
  services_.AwaitWaits(kCalls);
  // Only the tracker has them, once.
  const int64_t taken = static_cast<int64_t>(InUse()) - before;
  EXPECT_LT(taken, kCalls * static_cast<int64_t>(kMeta) * 3 / 2);
}

TEST_F(HeldMemoryTest, SubscriptionsDoNotKeepTheirRequests) {
  McpClient client(services_.gateway_address(), "2026-07-28");
  client.capabilities["extensions"]["io.modelcontextprotocol/tasks"] = json::object();
  McpClient plain(services_.gateway_address(), "2026-07-28");
  const json ids = {NewCommand(plain)};
  Hold(client, "subscriptions/listen", {{"notifications", {{"taskIds", ids}}}}, 1);
  const json more = {{"taskIds", ids}, {"nothingThatIsKnown", std::string(kMeta, 'x')}};
  Hold(client, "subscriptions/listen", {{"notifications", more}}, 1);
}

}  // namespace
}  // namespace callslip
