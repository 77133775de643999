#include "gateway/session_tokens.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/io_context.hpp"
#include "common/error_details.h"
#include "common/fake_clock.h"
#include "gateway/http/address_quota.h"
#include "gateway/http/router.h"
#include "gateway/json/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/fake_tracker_calls.h"

namespace callslip::gateway {
namespace {

using ::testing::SizeIs;

constexpr char kGatewayHost[] = "127.0.0.1:7890";

std::string SessionTokenOf(int number) {
  return absl::StrCat("callslip-session-", absl::Dec(number, absl::kZeroPad16),
                      std::string(48, 'a'));
}

// Keys of addresses.
constexpr char kMallory[] = "\x0a\x01\x01\x01";
constexpr char kAlice[] = "\x0a\x01\x01\x02";

const std::string& kMadeUp = *new std::string(SessionTokenOf(999'999));

class SessionTokensTest : public testing::Test {
 protected:
  using Found = absl::StatusOr<v1::FindSessionTokensResponse>;

  SessionTokensTest() : client_(io_.get_executor()) {
    client_.On<v1::FindSessionTokensRequest>(
        [this](const v1::FindSessionTokensRequest& request) -> Found {
          ++calls_;
          asked_.insert(asked_.end(), request.tokens().begin(), request.tokens().end());
          if (!failure_.ok()) return failure_;
          v1::FindSessionTokensResponse response;
          for (const std::string& token : request.tokens()) {
            auto& found = *response.add_found();
            if (!is_there_ || token == kMadeUp) continue;
            found.set_session_id("s-1");
            found.set_client_id("alice");
          }
          return response;
        });
  }

  void Run() {
    io_.restart();
    io_.poll();
  }

  // Its answer, set by Run() at the latest.
  using Answer = std::shared_ptr<std::optional<absl::StatusOr<CredentialPtr>>>;
  Answer Begin(const std::string& token, const std::string& address = "") {
    auto answer = std::make_shared<std::optional<absl::StatusOr<CredentialPtr>>>();
    tokens_->Verify(token, address, [answer](absl::StatusOr<CredentialPtr> verified) {
      EXPECT_FALSE(answer->has_value());
      *answer = std::move(verified);
    });
    return answer;
  }
  absl::StatusOr<CredentialPtr> Verify(const std::string& token, const std::string& address = "") {
    const Answer answer = Begin(token, address);
    Run();
    if (!answer->has_value()) return absl::InternalError("not answered");
    return **answer;
  }
  std::string RefusalOf(const std::string& token, const std::string& address = "") {
    return DetailsOf(Verify(token, address).status()).reason;
  }

  FakeClock clock_;
  boost::asio::io_context io_;
  FakeTrackerCalls client_;
  // Without a pause, unless a test is about it.
  std::shared_ptr<SessionTokens> tokens_ =
      std::make_shared<SessionTokens>(io_.get_executor(), &client_, &clock_, absl::ZeroDuration());
  absl::Status failure_;
  bool is_there_ = true;  // The tracker knows the tokens.
  std::vector<std::string> asked_;
  int calls_ = 0;
  const std::string token_ = SessionTokenOf(1);
};

TEST_F(SessionTokensTest, CallerIsClientOfSession) {
  const auto verified = Verify(token_);
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_EQ((*verified)->principal(), (Principal{.name = "alice", .role = Role::kClient}));
  EXPECT_EQ((*verified)->session_id(), "s-1");
}

TEST_F(SessionTokensTest, AnswerIsValidForFiveSeconds) {
  const CredentialPtr first = Verify(token_).value();
  clock_.Advance(absl::Milliseconds(4999));
  EXPECT_EQ(Verify(token_).value(), first);
  EXPECT_THAT(asked_, SizeIs(1));
  clock_.Advance(absl::Milliseconds(1));
  // Calls with the earlier credential go on.
  EXPECT_EQ(Verify(token_).value(), first);
  EXPECT_THAT(asked_, SizeIs(2));
  EXPECT_FALSE(first->IsRevoked());
}

TEST_F(SessionTokensTest, UnknownTokenIsRememberedForAWhile) {
  is_there_ = false;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(RefusalOf(token_), "token_unknown");
  clock_.Advance(SessionTokens::kUnknownFor - absl::Milliseconds(1));
  EXPECT_EQ(RefusalOf(token_), "token_unknown");
  EXPECT_THAT(asked_, SizeIs(1));
  clock_.Advance(absl::Milliseconds(1));
  is_there_ = true;
  EXPECT_TRUE(Verify(token_).ok());
  EXPECT_THAT(asked_, SizeIs(2));
}

TEST_F(SessionTokensTest, CredentialIsRevokedOnceTokenIsUnknown) {
  const CredentialPtr credential = Verify(token_).value();
  is_there_ = false;
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(RefusalOf(token_), "token_unknown");
  EXPECT_TRUE(credential->IsRevoked());
}

TEST_F(SessionTokensTest, TrackerFailureRevokesNothing) {
  const CredentialPtr credential = Verify(token_).value();
  clock_.Advance(absl::Seconds(5));
  failure_ = absl::UnavailableError("Socket closed");
  EXPECT_EQ(RefusalOf(token_), "tracker_unreachable");
  EXPECT_EQ(Verify(token_).status().code(), absl::StatusCode::kUnavailable);
  failure_ = ErrorWithDetails(absl::StatusCode::kUnauthenticated, "Who are you?",
                              {.reason = "token_missing"});
  EXPECT_EQ(RefusalOf(token_), "tracker_refuses_gateway");
  EXPECT_FALSE(credential->IsRevoked());
  failure_ = absl::OkStatus();
  EXPECT_EQ(Verify(token_).value(), credential);
}

TEST_F(SessionTokensTest, SimultaneousLookupsOfOneTokenAreSentOnce) {
  const std::vector<Answer> same = {Begin(token_), Begin(token_), Begin(token_)};
  const Answer other = Begin(SessionTokenOf(2));
  Run();
  EXPECT_THAT(asked_, SizeIs(2));
  for (const Answer& answer : same) {
    ASSERT_TRUE(answer->has_value());
    EXPECT_TRUE((**answer).ok());
  }
  EXPECT_TRUE(other->has_value());
}

TEST_F(SessionTokensTest, NumberOfWaitingLookupsIsBounded) {
  std::vector<Answer> waiting;
  for (size_t i = 0; i < SessionTokens::kMaxWaiting; ++i) waiting.push_back(Begin(token_));
  const Answer refused = Begin(token_);
  ASSERT_TRUE(refused->has_value());
  EXPECT_EQ(DetailsOf((**refused).status()).reason, "too_many_lookups");
  Run();
  EXPECT_TRUE(waiting.back()->has_value());
  EXPECT_TRUE(Verify(SessionTokenOf(2)).ok());
}

TEST_F(SessionTokensTest, NumberOfStoredTokensIsBounded) {
  const int most = static_cast<int>(SessionTokens::kMaxTokens);
  for (int i = 0; i < most; ++i) ASSERT_TRUE(Verify(SessionTokenOf(i)).ok());
  // The token that was not used for the longest time makes room.
  ASSERT_TRUE(Verify(SessionTokenOf(0)).ok());
  ASSERT_TRUE(Verify(SessionTokenOf(most)).ok());
  EXPECT_EQ(tokens_->size(), SessionTokens::kMaxTokens);
  EXPECT_THAT(asked_, SizeIs(most + 1));
  ASSERT_TRUE(Verify(SessionTokenOf(0)).ok());
  EXPECT_THAT(asked_, SizeIs(most + 1));
  ASSERT_TRUE(Verify(SessionTokenOf(1)).ok());
  EXPECT_THAT(asked_, SizeIs(most + 2));
}

TEST_F(SessionTokensTest, InventedTokensDoNotDelayKnownTokens) {
  const CredentialPtr known = Verify(token_).value();
  clock_.Advance(SessionTokens::kKnownFor);
  std::vector<Answer> made_up;
  for (size_t i = 0; i < SessionTokens::kMaxWaiting; ++i) {
    const std::string address = absl::StrCat(i / SessionTokens::kMaxWaitingOfAddress);
    made_up.push_back(Begin(SessionTokenOf(static_cast<int>(i) + 1000), address));
  }
  const Answer refused = Begin(SessionTokenOf(9), "other");
  ASSERT_TRUE(refused->has_value());
  EXPECT_EQ(DetailsOf((**refused).status()).reason, "too_many_lookups");
  const Answer again = Begin(token_);
  Run();
  ASSERT_TRUE(again->has_value());
  EXPECT_EQ((**again).value(), known);
  EXPECT_EQ(calls_, 3);
  for (const Answer& answer : made_up) EXPECT_TRUE(answer->has_value());
}

TEST_F(SessionTokensTest, AddressWithManyInventedTokensMustWait) {
  is_there_ = false;
  int number = 1000;
  for (int i = 0; i < SessionTokens::kMadeUp.of_address; ++i) {
    EXPECT_EQ(RefusalOf(SessionTokenOf(++number), kMallory), "token_unknown");
  }
  const size_t asked = asked_.size();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(RefusalOf(SessionTokenOf(++number), kMallory), "too_many_lookups");
  }
  EXPECT_THAT(asked_, SizeIs(asked)) << "the tracker is not asked";
  is_there_ = true;
  EXPECT_OK(Verify(token_, kAlice));
  // A known token is accepted from every address.
  EXPECT_OK(Verify(token_, kMallory));
  clock_.Advance(SessionTokens::kMadeUp.window);
  EXPECT_OK(Verify(SessionTokenOf(2), kMallory));
}

TEST_F(SessionTokensTest, LocalAddressesAreNotLimited) {
  is_there_ = false;
  for (const std::string& address :
       {AddressKeyOfText("127.0.0.1"), AddressKeyOfText("::1"), std::string()}) {
    for (int i = 0; i < 2 * SessionTokens::kMadeUp.of_all; ++i) {
      EXPECT_EQ(RefusalOf(SessionTokenOf(1000 + i), address), "token_unknown");
    }
    clock_.Advance(SessionTokens::kUnknownFor);
  }
}

TEST_F(SessionTokensTest, NumberOfWaitingLookupsPerAddressIsBounded) {
  int number = 1000;
  std::vector<Answer> made_up;
  for (int i = 0; i < SessionTokens::kMaxWaitingOfAddress; ++i) {
    made_up.push_back(Begin(SessionTokenOf(++number), kMallory));
  }
  const Answer refused = Begin(SessionTokenOf(++number), kMallory);
  ASSERT_TRUE(refused->has_value());
  EXPECT_EQ(DetailsOf((**refused).status()).reason, "too_many_lookups");
  const Answer honest = Begin(token_, kAlice);
  Run();
  ASSERT_TRUE(honest->has_value());
  EXPECT_OK(**honest);
  EXPECT_EQ(calls_, 1);
}

// A caller on this machine that makes up tokens causes one lookup per pause.
TEST_F(SessionTokensTest, NextLookupWaitsAfterInventedToken) {
  tokens_ = std::make_shared<SessionTokens>(io_.get_executor(), &client_, &clock_, absl::Hours(1));
  const CredentialPtr known = Verify(token_).value();
  EXPECT_OK(Verify(SessionTokenOf(2)));
  EXPECT_EQ(calls_, 2) << "no pause after tokens that are valid";
  EXPECT_EQ(RefusalOf(kMadeUp), "token_unknown");
  EXPECT_EQ(calls_, 3);
  std::vector<Answer> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(Begin(SessionTokenOf(1000 + i)));
  Run();
  EXPECT_EQ(calls_, 3);
  EXPECT_FALSE(waiting.front()->has_value());
  clock_.Advance(SessionTokens::kKnownFor);
  EXPECT_EQ(Verify(token_).value(), known) << "a known token does not wait";
  EXPECT_EQ(calls_, 4);
}

TEST_F(SessionTokensTest, NumberOfStoredUnknownTokensIsBounded) {
  is_there_ = false;
  const int most = static_cast<int>(SessionTokens::kMaxUnknown);
  for (int i = 0; i < most + 10; ++i) {
    EXPECT_EQ(RefusalOf(SessionTokenOf(i), absl::StrCat(i)), "token_unknown");
  }
  EXPECT_EQ(tokens_->unknown(), SessionTokens::kMaxUnknown);
  EXPECT_EQ(tokens_->size(), 0u);
}

TEST_F(SessionTokensTest, EvictedTokenIsRevoked) {
  const CredentialPtr first = Verify(SessionTokenOf(0)).value();
  for (size_t i = 1; i <= SessionTokens::kMaxTokens; ++i) {
    ASSERT_TRUE(Verify(SessionTokenOf(static_cast<int>(i))).ok());
  }
  EXPECT_TRUE(first->IsRevoked());
}

TEST_F(SessionTokensTest, RefreshRevokesTokenInUseWhenSessionEnds) {
  const CredentialPtr in_use = Verify(token_).value();
  ASSERT_TRUE(Verify(SessionTokenOf(2)).ok());
  tokens_->Refresh();
  Run();
  EXPECT_THAT(asked_, SizeIs(2)) << "it was asked about lately";
  clock_.Advance(SessionTokens::kKnownFor);
  tokens_->Refresh();
  // A caller that comes meanwhile waits for the same answer.
  const Answer meanwhile = Begin(token_);
  Run();
  EXPECT_THAT(asked_, SizeIs(3)) << "nothing is under way by the other one";
  EXPECT_TRUE(meanwhile->has_value());
  EXPECT_FALSE(in_use->IsRevoked());
  is_there_ = false;
  clock_.Advance(SessionTokens::kKnownFor);
  tokens_->Refresh();
  Run();
  EXPECT_TRUE(in_use->IsRevoked());
}

TEST_F(SessionTokensTest, MalformedTokensAreRefusedWithoutLookup) {
  for (const std::string& token :
       {std::string("callslip-session-"), token_ + "0", token_.substr(0, 80),
        "callslip-session-" + std::string(64, 'g')}) {
    EXPECT_EQ(RefusalOf(token), "token_unknown") << token;
  }
  EXPECT_THAT(asked_, SizeIs(0));
}

// The same at the gateway's routes, with and without a token file.
class SessionTokenRoutesTest : public SessionTokensTest, public testing::WithParamInterface<bool> {
 protected:
  SessionTokenRoutesTest()
      : router_(RequestFilter({{.host = "127.0.0.1", .port = 7890}}, {}, {}),
                GetParam() ? std::make_shared<const Credentials>(FileEntries()) : nullptr) {
    router_.Add("POST", "/mcp", {Role::kClient}, TellSession);
    router_.Add("GET", "/api/things/{id}", {Role::kClient}, TellSession);
    router_.AddWebSocket(
        "/ws", {Role::kClient},
        [](std::shared_ptr<const HttpRequest>,
           std::shared_ptr<WebSocket>) -> boost::asio::awaitable<void> { co_return; });
    router_.AddOpen("GET", "/open", TellSession);
    router_.TakeSessionTokens("/mcp", tokens_.get());
  }

  static std::vector<TokenFile::Entry> FileEntries() {
    return {{{"bob", Role::kClient}, std::string(40, 'b')},
            {{"carol", Role::kClient}, SessionTokenOf(77)}};
  }

  static boost::asio::awaitable<HttpResponse> TellSession(
      std::shared_ptr<const HttpRequest> request) {
    const std::string session =
        request->credential == nullptr ? "" : request->credential->session_id();
    co_return HttpResponse{.body = absl::StrCat(request->principal.name, " ", session)};
  }

  static HttpRequest RequestOf(const std::string& method, const std::string& path,
                               HttpHeaders headers) {
    HttpRequest request;
    request.method = method;
    EXPECT_TRUE(ParseTarget(path, request));
    request.headers = std::move(headers);
    request.headers.emplace("host", kGatewayHost);
    if (method == "POST") request.headers.emplace("content-type", "application/json");
    return request;
  }

  HttpResponse Ask(const std::string& method, const std::string& path, HttpHeaders headers) {
    auto request = std::make_shared<HttpRequest>(RequestOf(method, path, std::move(headers)));
    HttpResponse answer{.status = 0};
    router_.Handle(std::move(request),
                   {.respond = [&](HttpResponse response) { answer = std::move(response); },
                    .executor = io_.get_executor()});
    Run();
    return answer;
  }
  HttpResponse AskWith(const std::string& method, const std::string& path,
                       const std::string& token) {
    return Ask(method, path, {{"authorization", "Bearer " + token}});
  }

  void ExpectError(const HttpResponse& answer, int status, const std::string& code) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.error, code);
    EXPECT_NE(Json::parse(answer.body)["hint"], "");
  }

  HeadVerdict Judge(const std::string& path, const std::string& token) {
    const auto head = std::make_shared<HttpRequest>(
        RequestOf("POST", path, {{"authorization", "Bearer " + token}}));
    HeadVerdict verdict{.is_refused = true};
    router_.JudgeHead(head, [&](HeadVerdict judged) { verdict = std::move(judged); });
    Run();
    return verdict;
  }

  Router router_;
};

INSTANTIATE_TEST_SUITE_P(AnyGateway, SessionTokenRoutesTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "WithTokens" : "Local"; });

TEST_P(SessionTokenRoutesTest, RequestCarriesItsSession) {
  EXPECT_EQ(AskWith("POST", "/mcp", token_).body, "alice s-1");
  EXPECT_EQ(AskWith("POST", "/mcp", token_).body, "alice s-1");
  EXPECT_THAT(asked_, SizeIs(1));
  EXPECT_EQ(AskWith("GET", "/mcp", token_).status, 405);
}

TEST_P(SessionTokenRoutesTest, OtherCallersAreIdentifiedAsBefore) {
  EXPECT_EQ(AskWith("POST", "/mcp", std::string(40, 'b')).body, GetParam() ? "bob " : "local ");
  EXPECT_EQ(Ask("POST", "/mcp", {}).status, GetParam() ? 401 : 200);
  EXPECT_EQ(AskWith("GET", "/open", token_).status, 200);
  // A token of this form that is in the token file.
  if (GetParam()) {
    EXPECT_EQ(AskWith("GET", "/api/things/1", SessionTokenOf(77)).body, "carol ");
  }
  EXPECT_THAT(asked_, SizeIs(0));
}

TEST_P(SessionTokenRoutesTest, UnknownTokenIsRefused) {
  is_there_ = false;
  const HttpResponse answer = AskWith("POST", "/mcp", token_);
  ExpectError(answer, 401, "token_unknown");
  ASSERT_THAT(answer.headers, SizeIs(1));
  EXPECT_EQ(answer.headers[0].first, "WWW-Authenticate");
  ExpectError(AskWith("POST", "/mcp", "callslip-session-0"), 401, "token_unknown");
}

TEST_P(SessionTokenRoutesTest, TokenIsRefusedAtOtherRoutes) {
  ExpectError(AskWith("GET", "/api/things/1", token_), 403, "session_token_elsewhere");
  ExpectError(AskWith("GET", "/nothing", token_), 403, "session_token_elsewhere");
  ExpectError(AskWith("POST", "/mcp/", token_), 403, "session_token_elsewhere");
  ExpectError(AskWith("GET", "/ws", token_), 403, "session_token_elsewhere");
  ExpectError(
      Ask("GET", "/ws", {{"sec-websocket-protocol", "callslip.v1, callslip.bearer." + token_}}),
      403, "session_token_elsewhere");
  EXPECT_THAT(asked_, SizeIs(0));
}

TEST_P(SessionTokenRoutesTest, UnreachableTrackerIsReported) {
  failure_ = absl::UnavailableError("Socket closed");
  ExpectError(AskWith("POST", "/mcp", token_), 503, "tracker_unreachable");
  failure_ = absl::OkStatus();
  EXPECT_EQ(AskWith("POST", "/mcp", token_).body, "alice s-1");
}

TEST_P(SessionTokenRoutesTest, BodyIsReadOnlyIfHeadIsAccepted) {
  EXPECT_TRUE(Judge("/api/things/1", token_).is_refused);
  EXPECT_TRUE(Judge("/mcp", "callslip-session-0").is_refused);
  EXPECT_FALSE(Judge("/mcp", token_).is_refused);
  EXPECT_EQ(Judge("/mcp", token_).caller, "alice");
  EXPECT_THAT(asked_, SizeIs(1));
  is_there_ = false;
  clock_.Advance(absl::Seconds(5));
  EXPECT_TRUE(Judge("/mcp", token_).is_refused);
}

}  // namespace
}  // namespace callslip::gateway
