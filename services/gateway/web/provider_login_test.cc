#include "gateway/web/provider_login.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/fake_grants.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kTokenUrl[] = "https://login.example/token";
constexpr char kOrigin[] = "https://gw.example";

// The server's token endpoint: it gives this answer, and keeps the forms.
class TokenEndpoint final : public DocumentSource {
 public:
  absl::StatusOr<Document> Get(const Url&) override { return absl::UnimplementedError("no"); }
  absl::StatusOr<FormAnswer> Post(const Url& url, const std::string& form) override {
    EXPECT_EQ(absl::StrCat(url.Origin(), url.path), kTokenUrl);
    forms.push_back(form);
    return answer;
  }
  void Stop() override {}

  absl::StatusOr<FormAnswer> answer = absl::UnavailableError("not set");
  std::vector<std::string> forms;
};

class ProviderLoginTest : public testing::Test {
 protected:
  ProviderLoginTest() { page_.Believe(&grants_, "https://login.example page"); }

  Json Body(const std::string& redirect = absl::StrCat(kOrigin, "/ui/login")) {
    return {{"code", "c&1"}, {"code_verifier", "v 2"}, {"redirect_uri", redirect}};
  }

  HttpResponse LogIn(const Json& body) {
    auto request = std::make_shared<HttpRequest>();
    request->method = "POST";
    request->path = "/api/login/provider";
    request->headers = {{"host", "gw.example"}, {"origin", kOrigin}};
    request->body = Dump(body);
    std::optional<HttpResponse> answer;
    boost::asio::co_spawn(
        io_, login_.LogIn(request),
        [&](const std::exception_ptr&, HttpResponse response) { answer = std::move(response); });
    io_.restart();
    while (!answer.has_value()) io_.run_one();
    return *std::move(answer);
  }

  CredentialPtr WhoIs(const HttpResponse& response) {
    HttpRequest request{.method = "GET", .path = "/api/sessions"};
    std::string cookie;
    for (const auto& [name, value] : response.headers) {
      if (name == "Set-Cookie") cookie = value.substr(0, value.find(';'));
    }
    request.headers = {{"host", "gw.example"},
                       {"cookie", cookie},
                       {"x-callslip-key", Json::parse(response.body)["key"].get<std::string>()}};
    return page_.Find(request).value_or(nullptr);
  }

  boost::asio::io_context io_;
  FakeClock clock_;
  TokenEndpoint* const server_ = new TokenEndpoint();  // Of login_.
  FakeGrants grants_;
  PageLogin page_{std::string(32, 'k'), nullptr, &clock_};
  LoginEndpoints endpoints_{.authorization = *ParseUrl("https://login.example/authorize"),
                            .token = *ParseUrl(kTokenUrl)};
  ProviderLogin login_{{.issuer = "https://login.example",
                        .client_id = "page",
                        .resource = "https://gw.example/mcp",
                        .scopes = {"callslip.client", "callslip.view"}},
                       std::unique_ptr<DocumentSource>(server_),
                       [this] { return endpoints_; },
                       &grants_,
                       &page_};
};

TEST_F(ProviderLoginTest, ACodeBecomesALoginThatEndsWithItsToken) {
  server_->answer = FormAnswer{200, R"({"access_token":"the-token","expires_in":60})"};
  grants_.grant.expires = ToWallTime(clock_.Now()) + absl::Minutes(10);
  const HttpResponse response = LogIn(Body());
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_THAT(response.body, Not(HasSubstr("the-token")));
  EXPECT_THAT(grants_.seen, ElementsAre("the-token"));
  EXPECT_THAT(server_->forms,
              ElementsAre("grant_type=authorization_code&code=c%261&code_verifier=v%202&"
                          "redirect_uri=https%3A%2F%2Fgw.example%2Fui%2Flogin&client_id=page&"
                          "resource=https%3A%2F%2Fgw.example%2Fmcp"));
  const CredentialPtr who = WhoIs(response);
  ASSERT_NE(who, nullptr);
  EXPECT_EQ(who->principal(), (Principal{.name = "oauth-alice", .role = Role::kViewer}));
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(WhoIs(response), nullptr);
}

TEST_F(ProviderLoginTest, WhatTheServerRefusesIsSaid) {
  server_->answer = FormAnswer{400, R"({"error":"invalid_grant<b>"})"};
  const HttpResponse response = LogIn(Body());
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.error, "login_refused");
  EXPECT_THAT(response.body, HasSubstr("did not let you in: invalid_grantb."));
  EXPECT_THAT(grants_.seen, IsEmpty());
}

TEST_F(ProviderLoginTest, AServerThatIsAwayIsNobodysFault) {
  for (const absl::StatusOr<FormAnswer>& answer :
       {absl::StatusOr<FormAnswer>(absl::UnavailableError("away")),
        absl::StatusOr<FormAnswer>(FormAnswer{502, ""})}) {
    server_->answer = answer;
    const HttpResponse response = LogIn(Body());
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.error, "provider_unavailable");
  }
  endpoints_ = {};
  EXPECT_EQ(LogIn(Body()).error, "provider_unavailable");
  EXPECT_TRUE(login_.Description().is_null());
}

TEST_F(ProviderLoginTest, ATokenThatIsNotForHereLogsNobodyIn) {
  server_->answer = FormAnswer{200, R"({"access_token":"t"})"};
  grants_.refusal = ErrorWithDetails(absl::StatusCode::kUnauthenticated, "wrong audience",
                                     {.reason = "audience_wrong"});
  EXPECT_EQ(LogIn(Body()).status, 401);
  grants_.refusal = absl::OkStatus();
  grants_.role = Role::kWorker;
  EXPECT_EQ(LogIn(Body()).error, "role_not_allowed");
}

TEST_F(ProviderLoginTest, OnlyThePageItselfBringsCodes) {
  for (const char* redirect :
       {"https://gw.example/ui/other", "https://evil.example/ui/login", ""}) {
    EXPECT_EQ(LogIn(Body(redirect)).status, 400) << redirect;
  }
  Json body = Body();
  body.erase("code_verifier");
  EXPECT_EQ(LogIn(body).status, 400);
  EXPECT_THAT(server_->forms, IsEmpty());
}

TEST_F(ProviderLoginTest, SaysWhereToLogIn) {
  EXPECT_EQ(login_.Description(), Json::parse(R"({
    "issuer": "https://login.example", "authorization_endpoint": "https://login.example/authorize",
    "client_id": "page", "scope": "callslip.client callslip.view",
    "resource": "https://gw.example/mcp"})"));
}

}  // namespace
}  // namespace callslip::gateway
