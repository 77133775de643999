#include "auth/token_command.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "auth/token_file.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class TokenCommandTest : public testing::Test {
 protected:
  TokenCommandTest() {
    std::ofstream(path_) << "# who\nclient alice " << alice_ << "\nsession-key - "
                         << std::string(64, '7') << "\n";
    chmod(path_.c_str(), 0600);
  }

  absl::StatusOr<std::string> Run(std::vector<std::string> arguments) {
    return RunTokenCommand(std::move(arguments), path_);
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/tokens";
  const std::string alice_ = std::string(32, 'a');
};

TEST_F(TokenCommandTest, ListsPrincipalsWithoutTokens) {
  ASSERT_OK_AND_ASSIGN(const std::string text, Run({"list"}));
  EXPECT_THAT(text, HasSubstr(TokenFingerprint(alice_) + "   client alice"));
  EXPECT_THAT(text, Not(HasSubstr(alice_)));
}

TEST_F(TokenCommandTest, AddsAndRemovesTokens) {
  ASSERT_OK_AND_ASSIGN(const std::string printed,
                       Run({"add", "worker", "laptop", "target=browser", "worker=laptop"}));
  const std::string token(absl::StripSuffix(printed, "\n"));
  ASSERT_OK_AND_ASSIGN(const TokenFile file, LoadTokenFile(path_));
  ASSERT_THAT(file.entries, SizeIs(2));
  EXPECT_EQ(file.entries[1].token, token);
  EXPECT_EQ(DescribePrincipal(file.entries[1].principal),
            "worker laptop target=browser worker=laptop");
  EXPECT_THAT(file.session_key, SizeIs(32));

  ASSERT_OK(Run({"add", "client", "alice"}));
  EXPECT_THAT(*Run({"remove", TokenFingerprint(alice_)}), HasSubstr("removed 1 token"));
  EXPECT_THAT(LoadTokenFile(path_)->entries, SizeIs(2));
  EXPECT_THAT(*Run({"remove", "alice"}), HasSubstr("removed 1 token"));
  EXPECT_THAT(LoadTokenFile(path_)->entries, SizeIs(1));
}

TEST_F(TokenCommandTest, RefusesInvalidCommands) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"list", "x"},
                                             {"add"},
                                             {"add", "client"},
                                             {"remove"},
                                             {"remove", "a", "b"},
                                             {"show"},
                                             {"add", "client", "a\nb"},
                                             {"add", "root", "bob"},
                                             {"add", "client", "Bob"},
                                             {"add", "admin", "alice"},
                                             {"add", "client", "bob", "target=x"}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Run(wrong).status())) << absl::StrCat(wrong.size());
  }
  EXPECT_TRUE(absl::IsNotFound(Run({"remove", "bob"}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Run({"remove", "alice"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(RunTokenCommand({"list"}, "").status()));
  EXPECT_THAT(LoadTokenFile(path_)->entries, SizeIs(1));
  EXPECT_OK(RunTokenCommand({"list", "--token-file", path_}, ""));
}

}  // namespace
}  // namespace callslip
