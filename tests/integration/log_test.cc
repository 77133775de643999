// The log lines of tracker and gateway about calls: enough to follow a call, and never its
// payloads.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;

constexpr char kTraceparent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
// Each secret is in a different place.
constexpr char kScript[] = "secret-of-params";
constexpr char kResult[] = "secret-of-result";
constexpr char kLateResult[] = "secret-of-late-result";
constexpr char kMessage[] = "secret-of-error";
constexpr char kUrl[] = "secret-of-url";
constexpr char kToken[] = "secret-of-authorization";

// Standard error, into a file that is read while threads continue to write.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~CapturedStderr() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  // The whole lines since the last call.
  std::string Take() {
    std::string text;
    char bytes[4096];
    while (true) {
      const auto from = taken_ + static_cast<off_t>(text.size());
      const ssize_t count = pread(fileno(file_), bytes, sizeof(bytes), from);
      if (count <= 0) break;
      text.append(bytes, static_cast<size_t>(count));
    }
    text.resize(text.rfind('\n') + 1);
    taken_ += static_cast<off_t>(text.size());
    return text;
  }

 private:
  std::FILE* const file_;
  const int before_;
  off_t taken_ = 0;
};

class LogTest : public testing::Test {
 protected:
  LogTest() {
    InitLogging("test", "debug");
    captured_.Take();
  }
  ~LogTest() override { InitLogging("test", "error"); }

  // The log lines since the beginning or the last call.
  std::vector<json> Lines() {
    text_ = captured_.Take();
    std::vector<json> lines;
    std::istringstream stream(text_);
    for (std::string line; std::getline(stream, line);) {
      json parsed = json::parse(line, nullptr, false);
      EXPECT_TRUE(parsed.is_object()) << line;
      for (const char* member : {"time", "level", "process", "event"}) {
        EXPECT_TRUE(parsed.contains(member)) << line;
      }
      lines.push_back(std::move(parsed));
    }
    return lines;
  }

  // The first line with this event, once there is one: a command may be seen to have ended before
  // it is logged.
  json Await(const std::string& event) {
    while (true) {
      const std::vector<json> found = Of(event, Lines());
      if (!found.empty()) return found[0];
      (void)services_.Get("/healthz");
    }
  }

  static std::vector<json> Of(const std::string& event, const std::vector<json>& lines) {
    std::vector<json> found;
    for (const json& line : lines) {
      if (line["event"] == event) found.push_back(line);
    }
    return found;
  }

  json Interact() {
    const json request = {
        {"jsonrpc", "2.0"},
        {"id", ++id_},
        {"method", "tools/call"},
        {"params",
         {{"name", "interact"}, {"arguments", {{"action", "execute_js"}, {"script", kScript}}}}}};
    return services_
        .Post("/mcp", request.dump(),
              {{"Mcp-Session-Id", services_.session_id()},
               {"traceparent", kTraceparent},
               {"Authorization", std::string("Bearer ") + kToken}})
        .body["result"]["structuredContent"];
  }
  json Lease() { return services_.Get("/pending-queries?target=&worker=w1").body; }
  void Report(const json& query, json outcome) {
    outcome["id"] = query["id"];
    outcome["correlation_id"] = query["correlation_id"];
    const auto answer = services_.Post("/query-result", outcome.dump());
    EXPECT_EQ(answer.status, 200) << answer.body;
  }

  CapturedStderr captured_;
  std::string text_;
  int id_ = 0;
  TestServices services_;
};

TEST_F(LogTest, CommandLinesHaveIdClientAndTrace) {
  const json queued = Interact();
  const json queries = Lease();
  ASSERT_EQ(queries.size(), 1u);
  Report(queries[0], {{"status", "complete"}, {"result", kResult}});

  const std::vector<json> lines = Lines();
  for (const char* event : {"command submitted", "command registered", "command delivered"}) {
    const std::vector<json> found = Of(event, lines);
    ASSERT_EQ(found.size(), 1u) << event << text_;
    EXPECT_EQ(found[0]["level"], "debug");
    EXPECT_EQ(found[0]["correlation_id"], queued["correlation_id"]);
    EXPECT_EQ(found[0]["client"], "local");
    EXPECT_EQ(found[0]["traceparent"], kTraceparent);
  }
}

TEST_F(LogTest, FailuresAreLoggedAtInfoWithTheirCode) {
  const json queued = Interact();
  services_.clock().Advance(absl::Seconds(31));
  const json failed = Await("command failed");
  EXPECT_EQ(failed["level"], "info");
  EXPECT_EQ(failed["correlation_id"], queued["correlation_id"]);
  EXPECT_EQ(failed["traceparent"], kTraceparent);
  EXPECT_EQ(failed["state"], "expired");
  EXPECT_EQ(failed["code"], "never_delivered");
}

TEST_F(LogTest, RefusalsAreLoggedWithRateLimit) {
  for (int i = 0; i < 130; ++i) (void)Interact();
  // The fake clock does not advance: all of them come in one second.
  const std::vector<json> refused = Of("command refused", Lines());
  ASSERT_EQ(refused.size(), 20u);
  EXPECT_EQ(refused[0]["reason"], "queue_full");
  EXPECT_EQ(refused[0]["code"], "RESOURCE_EXHAUSTED");
  EXPECT_EQ(refused[0]["client"], "local");
  services_.clock().Advance(absl::Seconds(1));
  (void)Interact();
  const std::vector<json> later = Of("command refused", Lines());
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0]["left_out"], "10");
}

TEST_F(LogTest, RefusedRequestsAreLoggedWithoutTheirContent) {
  (void)services_.Post(std::string("/nowhere/") + kUrl + "?token=" + kToken, "{}",
                       {{"Host", kMessage}});
  const std::vector<json> refused = Of("audit", Lines());
  ASSERT_EQ(refused.size(), 1u) << text_;
  EXPECT_EQ(refused[0]["route"], "other");
  EXPECT_EQ(refused[0]["verdict"], "refused");
  EXPECT_EQ(refused[0]["reason"], "host_not_allowed");
  for (const char* secret : {kUrl, kToken, kMessage}) {
    EXPECT_EQ(text_.find(secret), std::string::npos) << text_;
  }
}

TEST_F(LogTest, PayloadsOfCallsAreNotLogged) {
  // Completed, failed, late, and expired; at the most verbose level.
  (void)Interact();
  Report(Lease().at(0), {{"status", "complete"}, {"result", kResult}});
  (void)Interact();
  Report(Lease().at(0), {{"status", "error"}, {"error", kMessage}, {"url", kUrl}});
  const json queued = Interact();
  const json taken = Lease();
  (void)services_.ToolAnswer("interact",
                             {{"action", "cancel"}, {"correlation_id", queued["correlation_id"]}});
  Report(taken.at(0), {{"status", "complete"}, {"result", kLateResult}});
  (void)services_.ToolAnswer("observe", {{"what", "failed_commands"}});
  (void)services_.Get("/metrics-of-nobody");

  const std::vector<json> lines = Lines();
  EXPECT_EQ(Of("command failed", lines).size(), 1u) << text_;
  EXPECT_EQ(Of("late result", lines).size(), 1u) << text_;
  for (const char* secret : {kScript, kResult, kLateResult, kMessage, kUrl, kToken}) {
    EXPECT_EQ(text_.find(secret), std::string::npos) << secret << "\n" << text_;
  }
}

}  // namespace
}  // namespace callslip
