#include "gateway/http/signed_requests.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "auth/credentials.h"
#include "auth/request_signature.h"
#include "boost/asio/io_context.hpp"
#include "common/fake_clock.h"
#include "gateway/http/router.h"
#include "gateway/json/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

constexpr char kSignedHost[] = "127.0.0.1:7890";
constexpr char kBrowserToken[] = "worker-0123456789abcdef0123456789";
constexpr char kUnknownToken[] = "nobody-0123456789abcdef0123456789";

std::string NonceOf(int number) {
  return absl::StrCat(absl::Hex(number, absl::kZeroPad16), std::string(16, '0'));
}

// The proof header; empty if it is missing or occurs several times.
std::string ProofIn(const HttpResponse& response) {
  std::vector<std::string> found;
  for (const auto& [name, value] : response.headers) {
    if (name == kProofHeader) found.push_back(value);
  }
  return found.size() == 1 ? found[0] : "";
}

class SignedRequestsTest : public testing::Test {
 protected:
  SignedRequestsTest() {
    router_.Add("GET", "/work", {Role::kWorker}, TellCaller);
    router_.Add("POST", "/work", {Role::kWorker}, TellCaller);
    router_.Add("GET", "/admin", {Role::kAdmin}, TellCaller);
    router_.Add("GET", "/stream", {Role::kWorker}, Stream);
    router_.Add("GET", "/throws", {Role::kWorker}, Throw);
    router_.Add("GET", "/throws-at-once", {Role::kWorker},
                [](const std::shared_ptr<HttpRequest>&, const Responder&) {
                  throw std::runtime_error("for the test");
                });
    router_.Add("GET", "/expelled", {Role::kWorker},
                [this](const std::shared_ptr<HttpRequest>&, Responder responder) {
                  is_expelled_ = true;
                  std::move(responder.respond)({.body = "too late"});
                });
    router_.AddOpen("GET", "/open", TellCaller);
    router_.AddOpen("HEAD", "/open", TellCaller);
    router_.AddWebSocket("/ws", {Role::kWorker},
                         [](auto, auto) -> boost::asio::awaitable<void> { co_return; });
  }

  static boost::asio::awaitable<HttpResponse> TellCaller(std::shared_ptr<HttpRequest> request) {
    co_return HttpResponse{.body = absl::StrCat(request->principal.name, ":", request->body)};
  }
  static boost::asio::awaitable<HttpResponse> Stream(std::shared_ptr<HttpRequest>) {
    HttpResponse response{.body = "not used"};
    response.stream = [](BodyWriter&) -> boost::asio::awaitable<void> { co_return; };
    co_return response;
  }
  static boost::asio::awaitable<HttpResponse> Throw(std::shared_ptr<HttpRequest>) {
    throw std::runtime_error("for the test");
    co_return HttpResponse();
  }

  struct Asked {
    std::string method = "GET";
    std::string target = "/work";
    std::string body = "";
    std::string host = kSignedHost;
    HttpHeaders headers = {};
  };

  // An answer and the nonce of its request.
  struct Answer {
    HttpResponse response;
    std::string nonce;

    std::string error() const { return Json::parse(response.body)["error"]; }
    bool IsProven(const std::string& token = kBrowserToken) const {
      const auto body = response.stream == nullptr ? std::optional<absl::string_view>(response.body)
                                                   : std::nullopt;
      return IsProofOf(token, nonce, response.status, body, ProofIn(response));
    }
    bool HasProof() const { return !ProofIn(response).empty(); }
  };

  std::string Sign(const Asked& asked, const std::string& token, const std::string& nonce,
                   absl::Duration clock_is_ahead = {}) {
    const RequestToSign parts = {
        .method = asked.method, .host = asked.host, .target = asked.target, .body = asked.body};
    return FormatSignature(
        SignRequest(token, parts, absl::ToUnixMillis(clock_.Now() + clock_is_ahead), nonce));
  }

  Answer Send(const Asked& asked, const std::string& authorization, const std::string& nonce) {
    auto request = std::make_shared<HttpRequest>();
    request->method = asked.method;
    EXPECT_TRUE(ParseTarget(asked.target, *request));
    request->body = asked.body;
    request->headers = asked.headers;
    request->headers.emplace("host", asked.host);
    request->headers.emplace("authorization", authorization);
    if (asked.method == "POST") request->headers.emplace("content-type", "application/json");
    boost::asio::io_context context;
    Answer answer{.nonce = nonce};
    router_.Handle(
        std::move(request),
        {.respond = [&](HttpResponse response) { answer.response = std::move(response); },
         .is_expelled = &is_expelled_,
         .executor = context.get_executor()});
    context.run();
    return answer;
  }

  Answer AskSigned(const Asked& asked, const std::string& token = kBrowserToken,
                   absl::Duration clock_is_ahead = {}) {
    const std::string nonce = NonceOf(++nonces_);
    return Send(asked, Sign(asked, token, nonce, clock_is_ahead), nonce);
  }

  FakeClock clock_;
  int nonces_ = 0;
  bool is_expelled_ = false;  // The caller's credential was revoked during the request.
  const std::shared_ptr<Credentials> credentials_ = std::make_shared<Credentials>(
      std::vector<TokenFile::Entry>{{{"browser", Role::kWorker}, kBrowserToken}});
  Router router_{RequestFilter({{.host = "127.0.0.1", .port = 7890}}, {}, {}), credentials_,
                 nullptr,
                 std::make_shared<SignedRequests>(credentials_, &clock_, /*max_nonces=*/3)};
};

TEST_F(SignedRequestsTest, RequestIsAdmittedWithoutShowingToken) {
  const Answer answer = AskSigned({.method = "POST", .target = "/work?a=%20b", .body = "{}"});
  EXPECT_EQ(answer.response.body, "browser:{}");
  EXPECT_TRUE(answer.IsProven());
}

TEST_F(SignedRequestsTest, EveryResponseToValidSignatureIsProven) {
  const std::vector<std::pair<Asked, int>> cases = {
      {{.target = "/nothing"}, 404},
      {{.method = "DELETE"}, 405},
      {{.target = "/admin"}, 403},
      {{.target = "/stream"}, 200},
      {{.target = "/throws"}, 500},
      {{.target = "/throws-at-once"}, 500},
      {{.target = "/open"}, 200},
      {{.target = "/ws"}, 401},
      {{.headers = {{"origin", "https://evil.example"}}}, 403},
      {{.headers = {{"sec-fetch-site", "cross-site"}}}, 403},
      {{.method = "OPTIONS"}, 403},
      {{.method = "POST", .headers = {{"content-type", "text/plain"}}}, 415}};
  for (const auto& [asked, status] : cases) {
    const Answer answer = AskSigned(asked);
    EXPECT_EQ(answer.response.status, status) << asked.target;
    EXPECT_TRUE(answer.IsProven()) << status;
    clock_.Advance(absl::Minutes(20));
  }
}

TEST_F(SignedRequestsTest, ResponseToHeadIsProvenWithoutBody) {
  const Answer answer = AskSigned({.method = "HEAD", .target = "/open"});
  // The connection omits the body.
  EXPECT_FALSE(answer.response.body.empty());
  EXPECT_TRUE(IsProofOf(kBrowserToken, answer.nonce, 200, "", ProofIn(answer.response)));
}

TEST_F(SignedRequestsTest, RefusalIsProvenWhenTokenIsRevokedMeanwhile) {
  const Answer answer =
      AskSigned({.target = "/expelled", .headers = {{"origin", "http://127.0.0.1:7890"}}});
  EXPECT_EQ(answer.response.status, 401);
  EXPECT_EQ(answer.error(), "token_unknown");
  EXPECT_TRUE(answer.IsProven());
  // A page or extension may read it.
  EXPECT_THAT(answer.response.headers,
              testing::Contains(testing::Pair("Access-Control-Allow-Origin", testing::_)));
}

TEST_F(SignedRequestsTest, InvalidSignatureGetsNoProof) {
  const Asked asked;
  Answer answer = AskSigned(asked, kUnknownToken);
  EXPECT_EQ(answer.error(), "token_unknown");
  EXPECT_FALSE(answer.HasProof());

  const std::string header = Sign(asked, kBrowserToken, NonceOf(7));
  for (const Asked& other : {Asked{.method = "POST"}, Asked{.target = "/admin"},
                             Asked{.host = "localhost:7890"}, Asked{.body = "x"}}) {
    answer = Send(other, header, NonceOf(7));
    EXPECT_EQ(answer.response.status, 401);
    EXPECT_EQ(answer.error(), "signature_wrong");
    EXPECT_FALSE(answer.HasProof());
  }
  answer = Send(asked, "Callslip-HMAC key=\"1\"", "");
  EXPECT_EQ(answer.error(), "signature_malformed");
  EXPECT_FALSE(answer.HasProof());
  // The same nonce is still valid: the requests above were refused.
  EXPECT_EQ(Send(asked, header, NonceOf(7)).response.status, 200);
}

TEST_F(SignedRequestsTest, RequestsForOtherHostsAreRefusedWithoutProof) {
  for (const char* host : {"127.0.0.1:7891", "gateway.example:7890"}) {
    const Answer answer = AskSigned({.host = host});
    EXPECT_EQ(answer.error(), "host_not_allowed");
    EXPECT_FALSE(answer.HasProof());
  }
}

TEST_F(SignedRequestsTest, RequestIsAdmittedOnce) {
  const Asked asked;
  const std::string header = Sign(asked, kBrowserToken, NonceOf(1));
  EXPECT_EQ(Send(asked, header, NonceOf(1)).response.status, 200);
  const Answer again = Send(asked, header, NonceOf(1));
  EXPECT_EQ(again.response.status, 401);
  EXPECT_EQ(again.error(), "signature_replayed");
  EXPECT_FALSE(again.HasProof());
  // A replay is also refused after its time. No client that still waits for the first answer may
  // get another proven one.
  for (const absl::Duration later : {SignedRequests::kWindow + absl::Milliseconds(1),
                                     SeenNonces::kAnswerTime - absl::Seconds(1)}) {
    clock_.Advance(later);
    AskSigned(asked);
    const Answer late = Send(asked, header, NonceOf(1));
    EXPECT_EQ(late.error(), "signature_replayed");
    EXPECT_FALSE(late.HasProof());
  }
  // Later no client waits for the first answer.
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(Send(asked, header, NonceOf(1)).error(), "signature_stale");
}

TEST_F(SignedRequestsTest, FutureRequestRefusedWithProofIsNotAcceptedLater) {
  const Asked asked;
  for (const absl::Duration ahead : {SignedRequests::kWindow + absl::Seconds(1), absl::Hours(24)}) {
    const std::string nonce = NonceOf(++nonces_);
    const std::string header = Sign(asked, kBrowserToken, nonce, ahead);
    EXPECT_TRUE(Send(asked, header, nonce).IsProven());
    clock_.Advance(ahead);
    const Answer copy = Send(asked, header, nonce);
    EXPECT_EQ(copy.error(), "signature_replayed");
    EXPECT_FALSE(copy.HasProof());
  }
}

TEST_F(SignedRequestsTest, ProvenRefusalsOfFutureRequestsAreLimited) {
  for (size_t i = 0; i < SeenNonces::kMaxAhead; ++i) {
    EXPECT_TRUE(AskSigned({}, kBrowserToken, absl::Hours(1)).IsProven());
  }
  const Answer one_more = AskSigned({}, kBrowserToken, absl::Hours(1));
  EXPECT_EQ(one_more.error(), "signature_stale");
  EXPECT_FALSE(one_more.HasProof());
  EXPECT_EQ(AskSigned({}).response.status, 200);
  clock_.Advance(absl::Hours(2));
  EXPECT_TRUE(AskSigned({}, kBrowserToken, absl::Hours(1)).IsProven());
}

TEST_F(SignedRequestsTest, CallerWithWrongClockGetsServerTime) {
  const absl::Duration most = SignedRequests::kWindow;
  EXPECT_EQ(AskSigned({}, kBrowserToken, most).response.status, 200);
  EXPECT_EQ(AskSigned({}, kBrowserToken, -most).response.status, 200);
  for (const absl::Duration off :
       {most + absl::Milliseconds(1), -most - absl::Milliseconds(1), absl::Hours(10'000)}) {
    const Answer answer = AskSigned({}, kBrowserToken, off);
    EXPECT_EQ(answer.response.status, 401);
    EXPECT_EQ(answer.error(), "signature_stale");
    EXPECT_EQ(Json::parse(answer.response.body)["server_time_ms"],
              absl::ToUnixMillis(clock_.Now()));
    EXPECT_TRUE(answer.IsProven());
  }
}

TEST_F(SignedRequestsTest, FullTableNarrowsWindowAndAdmitsNoRequestTwice) {
  const Asked asked;
  std::vector<std::string> headers;
  for (int i = 0; i < 5; ++i) {
    headers.push_back(Sign(asked, kBrowserToken, NonceOf(i)));
    EXPECT_EQ(Send(asked, headers.back(), NonceOf(i)).response.status, 200);
    clock_.Advance(absl::Seconds(1));
  }
  for (int i = 0; i < 5; ++i) {
    const Answer copy = Send(asked, headers[i], NonceOf(i));
    EXPECT_EQ(copy.error(), i < 2 ? "signature_stale" : "signature_replayed");
    // The first copy was executed, so no proven answer may say that it was refused.
    EXPECT_FALSE(copy.HasProof());
  }
  EXPECT_EQ(AskSigned(asked).response.status, 200);
}

TEST_F(SignedRequestsTest, NoncesOfOtherKeysSurviveFullTable) {
  constexpr char kOther[] = "other-0123456789abcdef0123456789";
  credentials_->Replace(
      {{{"browser", Role::kWorker}, kBrowserToken}, {{"other", Role::kWorker}, kOther}});
  const Asked asked;
  const std::string first = NonceOf(++nonces_);
  const std::string header = Sign(asked, kBrowserToken, first);
  EXPECT_EQ(Send(asked, header, first).response.status, 200);
  clock_.Advance(absl::Seconds(1));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(AskSigned(asked, kOther).response.status, 200);
    clock_.Advance(absl::Seconds(1));
  }
  EXPECT_EQ(Send(asked, header, first).error(), "signature_replayed");
  // The window of other keys is not narrowed either.
  EXPECT_EQ(AskSigned(asked, kBrowserToken, -absl::Minutes(4)).response.status, 200);
}

TEST_F(SignedRequestsTest, FullTableOfOneKeyDoesNotRefuseOtherKeys) {
  constexpr char kOther[] = "other-0123456789abcdef0123456789";
  credentials_->Replace(
      {{{"browser", Role::kWorker}, kBrowserToken}, {{"other", Role::kWorker}, kOther}});
  for (int i = 0; i < 10; ++i) AskSigned({}, kOther, SignedRequests::kWindow);
  EXPECT_EQ(AskSigned({}).response.status, 200);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(AskSigned({}).response.status, 200);
}

TEST_F(SignedRequestsTest, BearerTokensAreStillAccepted) {
  const Answer answer = Send({}, absl::StrCat("Bearer ", kBrowserToken), "");
  EXPECT_EQ(answer.response.body, "browser:");
  EXPECT_FALSE(answer.HasProof());
}

TEST_F(SignedRequestsTest, RevokedTokenGetsNoProof) {
  credentials_->Replace({{{"other", Role::kWorker}, "other-0123456789abcdef0123456789"}});
  const Answer answer = AskSigned({});
  EXPECT_EQ(answer.error(), "token_unknown");
  EXPECT_FALSE(answer.HasProof());
}

}  // namespace
}  // namespace callslip::gateway
