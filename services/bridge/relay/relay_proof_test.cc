// Over plain HTTP any program may answer. A peer that does not know the token does not learn it,
// and the bridge does not believe its answers.
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "auth/request_signature.h"
#include "bridge/http/fake_gateway.h"
#include "bridge/http/limits.h"
#include "bridge/http/request_auth.h"
#include "bridge/relay/relay_test_fixture.h"
#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";
constexpr char kAnotherToken[] = "another-token-another-token-1234";

// All of a request that its receiver can read.
std::string AllOf(const httplib::Request& request) {
  std::string all = absl::StrCat(request.method, " ", request.target, "\n", request.body, "\n");
  for (const auto& [name, value] : request.headers) absl::StrAppend(&all, name, ": ", value, "\n");
  return all;
}

class RelayProofTest : public RelayTest {
 protected:
  RelayProofTest() { token_ = kToken; }

  // Answers as a gateway does, but proves nothing.
  static void Deceive(FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    AnswerPlainly(request.body, response);
    response.set_header(kProofHeader, std::string(64, '0'));
  }

  // Calls a tool. Returns the reason in its result, or an empty string if it has none.
  std::string ReasonOfToolCall() {
    CallTool("7", "analyze", "{}");
    const auto answer = Read();
    EXPECT_EQ(answer["id"], 7);
    const nlohmann::json::json_pointer reason("/result/structuredContent/reason");
    return answer.value(reason, std::string());
  }
};

TEST_F(RelayProofTest, RequestsAreSignedAndDoNotRevealToken) {
  StartGateway();
  ExpectSilenceUntilPing();
  const httplib::Request request = gateway_->requests().at(0);
  EXPECT_THAT(AllOf(request), Not(HasSubstr(kToken)));
  const auto signature = ParseSignature(request.get_header_value("Authorization"));
  ASSERT_TRUE(signature.has_value());
  EXPECT_EQ(signature->time_ms, absl::ToUnixMillis(fake_clock_.Now()));
  ExpectSilenceUntilPing();
  const auto next = ParseSignature(gateway_->requests().at(1).get_header_value("Authorization"));
  EXPECT_NE(signature->nonce, next->nonce);
}

TEST_F(RelayProofTest, UnprovenAnswerIsRejected) {
  const std::string result = ResultFor("7", R"({"content":[]})");
  const std::string events = absl::StrCat("data: ", result, "\n\n");
  const FakeGateway::Handler cases[] = {
      [&](FakeGateway&, const auto&, auto& response) {
        response.set_content(result, "application/json");
        response.set_header(kProofHeader, "");
      },
      // Proven with another token.
      [&](FakeGateway&, const auto& request, auto& response) {
        response.set_content(result, "application/json");
        Prove(kAnotherToken, request, response);
      },
      // The body or the status was changed on the way.
      [&](FakeGateway&, const auto& request, auto& response) {
        response.set_content(ResultFor("7", R"({"content":[1]})"), "application/json");
        Prove(kToken, request, response);
        response.set_content(result, "application/json");
      },
      [&](FakeGateway&, const auto& request, auto& response) {
        response.set_content(result, "application/json");
        response.status = 500;
        Prove(kToken, request, response);
        response.status = 200;
      },
      // An event stream, and an event stream whose proven answer had another type or body.
      [&](FakeGateway&, const auto&, auto& response) {
        response.set_content(events, "text/event-stream");
        response.set_header(kProofHeader, std::string(64, 'f'));
      },
      [&](FakeGateway&, const auto& request, auto& response) {
        response.set_content(events, "application/json");
        Prove(kToken, request, response);
        response.set_content(events, "text/event-stream");
      },
      [&](FakeGateway&, const auto& request, auto& response) {
        response.set_content("", "text/event-stream");
        Prove(kAnotherToken, request, response);
      },
      // A refusal, whose reason the agent would otherwise get.
      [&](FakeGateway&, const auto&, auto& response) {
        response.status = 401;
        response.set_content(R"({"error":"token_unknown","message":"Show it."})",
                             "application/json");
        response.set_header(kProofHeader, "");
      },
      // An answer that is too long to check.
      [&](FakeGateway&, const auto&, auto& response) {
        response.set_content(std::string(kMaxAnswerBytes + 1, ' '), "application/json");
        response.set_header(kProofHeader, "");
      }};
  for (const FakeGateway::Handler& handler : cases) {
    StartGateway(handler);
    CallTool("7", "analyze", "{}");
    const auto answer = Read();
    EXPECT_EQ(answer["id"], 7);
    EXPECT_EQ(answer["result"]["isError"], true);
    const auto& details = answer["result"]["structuredContent"];
    EXPECT_EQ(details["reason"], "unproven_answer");
    EXPECT_EQ(details["may_have_executed"], true);
    EXPECT_THAT(details["error"].get<std::string>(), HasSubstr("Something else answers at http"));
    EXPECT_THAT(details["hint"].get<std::string>(), HasSubstr("--token-file"));
    for (const auto& request : gateway_->requests()) {
      EXPECT_THAT(AllOf(request), Not(HasSubstr(kToken)));
    }
    relay_.reset();
    client_.reset();
  }
}

TEST_F(RelayProofTest, StreamsArePassedOnOnceTheirHeadIsProven) {
  const std::string progress =
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})";
  StartGateway([&](FakeGateway&, const auto&, auto& response) {
    response.set_content(
        absl::StrCat("data: ", progress, "\n\ndata: ", ResultFor("7", R"({"done":1})"), "\n\n"),
        "text/event-stream");
  });
  CallTool("7", "analyze", "{}");
  EXPECT_EQ(ReadLine(), progress);
  EXPECT_EQ(ReadLine(), ResultFor("7", R"({"done":1})"));
}

TEST_F(RelayProofTest, CallsSucceedOnceGenuineGatewayIsBack) {
  std::atomic<bool> is_genuine = true;
  StartGateway([&](FakeGateway& gateway, const auto& request, auto& response) {
    if (!is_genuine) return Deceive(gateway, request, response);
    AnswerPlainly(request.body, response);
  });
  EXPECT_EQ(ReasonOfToolCall(), "");
  is_genuine = false;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ReasonOfToolCall(), "unproven_answer");
  is_genuine = true;
  EXPECT_EQ(ReasonOfToolCall(), "");
}

TEST_F(RelayProofTest, InitializeErrorReportsUnprovenGateway) {
  StartGateway(Deceive);
  Call("1", "initialize");
  const auto answer = Read();
  EXPECT_EQ(answer["id"], 1);
  EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr("does not know the token"));
}

TEST_F(RelayProofTest, WrongClockIsCorrectedOnce) {
  const absl::Time gateway_time = fake_clock_.Now() + absl::Hours(3);
  StartGateway([&](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    const auto signature = ParseSignature(request.get_header_value("Authorization"));
    if (signature->time_ms == absl::ToUnixMillis(gateway_time)) {
      return AnswerPlainly(request.body, response);
    }
    response.status = 401;
    response.set_content(absl::StrCat(R"({"error":"signature_stale","server_time_ms":)",
                                      absl::ToUnixMillis(gateway_time), "}"),
                         "application/json");
  });
  ExpectSilenceUntilPing();
  ExpectSilenceUntilPing();
  EXPECT_EQ(gateway_->requests().size(), 3u);
}

TEST_F(RelayProofTest, SpoofedGatewayDoesNotSetClock) {
  std::atomic<bool> is_genuine = false;
  StartGateway([&](FakeGateway&, const httplib::Request& request, httplib::Response& response) {
    if (is_genuine) return AnswerPlainly(request.body, response);
    response.status = 401;
    response.set_content(R"({"error":"signature_stale","server_time_ms":1})", "application/json");
    response.set_header(kProofHeader, std::string(64, '0'));
  });
  EXPECT_EQ(ReasonOfToolCall(), "unproven_answer");
  EXPECT_EQ(gateway_->requests().size(), 1u);
  is_genuine = true;
  EXPECT_EQ(ReasonOfToolCall(), "");
  const auto last = ParseSignature(gateway_->requests().back().get_header_value("Authorization"));
  EXPECT_EQ(last->time_ms, absl::ToUnixMillis(fake_clock_.Now()));
}

TEST_F(RelayProofTest, ProvenGatewayReasonsArePassedOn) {
  StartGateway([](FakeGateway&, const auto&, auto& response) {
    response.status = 403;
    response.set_content(
        R"({"error":"role_not_allowed","message":"The token of extension has the role worker.",)"
        R"("hint":"Use another one."})",
        "application/json");
  });
  CallTool("7", "analyze", "{}");
  const auto details = Read()["result"]["structuredContent"];
  EXPECT_EQ(details["reason"], "role_not_allowed");
  EXPECT_THAT(details["error"].get<std::string>(), HasSubstr("has the role worker."));
  EXPECT_EQ(details["hint"], "Nothing was executed. Use another one.");
  EXPECT_EQ(details["may_have_executed"], false);
}

TEST(RequestAuthTest, BearerTokenIsSentWithoutAskingForProof) {
  const RequestAuth auth = RequestAuth::WithBearer(kToken);
  EXPECT_EQ(auth.header(), absl::StrCat("Bearer ", kToken));
  EXPECT_FALSE(auth.asks_for_proof());
  EXPECT_TRUE(auth.Believes({.status = 200}, "anything"));
  EXPECT_EQ(RequestAuth().header(), "");
  EXPECT_TRUE(RequestAuth().Believes({.status = 200}, "anything"));
}

}  // namespace
}  // namespace callslip::bridge
