#include "runner/acp/peer.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PeerTest : public testing::Test, public Peer::Listener {
 protected:
  void OnRequest(const Json& id, const std::string& method, const Json& params,
                 Peer::Respond respond) override {
    heard_.push_back(absl::StrCat("request ", method, " ", params.dump()));
    ids_.push_back(id);
    responds_.push_back(std::move(respond));
  }
  void OnNotification(const std::string& method, const Json& params) override {
    heard_.push_back(absl::StrCat("notification ", method, " ", params.dump()));
  }
  void OnNoise(absl::string_view line) override { heard_.push_back(absl::StrCat("noise ", line)); }

  void Feed(const std::string& line) { EXPECT_TRUE(peer_->Feed(line + "\n")); }
  void Ask() {
    peer_->Request("session/prompt", {{"sessionId", "s"}}, [this](RpcAnswer answer) {
      const auto* error = std::get_if<RpcError>(&answer);
      answers_.push_back(error != nullptr ? absl::StrCat("error ", error->code, " ", error->message)
                                          : std::get<Json>(answer).dump());
    });
  }

  std::vector<std::string> written_;
  std::vector<std::string> heard_;
  std::vector<std::string> answers_;
  std::vector<Json> ids_;  // Of the agent's requests.
  std::vector<Peer::Respond> responds_;
  std::optional<Peer> peer_{std::in_place, this,
                            [this](std::string line) { written_.push_back(std::move(line)); }};
};

TEST_F(PeerTest, AnswersAreMatchedToTheirRequests) {
  Ask();
  Ask();
  EXPECT_THAT(
      written_,
      ElementsAre(
          "{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
          "\"s\"}}\n",
          "{\"id\":2,\"jsonrpc\":\"2.0\",\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
          "\"s\"}}\n"));
  Feed(FormatResult(2, "second"));
  Feed(FormatError(1, {kAuthRequired, "log in", {}}));
  EXPECT_THAT(answers_, ElementsAre("\"second\"", "error -32000 log in"));
}

TEST_F(PeerTest, NumericIdMatchesInAnyNotation) {
  Ask();
  Ask();
  Ask();
  Feed(R"({"id": 3.0, "result": "third"})");
  Feed(R"({"id": 1e0, "result": "first"})");
  EXPECT_THAT(answers_, ElementsAre("\"third\"", "\"first\""));
  EXPECT_THAT(heard_, IsEmpty());
  Feed(R"({"id": 2.5, "result": "x"})");
  EXPECT_EQ(heard_.size(), 1u);
}

TEST_F(PeerTest, NumericIdCanBeReturnedAsString) {
  Ask();
  Ask();
  Feed(R"({"id": "2", "result": "second"})");
  EXPECT_THAT(answers_, ElementsAre("\"second\""));
  EXPECT_THAT(heard_, IsEmpty());
}

// JSON-RPC's answer to a line that could not be read.
TEST_F(PeerTest, ErrorWithNullIdFailsPendingRequests) {
  Ask();
  peer_->Request("session/new", Json::object(), [this](const RpcAnswer&) { Ask(); });
  Feed(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})");
  EXPECT_THAT(answers_, ElementsAre("error -32700 Parse error"));
  EXPECT_EQ(heard_.size(), 1u);
  // The conversation goes on.
  Feed(FormatResult(3, "third"));
  EXPECT_THAT(answers_, ElementsAre("error -32700 Parse error", "\"third\""));
}

TEST_F(PeerTest, MalformedErrorWithoutIdFailsNoRequest) {
  Ask();
  Feed(R"({"id":null,"error":{"code":-32700,"message":)");
  Feed(R"({"id":null,"error":null})");
  Feed(R"({"error":{"code":-32700,"message":"Parse error"}})");
  EXPECT_EQ(heard_.size(), 3u);
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(PeerTest, AnswersToUnknownRequestsAreNoise) {
  Ask();
  for (const char* id :
       {"2", "\"2\"", "\"01\"", "\"1.0\"", "null", "1.5", "18446744073709551615"}) {
    Feed(absl::StrCat(R"({"id":)", id, R"(,"result":0})"));
  }
  EXPECT_EQ(heard_.size(), 7u);
  EXPECT_THAT(heard_, testing::Each(testing::StartsWith("noise ")));
  Feed(FormatResult(1, "first"));
  Feed(FormatResult(1, "again"));
  EXPECT_THAT(answers_, ElementsAre("\"first\""));
  EXPECT_EQ(heard_.size(), 8u);
}

TEST_F(PeerTest, RequestsAreAnsweredOnceWithTheirIds) {
  Feed(R"({"id":"a","method":"fs/read_text_file","params":{"path":"/x"}})");
  Feed(R"({"id":7,"method":"unknown"})");
  EXPECT_THAT(heard_,
              ElementsAre(R"(request fs/read_text_file {"path":"/x"})", "request unknown {}"));
  responds_[1](RpcError{kMethodNotFound, "unknown method", {}});
  responds_[0](Json{{"content", "text"}});
  responds_[0](Json{{"content", "again"}});
  EXPECT_THAT(
      written_,
      ElementsAre("{\"error\":{\"code\":-32601,\"message\":\"unknown method\"},\"id\":7,"
                  "\"jsonrpc\":\"2.0\"}\n",
                  "{\"id\":\"a\",\"jsonrpc\":\"2.0\",\"result\":{\"content\":\"text\"}}\n"));
}

TEST_F(PeerTest, RequestsAboveLimitAreRefusedUntilOthersAreAnswered) {
  for (size_t i = 0; i < Peer::kMaxOpenRequests; ++i) Feed(FormatRequest(i, "m", Json::object()));
  EXPECT_THAT(written_, IsEmpty());
  Feed(FormatRequest("one more", "m", Json::object()));
  ASSERT_EQ(written_.size(), 1u);
  EXPECT_TRUE(ParseMessage(written_[0])->error.has_value());
  EXPECT_EQ(responds_.size(), Peer::kMaxOpenRequests);
  responds_[0](Json());
  Feed(FormatRequest("and another", "m", Json::object()));
  EXPECT_EQ(responds_.size(), Peer::kMaxOpenRequests + 1);
}

TEST_F(PeerTest, CloseFailsPendingRequestsAndStopsAllTraffic) {
  Ask();
  Feed(R"({"id":7,"method":"m"})");
  written_.clear();
  peer_->Close({.message = "the agent is gone"});
  EXPECT_THAT(answers_, ElementsAre("error -32603 the agent is gone"));
  responds_[0](Json());
  peer_->Notify("m", Json::object());
  Feed(R"({"method":"m"})");
  Ask();
  EXPECT_THAT(written_, IsEmpty());
  EXPECT_EQ(heard_.size(), 1u);
  EXPECT_EQ(answers_.size(), 2u);
}

TEST_F(PeerTest, AnswerAfterThePeerIsDestroyedIsIgnored) {
  Feed(R"({"id":7,"method":"m"})");
  peer_->Close({});
  peer_.reset();
  responds_[0](Json());
  EXPECT_THAT(written_, IsEmpty());
}

TEST_F(PeerTest, RequestCanBeSentFromAnswerCallback) {
  peer_->Request("first", Json::object(), [this](const RpcAnswer&) { Ask(); });
  Feed(FormatResult(1, Json()));
  EXPECT_EQ(written_.size(), 2u);
  Feed(FormatResult(2, "second"));
  EXPECT_THAT(answers_, ElementsAre("\"second\""));
}

TEST_F(PeerTest, UnreadableRequestWithKnownIdGetsParseError) {
  Feed(absl::StrCat(R"({"id":7,"method":"m","params":)", std::string(100, '['),
                    std::string(100, ']'), "}"));
  ASSERT_EQ(written_.size(), 1u);
  EXPECT_THAT(written_[0], testing::HasSubstr(R"("id":7)"));
  EXPECT_THAT(written_[0], testing::HasSubstr("-32700"));
}

TEST_F(PeerTest, NoiseDoesNotDisturbRequests) {
  Ask();
  for (int i = 0; i < 10'000; ++i) Feed(i % 2 == 0 ? "Loading..." : "[1,2]");
  EXPECT_EQ(heard_.size(), 10'000u);
  Feed(FormatResult(1, "fine"));
  EXPECT_THAT(answers_, ElementsAre("\"fine\""));
}

}  // namespace
}  // namespace callslip::runner
