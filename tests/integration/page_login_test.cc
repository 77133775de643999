// A login at the page gives access to the API without a token, and nothing else does.
#include <string>

#include "common/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using nlohmann::json;

TokenFile TokensOfReaderAndRoot() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  file.entries.push_back({{"reader", Role::kViewer}, std::string(32, 'v')});
  file.entries.push_back({{"root", Role::kAdmin}, std::string(32, 'r')});
  return file;
}

class PageLoginIntegrationTest : public testing::Test {
 protected:
  httplib::Headers LogIn(char token) {
    const httplib::Result answer = client_.Post(
        "/api/login", json{{"token", std::string(32, token)}}.dump(), "application/json");
    EXPECT_EQ(answer->status, 200) << answer->body;
    const std::string cookie = answer->get_header_value("Set-Cookie");
    return {{"Cookie", cookie.substr(0, cookie.find(';'))},
            {"X-Callslip-Key", json::parse(answer->body)["key"]}};
  }
  std::string CodeOf(const httplib::Result& answer) {
    return answer->status < 400 ? "" : std::string(json::parse(answer->body)["error"]);
  }

  TestServices services_{gateway::GatewayConfig{.web_root = "."}, TokensOfReaderAndRoot()};
  httplib::Client client_{"127.0.0.1", services_.gateway_address().port};
};

TEST_F(PageLoginIntegrationTest, LoginNeedsBothCookieAndKey) {
  httplib::Headers both = LogIn('v');
  const httplib::Result seen = client_.Get("/api/sessions", both);
  EXPECT_EQ(seen->status, 200) << seen->body;
  EXPECT_EQ(seen->get_header_value("Cache-Control"), "no-store");
  // In its own role.
  EXPECT_EQ(CodeOf(client_.Post("/api/sessions", both, "{}", "application/json")),
            "role_not_allowed");
  EXPECT_EQ(client_.Post("/api/sessions", LogIn('r'), "{}", "application/json")->status, 201);

  httplib::Headers cookie = both;
  cookie.erase("X-Callslip-Key");
  EXPECT_EQ(CodeOf(client_.Get("/api/sessions", cookie)), "token_missing");
  httplib::Headers key = both;
  key.erase("Cookie");
  EXPECT_EQ(CodeOf(client_.Get("/api/sessions", key)), "login_over");
  // A token takes precedence over them.
  both.emplace("Authorization", "Bearer " + std::string(32, 'x'));
  EXPECT_EQ(CodeOf(client_.Get("/api/sessions", both)), "token_unknown");
}

TEST_F(PageLoginIntegrationTest, CallersCanReadTheirIdentity) {
  const json me = json::parse(client_.Get("/api/me", LogIn('v'))->body);
  EXPECT_EQ(me["name"], "reader");
  EXPECT_EQ(me["role"], "viewer");
  EXPECT_EQ(me["may_act"], false);
  EXPECT_EQ(me["sees_all_clients"], true);
  EXPECT_EQ(me["tokens"], true);
  EXPECT_NE(me["version"], "");
  EXPECT_EQ(CodeOf(client_.Get("/api/me")), "token_missing");
  EXPECT_FALSE(me.contains("extension_dir"));
  const TestServices open{
      gateway::GatewayConfig{.web_root = ".", .extension_dir = "/usr/share/extension"}};
  httplib::Client client("127.0.0.1", open.gateway_address().port);
  const json local = json::parse(client.Get("/api/me")->body);
  EXPECT_EQ(local["role"], "local");
  EXPECT_EQ(local["may_act"], true);
  EXPECT_EQ(local["sees_all_clients"], false);
  EXPECT_EQ(local["tokens"], false);
  EXPECT_EQ(local["extension_dir"], "/usr/share/extension");
}

TEST_F(PageLoginIntegrationTest, OnlyPageIsServedWithoutLogin) {
  const httplib::Headers browser = {{"Accept", "text/html,*/*;q=0.8"}};
  EXPECT_EQ(client_.Get("/", browser)->status, 302);
  EXPECT_EQ(client_.Get("/", browser)->get_header_value("Location"), "/ui/");
  EXPECT_EQ(client_.Get("/")->status, 200);
  EXPECT_EQ(CodeOf(client_.Get("/ui/sessions")), "no_page");
  EXPECT_EQ(CodeOf(client_.Get("/api/sessions")), "token_missing");
}

}  // namespace
}  // namespace callslip
