#include "gateway/web/provider_login.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gateway/http/address_quota.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/fake_grants.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kTokenUrl[] = "https://login.example/token";
constexpr char kOrigin[] = "https://gw.example";
// RFC 7636, appendix B.
constexpr char kPageVerifier[] = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
constexpr char kPageChallenge[] = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

// The token endpoint of the authorization server: returns `answer` and records the forms.
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

  static HttpRequest Request(const std::string& path, const Json& body) {
    HttpRequest request{.method = "POST", .path = path};
    request.headers = {{"host", "gw.example"}, {"origin", kOrigin}};
    request.body = Dump(body);
    request.address = AddressKeyOfText("10.0.0.1");
    return request;
  }
  HttpResponse Begin(const Json& body = {{"code_challenge", kPageChallenge}}) {
    return login_.Begin(Request("/api/login/provider/begin", body));
  }

  // The body of a login that has just begun.
  Json Body() {
    return {{"code", "c&1"},
            {"code_verifier", kPageVerifier},
            {"state", Json::parse(Begin().body)["state"]}};
  }

  HttpResponse LogIn(const Json& body) { return LogIn(Request("/api/login/provider", body)); }
  HttpResponse LogIn(HttpRequest bringing) {
    auto request = std::make_shared<HttpRequest>(std::move(bringing));
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
  TokenEndpoint* const server_ = new TokenEndpoint();  // Owned by login_.
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
                       &page_,
                       &clock_};
};

TEST_F(ProviderLoginTest, LoginByCodeEndsWithItsToken) {
  server_->answer = FormAnswer{200, R"({"access_token":"the-token","expires_in":60})"};
  grants_.grant.expires = ToWallTime(clock_.Now()) + absl::Minutes(10);
  const HttpResponse response = LogIn(Body());
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_THAT(response.body, Not(HasSubstr("the-token")));
  EXPECT_THAT(grants_.seen, ElementsAre("the-token"));
  EXPECT_THAT(server_->forms,
              ElementsAre("grant_type=authorization_code&code=c%261&code_verifier="
                          "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&"
                          "redirect_uri=https%3A%2F%2Fgw.example%2Fui%2Flogin&client_id=page&"
                          "resource=https%3A%2F%2Fgw.example%2Fmcp"));
  const CredentialPtr who = WhoIs(response);
  ASSERT_NE(who, nullptr);
  EXPECT_EQ(who->principal(), (Principal{.name = "oauth-alice", .role = Role::kViewer}));
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(WhoIs(response), nullptr);
}

TEST_F(ProviderLoginTest, RefusalOfServerIsReported) {
  server_->answer = FormAnswer{400, R"({"error":"invalid_grant<b>"})"};
  const HttpResponse response = LogIn(Body());
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.error, "login_refused");
  EXPECT_THAT(response.body, HasSubstr("did not let you in: invalid_grantb."));
  EXPECT_THAT(grants_.seen, IsEmpty());
}

TEST_F(ProviderLoginTest, UnavailabilityOfServerIsReported) {
  for (const absl::StatusOr<FormAnswer>& answer :
       {absl::StatusOr<FormAnswer>(absl::UnavailableError("away")),
        absl::StatusOr<FormAnswer>(FormAnswer{502, ""})}) {
    server_->answer = answer;
    const HttpResponse response = LogIn(Body());
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.error, "provider_unavailable");
  }
  const Json body = Body();
  endpoints_ = {};
  EXPECT_EQ(LogIn(body).error, "provider_unavailable");
  EXPECT_EQ(Begin().error, "provider_unavailable");
  EXPECT_TRUE(login_.Description().is_null());
}

TEST_F(ProviderLoginTest, UnsuitableTokenIsRefused) {
  server_->answer = FormAnswer{200, R"({"access_token":"t"})"};
  grants_.refusal = ErrorWithDetails(absl::StatusCode::kUnauthenticated, "wrong audience",
                                     {.reason = "audience_wrong"});
  EXPECT_EQ(LogIn(Body()).status, 401);
  grants_.refusal = absl::OkStatus();
  grants_.role = Role::kWorker;
  EXPECT_EQ(LogIn(Body()).error, "role_not_allowed");
}

TEST_F(ProviderLoginTest, BeginReturnsAuthorizationUrl) {
  const HttpResponse response = Begin();
  EXPECT_EQ(response.status, 200) << response.body;
  const Json told = Json::parse(response.body);
  const std::string url = told["url"];
  EXPECT_THAT(url, StartsWith("https://login.example/authorize?response_type=code&client_id=page&"
                              "redirect_uri=https%3A%2F%2Fgw.example%2Fui%2Flogin&"
                              "scope=callslip.client%20callslip.view&"
                              "resource=https%3A%2F%2Fgw.example%2Fmcp&state="));
  EXPECT_THAT(url, HasSubstr(absl::StrCat("&state=", std::string(told["state"]), "&")));
  EXPECT_THAT(url, EndsWith(absl::StrCat("&code_challenge=", kPageChallenge,
                                         "&code_challenge_method=S256")));
  endpoints_.authorization = *ParseUrl("https://login.example/authorize?kept=1");
  EXPECT_THAT(std::string(Json::parse(Begin().body)["url"]),
              StartsWith("https://login.example/authorize?kept=1&response_type=code"));
}

TEST_F(ProviderLoginTest, BeginNeedsOriginAndCodeChallenge) {
  for (const Json& body : {Json::object(), Json{{"code_challenge", "short"}},
                           Json{{"code_challenge", std::string(43, '=')}}}) {
    EXPECT_EQ(Begin(body).status, 400) << body;
  }
  HttpRequest request =
      Request("/api/login/provider/begin", Json{{"code_challenge", kPageChallenge}});
  request.headers.erase("origin");
  EXPECT_EQ(login_.Begin(request).status, 400);
}

TEST_F(ProviderLoginTest, LoginThatWasNotBegunHereIsNotSentToServer) {
  for (const char* missing : {"code", "code_verifier", "state"}) {
    Json body = Body();
    body.erase(missing);
    EXPECT_EQ(LogIn(body).status, 400) << missing;
  }
  for (const auto& [name, value] : {std::pair("state", "made.up"), std::pair("state", "x"),
                                    std::pair("code_verifier", "another")}) {
    Json body = Body();
    body[name] = value;
    const HttpResponse response = LogIn(body);
    EXPECT_EQ(response.status, 401) << name;
    EXPECT_EQ(response.error, "login_refused");
  }
  HttpRequest elsewhere = Request("/api/login/provider", Body());
  elsewhere.headers["origin"] = "https://gw.example:8443";
  EXPECT_EQ(LogIn(elsewhere).status, 401);
  EXPECT_THAT(server_->forms, IsEmpty());
}

TEST_F(ProviderLoginTest, StateIsAcceptedOnce) {
  server_->answer = FormAnswer{400, R"({"error":"invalid_grant"})"};
  const Json body = Body();
  EXPECT_EQ(LogIn(body).error, "login_refused");
  EXPECT_THAT(LogIn(body).body, HasSubstr("counts once"));
  EXPECT_THAT(server_->forms, SizeIs(1));
}

TEST_F(ProviderLoginTest, FailedLoginsBlockOnlyTheirAddress) {
  server_->answer = FormAnswer{400, R"({"error":"invalid_grant"})"};
  for (int i = 0; i < LoginQuota::kMaxFailedOfAddress; ++i) LogIn(Body());
  const HttpResponse refusal = LogIn(Body());
  EXPECT_EQ(refusal.status, 429);
  EXPECT_EQ(refusal.error, "too_many_logins");
  EXPECT_THAT(server_->forms, SizeIs(LoginQuota::kMaxFailedOfAddress));
  server_->answer = FormAnswer{200, R"({"access_token":"t"})"};
  HttpRequest other = Request("/api/login/provider", Body());
  other.address = AddressKeyOfText("10.0.0.2");
  EXPECT_EQ(LogIn(other).status, 200);
  clock_.Advance(LoginQuota::kWindow);
  EXPECT_EQ(LogIn(Body()).status, 200);
}

TEST_F(ProviderLoginTest, AttemptsAreLimitedWhileServerIsUnavailable) {
  server_->answer = absl::UnavailableError("away");
  for (int i = 0; i < LoginQuota::kMaxFailedOfAddress; ++i) {
    EXPECT_EQ(LogIn(Body()).error, "provider_unavailable");
  }
  EXPECT_EQ(LogIn(Body()).error, "too_many_logins");
  EXPECT_THAT(server_->forms, SizeIs(LoginQuota::kMaxFailedOfAddress));
}

TEST_F(ProviderLoginTest, DescriptionNamesIssuer) {
  EXPECT_EQ(login_.Description(), Json::parse(R"({"issuer": "https://login.example"})"));
}

}  // namespace
}  // namespace callslip::gateway
