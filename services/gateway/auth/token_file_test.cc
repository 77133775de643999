#include "gateway/auth/token_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/random.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kTokenA(32, 'a');
const std::string kTokenB(32, 'b');
const std::string kKeyLine = "session-key - " + std::string(64, '7') + "\n";

std::string ErrorOf(const std::string& text) {
  return std::string(ParseTokenFile(text).status().message());
}

TEST(ParseTokenFileTest, ReadsLinesAndSkipsComments) {
  ASSERT_OK_AND_ASSIGN(const TokenFile file,
                       ParseTokenFile("# comment\r\n\nclient agent " + kTokenA + "\r\n \tworker\t" +
                                      "browser-2.home_1  " + kTokenB + "\n" + kKeyLine));
  ASSERT_THAT(file.entries, SizeIs(2));
  EXPECT_EQ(file.entries[0].principal.name, "agent");
  EXPECT_EQ(file.entries[0].principal.role, Role::kClient);
  EXPECT_EQ(file.entries[0].token, kTokenA);
  EXPECT_EQ(file.entries[1].principal.name, "browser-2.home_1");
  EXPECT_EQ(file.entries[1].principal.role, Role::kWorker);
  EXPECT_EQ(file.session_key, std::string(32, '\x77'));
}

TEST(ParseTokenFileTest, SeveralMayHaveOneRole) {
  EXPECT_OK(ParseTokenFile("client a " + kTokenA + "\nclient b " + kTokenB + "\n" + kKeyLine));
}

TEST(ParseTokenFileTest, NamesTheBrokenLineAndQuotesNoSecret) {
  const std::string good = "client agent " + kTokenA + "\n";
  const std::string long_name(65, 'n');
  const std::vector<std::string> broken_lines = {
      "client agent-2",
      "client agent-2 " + kTokenB + " more",
      "root agent-2 " + kTokenB,
      kTokenB + " client agent-2",
      "client Agent " + kTokenB,
      "client " + long_name + " " + kTokenB,
      "client agent " + kTokenB,
      "client agent-2 " + kTokenB.substr(1),
      "client agent-2 " + std::string(513, 'b'),
      "client agent-2 " + kTokenB + ":",
      "client agent-2 " + kTokenB + "\xC3\xA4",
      "client agent-2 " + kTokenA,
      "session-key - " + kTokenB,
      "session-key - " + std::string(64, 'g'),
      std::string("client \0 x", 10),
  };
  for (const std::string& line : broken_lines) {
    EXPECT_THAT(ErrorOf(kKeyLine + good + line + "\n"),
                AllOf(HasSubstr("line 3: "), Not(HasSubstr(kTokenA.substr(1))),
                      Not(HasSubstr(kTokenB.substr(1)))))
        << line;
  }
  EXPECT_THAT(ErrorOf(good + kKeyLine + kKeyLine), HasSubstr("line 3: "));
}

TEST(ParseTokenFileTest, SaysWhatIsMissing) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no token"));
  EXPECT_THAT(ErrorOf("# nothing\n" + kKeyLine), HasSubstr("no token"));
  EXPECT_THAT(ErrorOf("client agent " + kTokenA), HasSubstr("add one line `session-key - HEX`"));
}

class TokenFileTest : public testing::Test {
 protected:
  TokenFileTest() { std::filesystem::create_directory(folder_); }
  ~TokenFileTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text, mode_t mode) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }

  std::string ErrorOfLoading(const std::string& path) {
    return std::string(LoadOrCreateTokenFile(path).status().message());
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / absl::StrCat("callslip-", RandomHex128());
  const std::string path_ = (folder_ / "tokens").string();
};

TEST_F(TokenFileTest, IsMadeOnceForTheOwnerOnly) {
  ASSERT_OK_AND_ASSIGN(const TokenFile made, LoadOrCreateTokenFile(path_));
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_nlink, 1u);

  ASSERT_THAT(made.entries, SizeIs(4));
  const std::vector<std::string> names = {"agent", "extension", "viewer", "admin"};
  const std::vector<Role> roles = {Role::kClient, Role::kWorker, Role::kViewer, Role::kAdmin};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(made.entries[i].principal.name, names[i]);
    EXPECT_EQ(made.entries[i].principal.role, roles[i]);
    EXPECT_THAT(made.entries[i].token, testing::MatchesRegex("[0-9a-f]{64}"));
  }

  ASSERT_OK_AND_ASSIGN(const TokenFile read, LoadOrCreateTokenFile(path_));
  EXPECT_EQ(read.session_key, made.session_key);
  EXPECT_EQ(read.entries[0].token, made.entries[0].token);
}

TEST_F(TokenFileTest, GatewaysThatStartTogetherAgreeOnIt) {
  std::vector<std::string> keys(8);
  std::vector<std::thread> gateways;
  gateways.reserve(keys.size());
  for (std::string& key : keys) {
    gateways.emplace_back([&] {
      const auto file = LoadOrCreateTokenFile(path_);
      if (file.ok()) key = file->session_key;
    });
  }
  for (std::thread& gateway : gateways) gateway.join();
  EXPECT_THAT(keys[0], SizeIs(32));
  EXPECT_THAT(keys, testing::Each(keys[0]));
  // No draft is left beside it.
  const std::filesystem::directory_iterator files(folder_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(TokenFileTest, IsRefusedWhereOthersHaveAccess) {
  const std::string text = "client agent " + kTokenA + "\n" + kKeyLine;
  for (const mode_t mode : {0644, 0640, 0604, 0620, 0610}) {
    Write(text, mode);
    EXPECT_THAT(ErrorOfLoading(path_), HasSubstr("chmod 600")) << mode;
  }
  Write(text, 0400);
  EXPECT_OK(LoadOrCreateTokenFile(path_));
}

TEST_F(TokenFileTest, IsRefusedWhereItIsBrokenAndNeverReplaced) {
  Write("", 0600);
  EXPECT_THAT(ErrorOfLoading(path_), AllOf(HasSubstr(path_), HasSubstr("no token")));
  EXPECT_EQ(std::filesystem::file_size(path_), 0u);
  Write("client agent\n", 0600);
  EXPECT_THAT(ErrorOfLoading(path_), AllOf(HasSubstr(path_), HasSubstr("line 1")));
  Write(std::string(70'000, '#'), 0600);
  EXPECT_THAT(ErrorOfLoading(path_), HasSubstr("larger than"));
}

TEST_F(TokenFileTest, SaysWhatIsInTheWay) {
  EXPECT_THAT(ErrorOfLoading(folder_.string()), HasSubstr("is no file"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(ErrorOfLoading(path_), HasSubstr("is no file"));
  EXPECT_THAT(ErrorOfLoading(folder_.string() + "/missing/tokens"),
              HasSubstr("cannot create the token file"));
}

}  // namespace
}  // namespace callslip::gateway
