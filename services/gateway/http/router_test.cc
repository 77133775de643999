#include "gateway/http/router.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "gateway/json/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kHost[] = "127.0.0.1:7890";
constexpr char kExtension[] = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";

std::string TokenOf(Role role) {
  return std::string(RoleName(role)) + "-0123456789abcdef0123456789";
}

std::string HeaderOf(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

std::string ErrorCodeOf(const HttpResponse& response) {
  return Json::parse(response.body)["error"];
}

class RouterTest : public testing::Test {
 protected:
  static std::shared_ptr<const Credentials> TokensOfAllRoles() {
    std::vector<TokenFile::Entry> entries;
    for (const Role role : {Role::kClient, Role::kWorker, Role::kViewer, Role::kAdmin}) {
      entries.push_back({{std::string(RoleName(role)) + "-1", role}, TokenOf(role)});
    }
    entries.push_back({.principal = {"machine", Role::kWorker}, .certificate = "browser.test"});
    return std::make_shared<Credentials>(entries);
  }

  static Router MakeRouter(std::shared_ptr<const Credentials> tokens,
                           TokenVerifier* verifier = nullptr, Challenge challenge = {}) {
    Router router(RequestFilter({{.host = "127.0.0.1", .port = 7890}}, {}, {kExtension}),
                  std::move(tokens), nullptr, nullptr, verifier, std::move(challenge));
    router.Add("GET", "/work", {Role::kWorker, Role::kAdmin}, TellCaller);
    router.Add("POST", "/work", {Role::kAdmin}, TellCaller);
    router.AddOpen("GET", "/open", TellCaller);
    router.Add("GET", "/things/{id}", {Role::kViewer}, TellParameters);
    router.Add("DELETE", "/things/{id}", {Role::kAdmin}, TellParameters);
    router.Add("GET", "/things/{id}/parts/{part}", {Role::kAdmin}, TellParameters);
    router.Add("GET", "/things/all", {Role::kAdmin}, TellCaller);
    return router;
  }

  static boost::asio::awaitable<HttpResponse> TellCaller(
      std::shared_ptr<const HttpRequest> request) {
    co_return HttpResponse{.body = request->principal.name};
  }

  static boost::asio::awaitable<HttpResponse> TellParameters(
      std::shared_ptr<const HttpRequest> request) {
    co_return HttpResponse{.body = request->Parameter("id") + "," + request->Parameter("part")};
  }

  static HttpResponse Ask(const Router& router, const std::string& method, const std::string& path,
                          HttpHeaders headers = {}, const std::vector<std::string>& names = {}) {
    headers.emplace("host", kHost);
    if (method == "POST") headers.emplace("content-type", "application/json");
    auto request = std::make_shared<HttpRequest>();
    request->method = method;
    EXPECT_TRUE(ParseTarget(path, *request));
    request->headers = std::move(headers);
    if (!names.empty()) {
      request->peer_names = std::make_shared<const std::vector<std::string>>(names);
    }
    return Send(router, std::move(request));
  }

  static HttpResponse Send(const Router& router, std::shared_ptr<HttpRequest> request) {
    boost::asio::io_context context;
    HttpResponse answer;
    router.Handle(std::move(request),
                  {.respond = [&](HttpResponse response) { answer = std::move(response); },
                   .executor = context.get_executor()});
    context.run();
    return answer;
  }

  // The verdict on a request before its body arrives; nullopt while there is none.
  static std::optional<HeadVerdict> Judge(const Router& router,
                                          const std::shared_ptr<HttpRequest>& head) {
    auto verdict = std::make_shared<std::optional<HeadVerdict>>();
    router.JudgeHead(head, [verdict](HeadVerdict judged) { *verdict = std::move(judged); });
    return *verdict;
  }
  static std::shared_ptr<HttpRequest> HeadOf(const std::string& method, const std::string& path,
                                             HttpHeaders headers) {
    headers.emplace("host", kHost);
    if (method == "POST") headers.emplace("content-type", "application/json");
    auto head = std::make_shared<HttpRequest>();
    head->method = method;
    EXPECT_TRUE(ParseTarget(path, *head));
    head->headers = std::move(headers);
    return head;
  }

  static HttpHeaders With(Role role) { return {{"authorization", "Bearer " + TokenOf(role)}}; }

  const Router open_ = MakeRouter(nullptr);
  const Router guarded_ = MakeRouter(TokensOfAllRoles());
};

TEST_F(RouterTest, WithoutTokensEveryoneIsLocal) {
  EXPECT_EQ(Ask(open_, "GET", "/work").body, "local");
  EXPECT_EQ(Ask(open_, "POST", "/work").status, 200);
  EXPECT_EQ(Ask(open_, "GET", "/nothing").status, 404);
}

TEST_F(RouterTest, HandlersGetPrincipalOfCaller) {
  EXPECT_EQ(Ask(guarded_, "GET", "/work", With(Role::kWorker)).body, "worker-1");
  EXPECT_EQ(Ask(guarded_, "GET", "/work", With(Role::kAdmin)).body, "admin-1");
}

TEST_F(RouterTest, KnownCertificateAuthenticatesAndTokenTakesPrecedence) {
  EXPECT_EQ(Ask(guarded_, "GET", "/work", {}, {"other.test", "browser.test"}).body, "machine");
  EXPECT_EQ(Ask(guarded_, "GET", "/work", With(Role::kAdmin), {"browser.test"}).body, "admin-1");
  EXPECT_EQ(Ask(guarded_, "POST", "/work", {}, {"browser.test"}).status, 403);
  EXPECT_EQ(ErrorCodeOf(Ask(guarded_, "GET", "/work", {}, {"other.test"})), "token_missing");
  const auto unknown =
      Ask(guarded_, "GET", "/work", {{"authorization", "Bearer x"}}, {"browser.test"});
  EXPECT_EQ(ErrorCodeOf(unknown), "token_unknown");
  const auto malformed = Ask(guarded_, "GET", "/work", {{"authorization", "x"}}, {"browser.test"});
  EXPECT_EQ(ErrorCodeOf(malformed), "token_missing");
}

TEST_F(RouterTest, CallersWithoutKnownTokenGet401ForEveryPath) {
  for (const char* path : {"/work", "/nothing"}) {
    for (const char* method : {"GET", "POST", "DELETE"}) {
      const HttpResponse missing = Ask(guarded_, method, path);
      EXPECT_EQ(missing.status, 401);
      EXPECT_EQ(ErrorCodeOf(missing), "token_missing");
      EXPECT_EQ(HeaderOf(missing, "WWW-Authenticate"), "Bearer");
      const HttpResponse unknown =
          Ask(guarded_, method, path, {{"authorization", "Bearer " + std::string(64, '0')}});
      EXPECT_EQ(unknown.status, 401);
      EXPECT_EQ(ErrorCodeOf(unknown), "token_unknown");
      EXPECT_THAT(HeaderOf(unknown, "WWW-Authenticate"), HasSubstr("invalid_token"));
    }
  }
  EXPECT_EQ(ErrorCodeOf(Ask(guarded_, "GET", "/work", {{"authorization", "Basic YTpi"}})),
            "token_missing");
  EXPECT_EQ(Ask(guarded_, "GET", "/nothing", With(Role::kViewer)).status, 404);
  EXPECT_EQ(Ask(guarded_, "DELETE", "/work", With(Role::kViewer)).status, 405);
}

TEST_F(RouterTest, OpenRoutesNeedNoToken) {
  EXPECT_EQ(Ask(guarded_, "GET", "/open").status, 200);
  EXPECT_EQ(Ask(guarded_, "GET", "/open", {{"authorization", "Bearer nonsense"}}).status, 200);
  EXPECT_EQ(Ask(guarded_, "GET", "/open", {{"host", "evil.example"}}).status, 403);
}

TEST_F(RouterTest, RefusalNamesAllowedRoles) {
  const HttpResponse refusal = Ask(guarded_, "GET", "/work", With(Role::kClient));
  EXPECT_EQ(refusal.status, 403);
  EXPECT_EQ(ErrorCodeOf(refusal), "role_not_allowed");
  EXPECT_THAT(refusal.body, HasSubstr("one of the roles worker, admin"));
  EXPECT_THAT(refusal.body, Not(HasSubstr(TokenOf(Role::kClient))));
  EXPECT_EQ(Ask(guarded_, "POST", "/work", With(Role::kWorker)).status, 403);
  EXPECT_EQ(Ask(guarded_, "POST", "/work", With(Role::kAdmin)).status, 200);
}

TEST_F(RouterTest, PathsCanHaveParameters) {
  EXPECT_EQ(Ask(guarded_, "GET", "/things/t-1?x=2", With(Role::kViewer)).body, "t-1,");
  EXPECT_EQ(Ask(guarded_, "GET", "/things/a%2Fb/parts/%7B", With(Role::kAdmin)).body, "a/b,{");
  EXPECT_EQ(Ask(guarded_, "GET", "/things/all", With(Role::kAdmin)).body, "admin-1");
  // The text of the pattern is a path like any other.
  EXPECT_EQ(Ask(guarded_, "GET", "/things/%7Bid%7D", With(Role::kViewer)).body, "{id},");
  EXPECT_EQ(Ask(guarded_, "GET", "/things/", With(Role::kViewer)).status, 404);
  EXPECT_EQ(Ask(guarded_, "GET", "/things/t-1/parts", With(Role::kAdmin)).status, 404);
  EXPECT_EQ(Ask(guarded_, "DELETE", "/things/t-1", With(Role::kViewer)).status, 403);
  EXPECT_EQ(Ask(guarded_, "GET", "/things/t-1").status, 401);
  const HttpResponse refusal = Ask(guarded_, "POST", "/things/t-1", With(Role::kAdmin));
  EXPECT_EQ(refusal.status, 405);
  EXPECT_EQ(HeaderOf(refusal, "Allow"), "DELETE, GET");
}

// Accepts tokens that begin with the name of a role, unless the test sets a refusal.
class FakeVerifier final : public TokenVerifier {
 public:
  void Verify(const std::string& token, const std::string& /*address*/, Done done) override {
    ++asked;
    if (hold) {
      held = std::move(done);
    } else {
      std::move(done)(Answer(token));
    }
  }

  absl::StatusOr<CredentialPtr> Answer(const std::string& token) const {
    if (!refusal.ok()) return refusal;
    const Role role = *ParseRole(token.substr(0, token.find('-')));
    return std::make_shared<Credential>(Principal{"oauth-" + token, role});
  }

  absl::Status refusal;
  bool hold = false;
  Done held;
  int asked = 0;
};

constexpr char kMetadataUrl[] = "https://gw.example/.well-known/oauth-protected-resource/mcp";

class VerifyingRouterTest : public RouterTest {
 protected:
  HttpResponse AskWith(const std::string& method, const std::string& path,
                       const std::string& token) {
    return Ask(router_, method, path, {{"authorization", "Bearer " + token}});
  }

  FakeVerifier verifier_;
  const Router router_ =
      MakeRouter(TokensOfAllRoles(), &verifier_,
                 {.resource_metadata = kMetadataUrl,
                  .scopes = {{"s.work", Role::kWorker}, {"s.admin", Role::kAdmin}}});
};

TEST_F(VerifyingRouterTest, CallersWithoutTokenGetMetadataUrl) {
  const HttpResponse missing = Ask(router_, "GET", "/work");
  EXPECT_EQ(missing.status, 401);
  EXPECT_EQ(HeaderOf(missing, "WWW-Authenticate"),
            absl::StrCat("Bearer resource_metadata=\"", kMetadataUrl, "\", scope=\"s.work\""));
  EXPECT_THAT(missing.body, HasSubstr(kMetadataUrl));
  // No scope gives a role that may call this path.
  EXPECT_EQ(HeaderOf(Ask(router_, "GET", "/things/a"), "WWW-Authenticate"),
            absl::StrCat("Bearer resource_metadata=\"", kMetadataUrl, "\""));
  EXPECT_EQ(Ask(router_, "GET", "/nothing").status, 401);
}

TEST_F(VerifyingRouterTest, TokenFileIsCheckedFirst) {
  EXPECT_EQ(AskWith("GET", "/work", TokenOf(Role::kWorker)).body, "worker-1");
  EXPECT_EQ(verifier_.asked, 0);
  EXPECT_EQ(AskWith("GET", "/work", "worker-x").body, "oauth-worker-x");
  EXPECT_EQ(verifier_.asked, 1);
  EXPECT_EQ(Ask(router_, "GET", "/open").status, 200);
  EXPECT_EQ(verifier_.asked, 1);
}

TEST_F(VerifyingRouterTest, RefusalsGiveReasonAndNeededScope) {
  verifier_.refusal = ErrorWithDetails(absl::StatusCode::kUnauthenticated, "It has expired.",
                                       {.reason = "token_expired"});
  const HttpResponse invalid = AskWith("GET", "/work", "x");
  EXPECT_EQ(invalid.status, 401);
  EXPECT_EQ(ErrorCodeOf(invalid), "token_invalid");
  EXPECT_EQ(HeaderOf(invalid, "WWW-Authenticate"),
            absl::StrCat("Bearer error=\"invalid_token\", error_description=\"It has expired.\", "
                         "resource_metadata=\"",
                         kMetadataUrl, "\", scope=\"s.work\""));
  verifier_.refusal = ErrorWithDetails(absl::StatusCode::kPermissionDenied, "No scope.",
                                       {.reason = "insufficient_scope"});
  const HttpResponse scopeless = AskWith("POST", "/work", "x");
  EXPECT_EQ(scopeless.status, 403);
  EXPECT_EQ(ErrorCodeOf(scopeless), "insufficient_scope");
  EXPECT_THAT(HeaderOf(scopeless, "WWW-Authenticate"),
              AllOf(HasSubstr("error=\"insufficient_scope\""), HasSubstr("scope=\"s.admin\"")));
  EXPECT_THAT(scopeless.body, HasSubstr("s.work, s.admin"));
  verifier_.refusal =
      ErrorWithDetails(absl::StatusCode::kUnavailable, "No keys.",
                       {.reason = "keys_unavailable", .retry_after = absl::Seconds(30)});
  const HttpResponse unavailable = AskWith("GET", "/work", "x");
  EXPECT_EQ(unavailable.status, 503);
  EXPECT_EQ(HeaderOf(unavailable, "Retry-After"), "30");
}

TEST_F(VerifyingRouterTest, RefusalOfOtherRoleNamesNeededScope) {
  const HttpResponse refusal = AskWith("POST", "/work", "worker-x");
  EXPECT_EQ(refusal.status, 403);
  EXPECT_EQ(ErrorCodeOf(refusal), "role_not_allowed");
  EXPECT_THAT(HeaderOf(refusal, "WWW-Authenticate"),
              AllOf(HasSubstr("error=\"insufficient_scope\""), HasSubstr("scope=\"s.admin\"")));
  EXPECT_EQ(HeaderOf(Ask(guarded_, "POST", "/work", With(Role::kWorker)), "WWW-Authenticate"), "");
}

TEST_F(VerifyingRouterTest, VerifierCanAnswerLater) {
  verifier_.hold = true;
  EXPECT_EQ(AskWith("GET", "/work", "worker-x").body, "");
  boost::asio::io_context context;
  bool has_left = false;
  struct Told final : Admission {
    bool LetIn(CredentialPtr let_in) override {
      credential = std::move(let_in);
      return true;
    }
    CredentialPtr credential;
  };
  const auto ask = [&](HttpResponse& answer, CredentialPtr& credential) {
    Told told;
    auto request = std::make_shared<HttpRequest>();
    request->method = "GET";
    EXPECT_TRUE(ParseTarget("/work", *request));
    request->headers = {{"host", kHost}, {"authorization", "Bearer worker-x"}};
    router_.Handle(std::move(request),
                   {.respond = [&](HttpResponse response) { answer = std::move(response); },
                    .has_left = &has_left,
                    .admission = &told,
                    .executor = context.get_executor()});
    std::move(verifier_.held)(verifier_.Answer("worker-x"));
    context.restart();
    context.run();
    credential = told.credential;
  };
  HttpResponse answer;
  CredentialPtr credential;
  ask(answer, credential);
  EXPECT_EQ(answer.body, "oauth-worker-x");
  ASSERT_NE(credential, nullptr);
  EXPECT_EQ(credential->principal().role, Role::kWorker);
  // If the peer has disconnected meanwhile, no handler is called, and the request ends.
  has_left = true;
  answer = HttpResponse{.body = "none"};
  credential = nullptr;
  ask(answer, credential);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(credential, nullptr);
}

TEST_F(RouterTest, PreflightResponseNamesAllowedMethodsAndHeaders) {
  const HttpResponse response = Ask(guarded_, "OPTIONS", "/work",
                                    {{"origin", kExtension},
                                     {"sec-fetch-site", "cross-site"},
                                     {"access-control-request-method", "POST"},
                                     {"access-control-request-private-network", "true"}});
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Origin"), kExtension);
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Methods"), "GET, POST");
  EXPECT_THAT(HeaderOf(response, "Access-Control-Allow-Headers"), HasSubstr("authorization"));
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Private-Network"), "true");
  EXPECT_EQ(HeaderOf(response, "Access-Control-Max-Age"), "7200");
  EXPECT_EQ(HeaderOf(response, "Vary"), "Origin");
}

TEST_F(RouterTest, InvalidPreflightsAreRefused) {
  const auto preflight = [&](const char* path, HttpHeaders headers) {
    headers.emplace("access-control-request-method", "GET");
    const HttpResponse response = Ask(open_, "OPTIONS", path, std::move(headers));
    EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Methods"), "");
    return response.status;
  };
  EXPECT_EQ(preflight("/work", {}), 403);
  EXPECT_EQ(preflight("/nothing", {{"origin", kExtension}}), 403);
  EXPECT_EQ(preflight("/work", {{"origin", "https://evil.example"}}), 403);
  EXPECT_EQ(preflight("/work", {{"origin", "null"}}), 403);
  EXPECT_EQ(preflight("/work", {{"origin", kExtension}, {"host", "evil.example:7890"}}), 403);
}

TEST_F(RouterTest, ResponsesAreSharedWithAllowedOriginsOnly) {
  for (const char* origin : {kExtension, "http://127.0.0.1:7890"}) {
    const HttpResponse answer = Ask(open_, "GET", "/work", {{"origin", origin}});
    EXPECT_EQ(HeaderOf(answer, "Access-Control-Allow-Origin"), origin);
    EXPECT_EQ(HeaderOf(answer, "Access-Control-Expose-Headers"),
              "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Callslip-Proof");
    // Errors too: a page that can't read them can't say what is wrong.
    const HttpResponse refusal = Ask(guarded_, "GET", "/work", {{"origin", origin}});
    EXPECT_EQ(refusal.status, 401);
    EXPECT_EQ(HeaderOf(refusal, "Access-Control-Allow-Origin"), origin);
  }
  for (const char* origin : {"null", "https://evil.example", "chrome-extension://other"}) {
    const HttpResponse refusal = Ask(open_, "GET", "/work", {{"origin", origin}});
    EXPECT_EQ(refusal.status, 403);
    EXPECT_EQ(HeaderOf(refusal, "Access-Control-Allow-Origin"), "");
  }
  EXPECT_EQ(HeaderOf(Ask(open_, "GET", "/work"), "Access-Control-Allow-Origin"), "");
}

TEST_F(VerifyingRouterTest, HeadOfForbiddenRequestIsRefused) {
  const auto refused = [this](const std::string& method, const std::string& path,
                              HttpHeaders headers) {
    return Judge(router_, HeadOf(method, path, std::move(headers)))->is_refused;
  };
  EXPECT_FALSE(refused("POST", "/work", With(Role::kAdmin)));
  EXPECT_TRUE(refused("POST", "/work", With(Role::kWorker)));
  EXPECT_TRUE(refused("POST", "/work", {}));
  EXPECT_TRUE(refused("POST", "/nothing", With(Role::kAdmin)));
  EXPECT_FALSE(refused("GET", "/open", {}));
  HttpHeaders from_page = With(Role::kAdmin);
  from_page.emplace("origin", "https://evil.example");
  EXPECT_TRUE(refused("POST", "/work", from_page));
  EXPECT_EQ(verifier_.asked, 0);
  EXPECT_FALSE(refused("POST", "/work", {{"authorization", "Bearer admin-of-others"}}));
  EXPECT_TRUE(refused("POST", "/work", {{"authorization", "Bearer worker-of-others"}}));
  verifier_.refusal = absl::UnauthenticatedError("no");
  EXPECT_TRUE(refused("POST", "/work", {{"authorization", "Bearer admin-of-others"}}));
}

TEST_F(VerifyingRouterTest, HeadVerdictNamesAccountOfBody) {
  const auto judge = [](const Router& router, const std::string& path, HttpHeaders headers) {
    return *Judge(router, HeadOf("GET", path, std::move(headers)));
  };
  EXPECT_EQ(judge(open_, "/work", {}).caller, "local");
  EXPECT_EQ(judge(router_, "/work", With(Role::kAdmin)).caller, "admin-1");
  EXPECT_EQ(judge(router_, "/work", With(Role::kWorker)).caller, "worker-1");
  EXPECT_EQ(judge(router_, "/work", {{"authorization", "Bearer admin-of-others"}}).caller,
            "oauth-admin-of-others");
  for (const Router* router : {&open_, &router_}) {
    const HeadVerdict stranger = judge(*router, "/open", With(Role::kAdmin));
    EXPECT_EQ(stranger.account, BodyAccount::kStranger);
    EXPECT_EQ(stranger.body_bytes, 0u);
  }
}

// The token is verified before the body is read, and not again afterwards.
TEST_F(VerifyingRouterTest, CallerIsVerifiedOnce) {
  verifier_.hold = true;
  const auto head = HeadOf("POST", "/work", {{"authorization", "Bearer admin-of-others"}});
  std::optional<HeadVerdict> verdict;
  router_.JudgeHead(head, [&](HeadVerdict judged) { verdict = std::move(judged); });
  EXPECT_FALSE(verdict.has_value());
  const auto credential = std::make_shared<Credential>(Principal{"oauth-1", Role::kAdmin});
  std::move(verifier_.held)(credential);
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->caller, "oauth-1");
  EXPECT_EQ(Send(router_, std::make_shared<HttpRequest>(*head)).body, "oauth-1");
  EXPECT_EQ(verifier_.asked, 1);
  // The credential was revoked while the body arrived.
  credential->Revoke();
  EXPECT_EQ(ErrorCodeOf(Send(router_, head)), "token_unknown");
  EXPECT_EQ(verifier_.asked, 1);
}

TEST_F(VerifyingRouterTest, RequestRefusedByItsHeadIsNotHandled) {
  const auto head = HeadOf("POST", "/work", {{"authorization", "Bearer worker-of-others"}});
  EXPECT_TRUE(Judge(router_, head)->is_refused);
  EXPECT_EQ(ErrorCodeOf(Send(router_, head)), "role_not_allowed");
  const auto stranger = HeadOf("POST", "/work", {{"authorization", "Bearer x"}});
  verifier_.refusal = absl::UnauthenticatedError("no");
  EXPECT_TRUE(Judge(router_, stranger)->is_refused);
  // The token is valid now, but the body was not read.
  verifier_.refusal = absl::OkStatus();
  EXPECT_EQ(Send(router_, stranger).status, 401);
}

}  // namespace
}  // namespace callslip::gateway
