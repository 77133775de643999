// Refusals by a request's head: no body is read before its caller, its route and its size are
// checked.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/raw_connection.h"
#include "support/test_services.h"

namespace callslip {
namespace {

using gateway::RawConnection;
using gateway::Router;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TokenFile TokensOfTwo() {
  TokenFile file;
  file.session_key = std::string(32, 'k');
  file.entries.push_back({{"root", Role::kAdmin}, std::string(32, 'r')});
  file.entries.push_back({{"run", Role::kRunner}, std::string(32, 'u')});
  return file;
}

class BodyLimitsTest : public testing::Test {
 protected:
  // The gateway's whole answer to a head without its body.
  std::string AnswerTo(const Router::Served& served, const std::string& headers, char token,
                       const std::string& host = "") {
    const std::string path = absl::StrReplaceAll(served.path, {{"{", ""}, {"}", ""}});
    RawConnection peer(services_.gateway_address().port);
    peer.Send(absl::StrCat(
        served.method, " ", path,
        " HTTP/1.1\r\nHost: ", host.empty() ? services_.gateway_address().ToString() : host,
        "\r\nContent-Type: application/json\r\n",
        token == 0 ? "" : absl::StrCat("Authorization: Bearer ", std::string(32, token), "\r\n"),
        headers));
    // The answer is complete before any body.
    const std::string head = peer.ReadTo("\r\n\r\n");
    return absl::StrCat(head, peer.ReadTo("}"));
  }
  static std::string Announcing(uint64_t bytes) {
    return absl::StrCat("Content-Length: ", bytes, "\r\nExpect: 100-continue\r\n\r\n");
  }

  TestServices services_{gateway::GatewayConfig{.web_root = "."}, TokensOfTwo()};
};

TEST_F(BodyLimitsTest, EveryRouteEnforcesItsBodyLimit) {
  for (const Router::Served& served : services_.gateway().Routes()) {
    const std::string name = absl::StrCat(served.method, " ", served.path);
    if (served.open) {
      // Open routes have a small limit.
      ASSERT_EQ(served.body_bytes, served.method == "POST" ? 4u << 10 : 0) << name;
    } else {
      ASSERT_GE(served.body_bytes, 64u << 10) << name;
    }
    ASSERT_LE(served.body_bytes, 12u << 20) << name;
    const uint64_t too_large = served.body_bytes + 1;
    // The answer to a HEAD has no body.
    const bool says_why = served.method != "HEAD";
    const auto expected = AllOf(StartsWith("HTTP/1.1 413 "),
                                HasSubstr(says_why ? "body_too_large" : "Content-Length: "),
                                HasSubstr(says_why ? absl::StrCat(served.body_bytes) : ""));
    EXPECT_THAT(AnswerTo(served, Announcing(too_large), 'r'), expected) << name;
    EXPECT_THAT(
        AnswerTo(served,
                 absl::StrCat("Transfer-Encoding: chunked\r\n\r\n", absl::Hex(too_large), "\r\n"),
                 'r'),
        expected)
        << name;
  }
}

TEST_F(BodyLimitsTest, ForbiddenRequestsAreRefusedBeforeTheirBody) {
  for (const Router::Served& served : services_.gateway().Routes()) {
    const std::string name = absl::StrCat(served.method, " ", served.path);
    const auto refusal = [&served](const std::string& code) {
      return AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr(served.method == "HEAD" ? "" : code));
    };
    EXPECT_THAT(AnswerTo(served, Announcing(1000), 'r', "evil.example"),
                refusal("host_not_allowed"))
        << name;
    EXPECT_THAT(AnswerTo(served, "Origin: https://evil.example\r\n" + Announcing(1000), 'r'),
                refusal("origin_not_allowed"))
        << name;
    if (served.open) continue;
    EXPECT_THAT(AnswerTo(served, Announcing(1000), 0),
                AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("token_missing")))
        << name;
    EXPECT_THAT(AnswerTo(served, Announcing(1000), 'x'),
                AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("token_unknown")))
        << name;
    EXPECT_THAT(AnswerTo(served, Announcing(1000), 'u'),
                AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("role_not_allowed")))
        << name;
  }
  const Router::Served nothing{.method = "POST", .path = "/nothing"};
  EXPECT_THAT(AnswerTo(nothing, Announcing(1000), 'r'), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(AnswerTo(nothing, Announcing(1000), 0), StartsWith("HTTP/1.1 401 "));
}

}  // namespace
}  // namespace callslip
