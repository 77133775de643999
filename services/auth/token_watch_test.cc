#include "auth/token_watch.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip {
namespace {

class TokenWatchTest : public testing::Test {
 protected:
  TokenWatchTest() { std::filesystem::create_directory(folder_); }
  ~TokenWatchTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / absl::StrCat("callslip-", RandomHex128());
  const std::string path_ = (folder_ / "tokens").string();
  const std::string alice_ = "client alice " + std::string(32, 'a') + "\n";
  const std::string bob_ = "client bob " + std::string(32, 'b') + "\n";
  int taken_ = 0;
  absl::Status check_;
  const std::shared_ptr<Credentials> credentials_ =
      std::make_shared<Credentials>(std::vector<TokenFile::Entry>());
  TokenWatch watch_{path_, credentials_, [this](const TokenFile&) { ++taken_; },
                    [this](const TokenFile&) { return check_; }, absl::InfiniteDuration()};
};

TEST_F(TokenWatchTest, AddsNewTokensAndRevokesRemovedOnes) {
  Write(alice_);
  watch_.Look();
  const CredentialPtr alice = credentials_->FindToken(std::string(32, 'a'));
  ASSERT_NE(alice, nullptr);

  Write(alice_ + bob_);
  watch_.Look();
  EXPECT_NE(credentials_->FindToken(std::string(32, 'b')), nullptr);
  EXPECT_EQ(credentials_->FindToken(std::string(32, 'a')), alice);
  EXPECT_EQ(taken_, 2);

  Write(bob_);
  watch_.Look();
  EXPECT_EQ(credentials_->FindToken(std::string(32, 'a')), nullptr);
  EXPECT_TRUE(alice->IsRevoked());
  EXPECT_EQ(taken_, 3);
}

TEST_F(TokenWatchTest, ChangedRoleReplacesCredential) {
  Write(alice_);
  watch_.Look();
  const CredentialPtr client = credentials_->FindToken(std::string(32, 'a'));
  Write("admin alice " + std::string(32, 'a') + "\n");
  watch_.Look();
  EXPECT_TRUE(client->IsRevoked());
  EXPECT_EQ(credentials_->FindToken(std::string(32, 'a'))->principal().role, Role::kAdmin);
}

TEST_F(TokenWatchTest, KeepsCredentialsIfCheckFails) {
  Write(alice_);
  watch_.Look();
  check_ = absl::InvalidArgumentError("no session-key");
  Write(bob_);
  InitLogging("test", "error");
  testing::internal::CaptureStderr();
  watch_.Look();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("no session-key"));
  EXPECT_NE(credentials_->FindToken(std::string(32, 'a')), nullptr);
  EXPECT_EQ(credentials_->FindToken(std::string(32, 'b')), nullptr);
  EXPECT_EQ(taken_, 1);
}

TEST_F(TokenWatchTest, KeepsCredentialsIfFileIsBroken) {
  Write(alice_);
  watch_.Look();
  for (const std::string& broken : {std::string(), std::string("client bob\n"), alice_ + alice_}) {
    Write(broken);
    watch_.Look();
    EXPECT_NE(credentials_->FindToken(std::string(32, 'a')), nullptr) << broken;
  }
  std::filesystem::remove(path_);
  watch_.Look();
  EXPECT_NE(credentials_->FindToken(std::string(32, 'a')), nullptr);
  Write(alice_);
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  watch_.Look();
  EXPECT_NE(credentials_->FindToken(std::string(32, 'a')), nullptr);
  EXPECT_EQ(taken_, 1);
}

}  // namespace
}  // namespace callslip
