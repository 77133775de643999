#include "gateway/web/login_states.h"

#include "absl/strings/str_cat.h"
#include "auth/sha256.h"
#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

// RFC 7636, appendix B.
constexpr char kVerifier[] = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
constexpr char kChallenge[] = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
constexpr char kRedirect[] = "https://gw.example/ui/login";

class LoginStatesTest : public testing::Test {
 protected:
  static LoginStates::Signer SignerOf(std::string key) {
    return [key](absl::string_view text) { return Sha256Base64Url(absl::StrCat(key, text)); };
  }
  std::string ErrorOf(absl::string_view state, absl::string_view verifier = kVerifier,
                      absl::string_view redirect = kRedirect) {
    return std::string(states_.Take(state, verifier, redirect).message());
  }

  FakeClock clock_;
  LoginStates states_{SignerOf("key"), &clock_};
};

TEST_F(LoginStatesTest, StateIsAcceptedOnce) {
  const std::string state = states_.Give(kChallenge, kRedirect);
  EXPECT_NE(state, states_.Give(kChallenge, kRedirect));
  EXPECT_OK(states_.Take(state, kVerifier, kRedirect));
  EXPECT_THAT(ErrorOf(state), HasSubstr("counts once"));
}

TEST_F(LoginStatesTest, StateIsBoundToVerifierAndRedirect) {
  const std::string state = states_.Give(kChallenge, kRedirect);
  EXPECT_THAT(ErrorOf(state, "another"), HasSubstr("begun elsewhere"));
  EXPECT_THAT(ErrorOf(state, kVerifier, "https://gw.example:1/ui/login"),
              HasSubstr("begun elsewhere"));
  // A failed attempt does not use it up.
  EXPECT_OK(states_.Take(state, kVerifier, kRedirect));
}

TEST_F(LoginStatesTest, StateExpires) {
  const std::string state = states_.Give(kChallenge, kRedirect);
  clock_.Advance(LoginStates::kLifetime);
  EXPECT_THAT(ErrorOf(state), HasSubstr("longer than 10m"));
}

TEST_F(LoginStatesTest, ForgedStatesAreRefused) {
  const std::string state = states_.Give(kChallenge, kRedirect);
  const std::string other = LoginStates(SignerOf("other"), &clock_).Give(kChallenge, kRedirect);
  for (const std::string& made : {std::string(), std::string("."), std::string("a.b"), other,
                                  state.substr(0, state.rfind('.')), state + "A", "9" + state}) {
    EXPECT_THAT(ErrorOf(made), HasSubstr("begun elsewhere")) << made;
  }
}

TEST_F(LoginStatesTest, OldestUsedStateIsForgottenWhenFull) {
  const std::string first = states_.Give(kChallenge, kRedirect);
  EXPECT_OK(states_.Take(first, kVerifier, kRedirect));
  clock_.Advance(absl::Seconds(1));
  const std::string second = states_.Give(kChallenge, kRedirect);
  EXPECT_OK(states_.Take(second, kVerifier, kRedirect));
  clock_.Advance(absl::Seconds(1));
  for (size_t i = 1; i < LoginStates::kMaxUsed; ++i) {
    ASSERT_OK(states_.Take(states_.Give(kChallenge, kRedirect), kVerifier, kRedirect));
  }
  EXPECT_THAT(ErrorOf(second), HasSubstr("counts once"));
  EXPECT_OK(states_.Take(first, kVerifier, kRedirect));
}

}  // namespace
}  // namespace callslip::gateway
