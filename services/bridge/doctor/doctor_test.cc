#include "bridge/doctor/doctor.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "auth/request_signature.h"
#include "bridge/http/fake_gateway.h"
#include "bridge/http/gateway_client.h"
#include "common/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"

namespace callslip::bridge {
namespace {

using ::testing::HasSubstr;

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

// Answers as a gateway does, but does not prove that it knows the token.
void Deceive(FakeGateway&, const httplib::Request& request, httplib::Response& response) {
  AnswerPlainly(request.body, response);
  response.set_header(kProofHeader, std::string(64, '0'));
}

TEST(DoctorTest, ReportsSpoofedGateway) {
  FakeGateway gateway({.handler = Deceive, .token = kToken});
  FakeClock clock;
  GatewayClient client(
      *ParseGatewayUrl(absl::StrCat("http://127.0.0.1:", gateway.port())),
      [] { return std::string(kToken); }, &clock);
  const std::vector<Link> links = Examine(client);
  EXPECT_EQ(links.at(1).state, Link::State::kBroken);
  EXPECT_THAT(links.at(1).detail, HasSubstr("does not know the token"));
  EXPECT_THAT(links.at(1).hint, HasSubstr("--token-file"));
  EXPECT_EQ(links.at(2).state, Link::State::kUnknown);
}

}  // namespace
}  // namespace callslip::bridge
