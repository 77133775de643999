#include "auth/request_signature.h"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "auth/token_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace callslip {
namespace {

using Json = nlohmann::json;

// Signatures and proofs that another implementation made; the other side is tested with the same.
Json Vectors() {
  std::ifstream file(absl::StrCat(CALLSLIP_VECTORS_DIR, "/request_signatures.json"));
  return Json::parse(file);
}

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";
constexpr char kNonce[] = "00112233445566778899aabbccddeeff";
constexpr RequestToSign kRequest = {
    .method = "POST", .host = "127.0.0.1:7890", .target = "/mcp?a=1", .body = "{}"};

TEST(RequestSignatureTest, MatchesTestVectors) {
  const Json requests = Vectors()["requests"];
  ASSERT_FALSE(requests.empty());
  for (const Json& vector : requests) {
    const std::string method = vector["method"], host = vector["host"], target = vector["target"],
                      body = vector["body"], token = vector["token"];
    const RequestToSign request = {.method = method, .host = host, .target = target, .body = body};
    const RequestSignature made = SignRequest(token, request, vector["time_ms"].get<int64_t>(),
                                              vector["nonce"].get<std::string>());
    EXPECT_EQ(FormatSignature(made), vector["authorization"]);
    const auto parsed = ParseSignature(vector["authorization"].get<std::string>());
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->key, TokenFingerprint(token));
    EXPECT_TRUE(IsSignatureOf(token, request, *parsed));
  }
}

TEST(RequestSignatureTest, ProofsMatchTestVectors) {
  const Json answers = Vectors()["answers"];
  ASSERT_FALSE(answers.empty());
  for (const Json& vector : answers) {
    const std::string token = vector["token"], nonce = vector["nonce"], proof = vector["proof"];
    const int status = vector["status"];
    const std::string body = vector["body"].is_null() ? "" : vector["body"];
    const auto proven = vector["body"].is_null() ? std::optional<absl::string_view>()
                                                 : std::optional<absl::string_view>(body);
    EXPECT_EQ(ProveAnswer(token, nonce, status, proven), proof);
    EXPECT_TRUE(IsProofOf(token, nonce, status, proven, proof));
    EXPECT_FALSE(IsProofOf(token, nonce, status + 1, proven, proof));
    EXPECT_FALSE(IsProofOf(token, nonce, status, absl::StrCat(body, "x"), proof));
    EXPECT_FALSE(IsProofOf(absl::StrCat(token, "x"), nonce, status, proven, proof));
    EXPECT_FALSE(IsProofOf(token, kToken, status, proven, proof));
    EXPECT_FALSE(IsProofOf(token, nonce, status, proven, ""));
  }
}

TEST(RequestSignatureTest, CoversEveryPartOfTheRequest) {
  const RequestSignature made = SignRequest(kToken, kRequest, 1000, kNonce);
  EXPECT_TRUE(IsSignatureOf(kToken, kRequest, made));
  const std::vector<RequestToSign> others = {
      {"PUT", kRequest.host, kRequest.target, kRequest.body},
      {kRequest.method, "127.0.0.1:7891", kRequest.target, kRequest.body},
      {kRequest.method, kRequest.host, "/mcp?a=2", kRequest.body},
      {kRequest.method, kRequest.host, kRequest.target, "{} "}};
  for (const RequestToSign& other : others) EXPECT_FALSE(IsSignatureOf(kToken, other, made));
  RequestSignature later = made;
  later.time_ms = 1001;
  EXPECT_FALSE(IsSignatureOf(kToken, kRequest, later));
  RequestSignature again = made;
  again.nonce.back() = '0';
  EXPECT_FALSE(IsSignatureOf(kToken, kRequest, again));
  EXPECT_FALSE(IsSignatureOf("0123456789abcdef0123456789abcdeg", kRequest, made));
}

TEST(RequestSignatureTest, HeaderDoesNotRevealToken) {
  const std::string header = FormatSignature(SignRequest(kToken, kRequest, 1000, kNonce));
  EXPECT_THAT(header, Not(testing::HasSubstr(kToken)));
  EXPECT_TRUE(IsSignatureHeader(header));
}

TEST(RequestSignatureTest, HeaderIsReadInAnyOrderAndSchemeCase) {
  const RequestSignature made = SignRequest(kToken, kRequest, 1000, kNonce);
  const auto read =
      ParseSignature(absl::StrCat("callslip-hmac mac=\"", made.mac, "\",nonce=\"", made.nonce,
                                  "\" , time = \"1000\"", ", key=\"", made.key, "\""));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(IsSignatureOf(kToken, kRequest, *read));
}

TEST(RequestSignatureTest, MalformedHeadersAreRejected) {
  const std::string header = FormatSignature(SignRequest(kToken, kRequest, 1000, kNonce));
  ASSERT_TRUE(ParseSignature(header).has_value());
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"Callslip-HMAC ", "Bearer "},
      {"time=\"1000\"", "time=\"\""},
      {"time=\"1000\"", "time=\"-1000\""},
      {"time=\"1000\"", "time=\"1e3\""},
      {"time=\"1000\"", "time=1000"},
      {"time=\"1000\"", "time=\"1000000000000000\""},
      {"time=\"1000\", ", ""},
      {"time=\"1000\"", "when=\"1000\""},
      {"time=\"1000\"", absl::StrCat("nonce=\"", kNonce, "\"")},
      {"time=\"1000\"", "time=\"1000\", time=\"1000\""},
      {kNonce, "00112233445566778899AABBCCDDEEFF"},
      {kNonce, "00112233445566778899aabbccddeef"},
      {"key=\"", "key=\"0"},
      {"mac=\"", "mac=\"0"}};
  for (const auto& [before, after] : changes) {
    EXPECT_FALSE(ParseSignature(absl::StrReplaceAll(header, {{before, after}})).has_value())
        << before << " " << after;
  }
  EXPECT_FALSE(ParseSignature("").has_value());
  EXPECT_FALSE(ParseSignature("Callslip-HMAC ").has_value());
}

}  // namespace
}  // namespace callslip
