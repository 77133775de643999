#include "gateway/extension/sync_request.h"

#include <map>
#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "gateway/extension/browser_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kId[] = "corr-1-00000000000000000000000000000001/lease-0000000000000002";
constexpr char kCommand[] = "corr-1-00000000000000000000000000000001";
constexpr char kLease[] = "lease-0000000000000002";

SyncRequest Parsed(const Json& body, const HttpHeaders& headers = {}) {
  const auto parsed = ParseSync({.headers = headers, .body = Dump(body)});
  EXPECT_OK(parsed);
  return parsed.value_or(SyncRequest());
}

// One result as reported by an extension that names its session `session_id`.
v1::CompleteCommandRequest Result(Json report, const Json& settings = nullptr) {
  report["id"] = kId;
  const SyncRequest sync = Parsed({{"session_id", "s"},
                                   {"settings", settings},
                                   {"command_results", Json::array({std::move(report)})}});
  EXPECT_THAT(sync.results, SizeIs(1));
  return sync.results.empty() ? v1::CompleteCommandRequest() : sync.results[0];
}

TEST(SyncRequestTest, MembersShowCapabilitiesOfExtension) {
  struct Case {
    const char* body;
    const char* worker_id;
    bool may_be_held;
    bool reports_progress;
  };
  for (const Case& each : {
           Case{R"({"session_id":"a"})", "sync-a", false, false},
           Case{R"({"ext_session_id":"b"})", "sync-b", true, false},
           Case{R"({"ext_session_id":"c","in_progress":[]})", "sync-c", true, true},
           // The version does not matter; this one is that of an earlier extension.
           Case{R"({"ext_session_id":"d","in_progress":[],"extension_version":"0.8.2"})", "sync-d",
                true, true},
           Case{R"({"session_id":"e","extension_version":"6.0.3"})", "sync-e", false, false},
       }) {
    const auto parsed = ParseSync({.body = each.body});
    ASSERT_OK(parsed) << each.body;
    EXPECT_EQ(parsed->worker_id, each.worker_id);
    EXPECT_EQ(parsed->may_be_held, each.may_be_held) << each.body;
    EXPECT_EQ(parsed->reports_progress, each.reports_progress) << each.body;
  }
}

TEST(SyncRequestTest, RefusesRequestWithoutSession) {
  EXPECT_THAT(ParseSync({.body = "{"}),
              FailsWith(absl::StatusCode::kInvalidArgument, "malformed_json"));
  EXPECT_THAT(ParseSync({.body = "[]"}),
              FailsWith(absl::StatusCode::kInvalidArgument, "invalid_body"));
  for (const char* body : {"{}", R"({"session_id":7})", R"({"session_id":"\n"})"}) {
    EXPECT_THAT(ParseSync({.body = body}),
                FailsWith(absl::StatusCode::kInvalidArgument, "missing_session"));
  }
}

TEST(SyncRequestTest, SettingsAndHeadersIdentifyExtension) {
  const SyncRequest sync =
      Parsed({{"session_id", "s"},
              {"extension_version", "6.0.3"},
              {"settings",
               {{"pilot_enabled", false},
                {"tracking_enabled", true},
                {"tracked_tab_id", 12},
                {"tracked_tab_url", "http://x/"},
                {"tracked_tab_title", "X"},
                {"capture_logs", true}}}},
             {{"x-gasoline-client", "gasoline-extension/6.0.3"},
              {"user-agent", "Mozilla/5.0 (X11) Chrome/131.0.0.0 Safari/537"}});
  EXPECT_EQ(sync.report.name(), "gasoline-extension");
  EXPECT_EQ(sync.report.version(), "6.0.3");
  EXPECT_EQ(sync.report.browser(), "Chrome/131.0.0.0");
  EXPECT_TRUE(sync.report.paused());
  EXPECT_EQ(sync.tracked_tab_id, 12);
  EXPECT_EQ(sync.report.tabs(), R"([{"active":false,"tab_id":12,"title":"X","url":"http://x/"}])");
  EXPECT_EQ(Parsed({{"session_id", "s"}}).tracked_tab_id, 0);
  EXPECT_EQ(Parsed({{"session_id", "s"}}).report.name(), "unknown");
  EXPECT_EQ(SyncClientName({.headers = {{"x-kaboom-client", "kaboom-extension/0.8.2\n"}}}),
            "kaboom-extension/0.8.2");
}

TEST(SyncRequestTest, CompleteIsResultUnlessItReportsFailure) {
  struct Case {
    Json report;
    std::string result;  // Empty where it is a failure,
    std::string code;    // with this code
    std::string message;
  };
  const std::vector<Case> cases = {
      {{{"status", "complete"}, {"result", {{"success", true}, {"result", 42}}}},
       R"({"data":42,"success":true})"},
      {{{"status", "complete"}, {"result", {{"success", true}, {"action", "navigate"}}}},
       R"({"action":"navigate","success":true})"},
      {{{"status", "complete"}}, "null"},
      {{{"status", "complete"}, {"error", nullptr}, {"result", "x"}}, R"("x")"},
      // The script itself returned an error.
      {{{"status", "complete"}, {"result", {{"success", true}, {"result", {{"error", "e"}}}}}},
       R"({"data":{"error":"e"},"success":true})"},
      {{{"status", "complete"}, {"result", nullptr}, {"error", "ai_web_pilot_disabled"}},
       "",
       "ai_web_pilot_disabled",
       "ai_web_pilot_disabled"},
      {{{"status", "complete"},
        {"result", {{"success", false}, {"error", "element_not_found"}, {"message", "No #x."}}}},
       "",
       "element_not_found",
       "No #x."},
      {{{"status", "complete"}, {"result", {{"success", false}}}}, "", "execution_failed", ""},
      {{{"status", "complete"}, {"result", {{"error", "screenshot_failed"}}}},
       "",
       "screenshot_failed",
       "screenshot_failed"},
      {{{"status", "error"}, {"error", "Command timed out."}},
       "",
       "execution_failed",
       "Command timed out."},
      {{{"status", "cancelled"}}, "", "execution_failed", ""},
      {{{"status", 7}}, "", "execution_failed", ""},
  };
  for (const Case& each : cases) {
    const v1::CompleteCommandRequest request = Result(each.report);
    EXPECT_EQ(request.command_id(), kCommand);
    EXPECT_EQ(request.lease_token(), kLease);
    EXPECT_EQ(request.result(), each.result) << each.report;
    EXPECT_EQ(request.error().code(), each.code) << each.report;
    EXPECT_EQ(request.error().message(), each.message) << each.report;
  }
}

TEST(SyncRequestTest, OnlyDisabledActionIsCertainlyNotExecuted) {
  EXPECT_FALSE(Result({{"status", "complete"}, {"error", "ai_web_pilot_disabled"}})
                   .error()
                   .may_have_executed());
  EXPECT_TRUE(Result({{"status", "error"}, {"error", "no_result"}}).error().may_have_executed());
  const auto timeout = Result({{"status", "timeout"}, {"error", "It took too long."}});
  EXPECT_EQ(timeout.timeout().message(), "It took too long.");
}

TEST(SyncRequestTest, ResultNamesTabAndUrl) {
  const Json settings = {
      {"tracking_enabled", true}, {"tracked_tab_id", 12}, {"tracked_tab_url", "http://x/"}};
  EXPECT_EQ(Result({{"status", "complete"}}, settings).context(),
            R"({"tab_id":12,"url":"http://x/"})");
  EXPECT_EQ(Result({{"status", "complete"},
                    {"result", {{"resolved_tab_id", 9}, {"resolved_url", "http://y/"}}}},
                   settings)
                .context(),
            R"({"tab_id":9,"url":"http://y/"})");
  EXPECT_EQ(Result({{"status", "complete"}}).context(), "");
  // A URL that is too long is omitted, so that the result is not refused because of it.
  EXPECT_EQ(Result({{"status", "complete"},
                    {"result", {{"resolved_tab_id", 9}, {"resolved_url", std::string(9000, 'u')}}}})
                .context(),
            R"({"tab_id":9})");
}

TEST(SyncRequestTest, ReportsWithoutOurIdAreIgnored) {
  const Json reports = Json::array({{{"id", "q-7"}, {"status", "complete"}},
                                    {{"status", "complete"}},
                                    "text",
                                    {{"id", 7}, {"correlation_id", kCommand}}});
  const SyncRequest sync =
      Parsed({{"ext_session_id", "s"}, {"command_results", reports}, {"in_progress", reports}});
  ASSERT_THAT(sync.results, SizeIs(1));
  EXPECT_EQ(sync.results[0].command_id(), kCommand);
  EXPECT_EQ(sync.results[0].lease_token(), "");
  EXPECT_THAT(sync.heartbeats, SizeIs(1));
}

TEST(SyncRequestTest, InProgressIsHeartbeat) {
  const SyncRequest sync = Parsed({{"ext_session_id", "s"},
                                   {"in_progress",
                                    {{{"id", kId}, {"type", "execute"}, {"status", "running"}},
                                     {{"id", kId}, {"progress_pct", 25}}}},
                                   // The extension sends this after the execution: it is not an
                                   // acknowledgement of the delivery.
                                   {"last_command_ack", kId}});
  ASSERT_THAT(sync.heartbeats, SizeIs(2));
  EXPECT_EQ(sync.heartbeats[0].command_id(), kCommand);
  EXPECT_EQ(sync.heartbeats[0].lease_token(), kLease);
  EXPECT_FALSE(sync.heartbeats[0].has_progress());
  EXPECT_EQ(sync.heartbeats[1].progress().fraction(), 0.25);
}

TEST(SyncRequestTest, NumberOfReportsIsBounded) {
  Json many = Json::array();
  for (int i = 0; i < 300; ++i) many.push_back({{"id", kId}, {"status", "complete"}});
  const SyncRequest sync =
      Parsed({{"ext_session_id", "s"}, {"command_results", many}, {"in_progress", many}});
  EXPECT_THAT(sync.results, SizeIs(200));
  EXPECT_THAT(sync.heartbeats, SizeIs(20));
}

TEST(SyncRequestTest, ScreenshotIsResultOfItsQuery) {
  const auto result = ScreenshotResult(
      {{"data_url", "data:image/jpeg;base64,AAAA"}, {"url", "http://x/"}, {"query_id", kId}});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->command_id(), kCommand);
  EXPECT_EQ(result->lease_token(), kLease);
  EXPECT_EQ(result->context(), R"({"url":"http://x/"})");
  EXPECT_EQ(result->result(),
            R"({"data":{"base64":"AAAA","mime_type":"image/jpeg"},"success":true})");
  for (const char* wrong : {"", "AAAA", "data:text/html;base64,AAAA", "data:image/png,AAAA"}) {
    const auto failed = ScreenshotResult({{"data_url", wrong}, {"query_id", kId}});
    EXPECT_EQ(failed->error().code(), "screenshot_failed") << wrong;
  }
  EXPECT_FALSE(ScreenshotResult({{"data_url", "data:image/png;base64,AAAA"}}).has_value());
}

TEST(BrowserLogTest, EntriesAreBoundedAndWithoutSecrets) {
  EXPECT_THAT(LogEntries(nullptr), IsEmpty());
  EXPECT_THAT(LogEntries(Json::array({{{"level", "error"}}})),
              ElementsAre(Field(&BrowserLogEntry::json, R"({"level":"error"})")));
  const Json body = {{"url", "http://x/"},
                     {"headers", {{"Authorization", "Bearer s"}, {"Accept", "x"}}},
                     {"more", Json::array({{{"set-cookie", {"a", "b"}}}})}};
  const std::vector<BrowserLogEntry> kept = LogEntries(Json::array({body}));
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_THAT(kept[0].json, HasSubstr(R"("Authorization":"[redacted]")"));
  EXPECT_THAT(kept[0].json, HasSubstr(R"("set-cookie":"[redacted]")"));
  EXPECT_THAT(kept[0].json, HasSubstr(R"("Accept":"x")"));

  Json many = Json::array({std::string(300 << 10, 'x')});
  EXPECT_THAT(LogEntries(many), IsEmpty()) << "too large";
  for (int i = 0; i < 1001; ++i) many.push_back(i);
  EXPECT_THAT(LogEntries(many), SizeIs(1000));
  EXPECT_EQ(LogEntries(many)[0].json, "1") << "the newest are kept";
}

TEST(BrowserLogTest, EntriesNameTheirTab) {
  const auto kept = LogEntries(Json::array(
      {{{"tab_id", 12}}, {{"tabId", 13}}, {{"tab_id", "14"}}, {{"tab_id", 1.5}}, "no object"}));
  EXPECT_THAT(
      kept,
      ElementsAre(Field(&BrowserLogEntry::place, "tab-12"),
                  Field(&BrowserLogEntry::place, "tab-13"), Field(&BrowserLogEntry::place, ""),
                  Field(&BrowserLogEntry::place, ""), Field(&BrowserLogEntry::place, "")));
}

TEST(BrowserLogTest, SecretsAreRecognizedByName) {
  const auto kept = [](const Json& entry) { return LogEntries(Json::array({entry})).at(0).json; };
  for (const char* name :
       {"access_token", "refreshToken", "id-token", "api_key", "apiKey", "X-Api-Key", "secret",
        "client_secret", "x-auth-token", "X-CSRF-Token", "Password", "user_password", "Set-Cookie",
        "Proxy-Authorization", "private_key", "AccessKey", "credential"}) {
    EXPECT_THAT(kept({{name, "hush"}}), Not(HasSubstr("hush"))) << name;
    EXPECT_THAT(kept({{name, {{"deep", "hush"}}}}), Not(HasSubstr("hush"))) << name;
    EXPECT_THAT(kept({{"headers", Json::array({{{"name", name}, {"value", "hush"}}})}}),
                AllOf(Not(HasSubstr("hush")), HasSubstr(name)));
    EXPECT_THAT(kept({{"headers", Json::array({Json::array({name, "hush"})})}}),
                AllOf(Not(HasSubstr("hush")), HasSubstr(name)));
    EXPECT_THAT(kept({{"url", std::string("https://x/?a=1&") + name + "=hush&b=2#c"}}),
                AllOf(Not(HasSubstr("hush")), HasSubstr("https://x/?a=1&"), HasSubstr("&b=2#c")));
    EXPECT_THAT(kept({{"url", std::string("https://x/#") + name + "=hush"}}),
                Not(HasSubstr("hush")));
  }
  for (const char* name : {"accept", "tokens", "max_tokens", "secretary", "cookies_enabled", "key",
                           "name", "value", "author"}) {
    EXPECT_THAT(kept({{name, "shown"}}), HasSubstr("shown")) << name;
    EXPECT_THAT(kept({{"name", name}, {"value", "shown"}}), HasSubstr("shown")) << name;
    EXPECT_THAT(kept({{"url", std::string("https://x/?") + name + "=shown"}}), HasSubstr("=shown"));
  }
  // The text is not a URL.
  EXPECT_THAT(kept({{"text", "is token=a?"}}), HasSubstr("token=a"));
}

}  // namespace
}  // namespace callslip::gateway
