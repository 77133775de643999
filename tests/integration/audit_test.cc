// Administrators' changes through the gateway are in an audit log: the tracker's, or the gateway's
// own if the tracker does not learn the caller.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "common/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TokenFile Tokens() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  file.entries.push_back({{"root", Role::kAdmin}, std::string(32, 'r')});
  file.entries.push_back({{"browser", Role::kWorker}, std::string(32, 'w')});
  return file;
}

// A body that is sufficient for every route, since routes ignore unknown members. A tool call for
// POST /mcp.
json BodyFor(const std::string& path) {
  if (path == "/mcp") {
    return {{"jsonrpc", "2.0"},
            {"id", 1},
            {"method", "tools/call"},
            {"params",
             {{"name", "interact"},
              {"arguments", {{"action", "get_page"}}},
              {"_meta",
               {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                {"io.modelcontextprotocol/clientCapabilities", json::object()}}}}}};
  }
  if (absl::EndsWith(path, "/agent")) return {{"action", "start"}};
  if (absl::EndsWith(path, "/config")) return {{"mode_id", "m"}};
  return {{"action", absl::EndsWith(path, "/queue-control") ? "pause" : "finish"},
          {"command", "get_page"},
          {"events", json::array({{{"type", "note"}, {"data", json::object()}}})},
          {"option_id", "a"},
          {"outcome", "completed"},
          {"position", 0},
          {"wait_ms", 0},
          {"message", "m"}};
}

// Includes a GET that changes something, and omits routes of other methods that change only the
// caller's own state.
bool Changes(const gateway::Router::Served& served) {
  if (served.method == "GET") return served.path == "/pending-queries";
  return !absl::StrContains(served.path, "/players") &&
         !(served.method == "DELETE" && served.path == "/mcp");
}

class AuditTest : public testing::Test {
 protected:
  AuditTest() { InitLogging("test", "info"); }
  ~AuditTest() override { InitLogging("test", "error"); }

  // The log lines of a request of `who`.
  std::string LogOf(const gateway::Router::Served& served, char who) {
    // The number of lines in a second is limited.
    services_.clock().Advance(absl::Seconds(2));
    httplib::Client client("127.0.0.1", services_.gateway_address().port);
    httplib::Request request;
    request.method = served.method;
    request.path = absl::StrReplaceAll(served.path, {{"{", ""}, {"}", ""}});
    request.headers = {{"Authorization", "Bearer " + std::string(32, who)}};
    if (served.method != "GET") {
      request.headers.emplace("Content-Type", "application/json");
      request.body = BodyFor(served.path).dump();
    }
    if (served.path == "/mcp") {
      request.headers.emplace("MCP-Protocol-Version", "2026-07-28");
      request.headers.emplace("Mcp-Method", "tools/call");
      request.headers.emplace("Mcp-Name", "interact");
    }
    testing::internal::CaptureStderr();
    EXPECT_TRUE(client.send(request)) << served.path;
    return testing::internal::GetCapturedStderr();
  }

  TestServices services_{gateway::GatewayConfig{}, Tokens()};
};

TEST_F(AuditTest, EveryAdministratorChangeIsLogged) {
  int changing = 0;
  for (const gateway::Router::Served& served : services_.gateway().Routes()) {
    if (!Changes(served) || served.open) continue;
    ++changing;
    EXPECT_THAT(LogOf(served, 'r'), AllOf(HasSubstr(R"("event":"audit","verdict":"allowed")"),
                                          HasSubstr("root"), HasSubstr(R"("role":"admin")")))
        << served.method << " " << served.path;
  }
  EXPECT_GT(changing, 30);
}

TEST_F(AuditTest, LoginsAndRefusalsAreLoggedWithAddress) {
  httplib::Client client("127.0.0.1", services_.gateway_address().port);
  const auto log_of = [&](const std::string& token) {
    testing::internal::CaptureStderr();
    const json body = {{"token", token}};
    EXPECT_TRUE(client.Post("/api/login", body.dump(), "application/json"));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(log_of(std::string(32, 'r')),
              AllOf(HasSubstr(R"("event":"audit","verdict":"allowed")"), HasSubstr("/api/login"),
                    HasSubstr(R"("principal":"root")"), HasSubstr(R"("address":"127.0.0.1")"),
                    Not(HasSubstr(std::string(32, 'r')))));
  EXPECT_THAT(log_of("unknown"), AllOf(HasSubstr(R"("event":"audit","verdict":"refused")"),
                                       HasSubstr(R"("reason":"token_unknown")"),
                                       HasSubstr(R"("address":"127.0.0.1")")));
}

TEST_F(AuditTest, WorkerRequestsAreNotAudited) {
  for (const gateway::Router::Served& served : services_.gateway().Routes()) {
    if (!served.roles.Has(Role::kWorker)) continue;
    EXPECT_THAT(LogOf(served, 'w'), Not(HasSubstr("audit"))) << served.path;
  }
}

}  // namespace
}  // namespace callslip
