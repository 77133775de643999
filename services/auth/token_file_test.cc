#include "auth/token_file.h"

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

namespace callslip {
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

TEST(ParseTokenFileTest, RefusesNamesReservedForOauth) {
  for (const char* name : {"oauth-alice", "oauth_0123456789abcdef0123456789abcdef"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat("client ", name, " ", kTokenA)), HasSubstr("oauth-"));
  }
  EXPECT_OK(ParseTokenFile("client oauth " + kTokenA + "\nclient oauth.alice " + kTokenB));
}

TEST(ParseTokenFileTest, SeveralPrincipalsCanHaveOneRole) {
  EXPECT_OK(ParseTokenFile("client a " + kTokenA + "\nclient b " + kTokenB + "\n" + kKeyLine));
}

TEST(ParseTokenFileTest, PrincipalCanHaveSeveralTokens) {
  ASSERT_OK_AND_ASSIGN(const TokenFile file, ParseTokenFile("client a " + kTokenA + "\nclient a " +
                                                            kTokenB + "\nclient a cert:a.example"));
  ASSERT_THAT(file.entries, SizeIs(3));
  EXPECT_EQ(file.entries[1].principal, file.entries[0].principal);
  EXPECT_EQ(file.entries[2].certificate, "a.example");
  EXPECT_EQ(file.entries[2].token, "");
  EXPECT_EQ(file.session_key, "");
}

TEST(ParseTokenFileTest, WorkerIsLimitedToTargetsAndName) {
  ASSERT_OK_AND_ASSIGN(const TokenFile file, ParseTokenFile("worker w " + kTokenA +
                                                            " worker=laptop target=browser,shell"));
  EXPECT_EQ(file.entries[0].principal.scope,
            (WorkerScope{.targets = {"browser", "shell"}, .worker_id = "laptop"}));
  EXPECT_EQ(DescribePrincipal(file.entries[0].principal),
            "worker w target=browser,shell worker=laptop");
}

TEST(ParseTokenFileTest, NamesBrokenLineWithoutQuotingSecrets) {
  const std::string good = "client agent " + kTokenA + "\n";
  const std::string long_name(65, 'n');
  const std::vector<std::string> broken_lines = {
      "client agent-2",
      "client agent-2 " + kTokenB + " more",
      "root agent-2 " + kTokenB,
      kTokenB + " client agent-2",
      "client Agent " + kTokenB,
      "client " + long_name + " " + kTokenB,
      "admin agent " + kTokenB,
      "client agent-2 " + kTokenB + " target=browser",
      "worker agent-2 " + kTokenB + " target=",
      "worker agent-2 " + kTokenB + " target=a,,b",
      "worker agent-2 " + kTokenB + " target=a target=b",
      "worker agent-2 " + kTokenB + " worker=",
      "worker agent-2 " + kTokenB + " name=x",
      "local agent-2 " + kTokenB,
      "client local " + kTokenB,
      "client agent-2 cert:",
      "client agent-2 cert:" + std::string(254, 'c'),
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

TEST(ParseTokenFileTest, ReportsMissingTokens) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no token"));
  EXPECT_THAT(ErrorOf("# nothing\n" + kKeyLine), HasSubstr("no token"));
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

TEST_F(TokenFileTest, IsCreatedOnceForOwnerOnly) {
  ASSERT_OK_AND_ASSIGN(const TokenFile made, LoadOrCreateTokenFile(path_));
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_nlink, 1u);

  const std::vector<std::string> names = {"agent", "extension", "viewer",
                                          "admin", "runner",    "gateway"};
  ASSERT_THAT(made.entries, SizeIs(kTokenRoles.size()));
  for (size_t i = 0; i < kTokenRoles.size(); ++i) {
    EXPECT_EQ(made.entries[i].principal, (Principal{names[i], kTokenRoles[i]}));
    EXPECT_THAT(made.entries[i].token, testing::MatchesRegex("[0-9a-f]{64}"));
  }

  ASSERT_OK_AND_ASSIGN(const TokenFile read, LoadOrCreateTokenFile(path_));
  EXPECT_EQ(read.session_key, made.session_key);
  EXPECT_EQ(read.entries[0].token, made.entries[0].token);
}

TEST_F(TokenFileTest, GatewaysStartedTogetherAgreeOnIt) {
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
  // No temporary file remains beside the token file.
  const std::filesystem::directory_iterator files(folder_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(TokenFileTest, IsRefusedIfOthersHaveAccess) {
  const std::string text = "client agent " + kTokenA + "\n" + kKeyLine;
  for (const mode_t mode : {0644, 0640, 0604, 0620, 0610}) {
    Write(text, mode);
    EXPECT_THAT(ErrorOfLoading(path_), HasSubstr("chmod 600")) << mode;
  }
  Write(text, 0400);
  EXPECT_OK(LoadOrCreateTokenFile(path_));
}

TEST_F(TokenFileTest, BrokenFileIsRefusedAndNeverReplaced) {
  Write("", 0600);
  EXPECT_THAT(ErrorOfLoading(path_), AllOf(HasSubstr(path_), HasSubstr("no token")));
  EXPECT_EQ(std::filesystem::file_size(path_), 0u);
  Write("client agent\n", 0600);
  EXPECT_THAT(ErrorOfLoading(path_), AllOf(HasSubstr(path_), HasSubstr("line 1")));
  Write(std::string(70'000, '#'), 0600);
  EXPECT_THAT(ErrorOfLoading(path_), HasSubstr("larger than"));
}

TEST_F(TokenFileTest, IsEditedAtomically) {
  Write("client agent " + kTokenA + "\n", 0600);
  struct stat before = {};
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  EXPECT_OK(EditTokenFile(path_, [](const std::string& text) -> absl::StatusOr<std::string> {
    return text + "client other " + kTokenB + "\n";
  }));
  struct stat after = {};
  ASSERT_EQ(stat(path_.c_str(), &after), 0);
  EXPECT_NE(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_mode & 0777, 0600u);
  ASSERT_OK_AND_ASSIGN(const TokenFile file, LoadTokenFile(path_));
  EXPECT_THAT(file.entries, SizeIs(2));
}

TEST_F(TokenFileTest, StaysUnchangedIfEditWouldBreakIt) {
  Write("client agent " + kTokenA + "\n", 0600);
  const auto edited = [&](const std::string& text) {
    return EditTokenFile(path_, [&](const std::string&) { return text; });
  };
  EXPECT_THAT(std::string(edited("").message()), HasSubstr("no token"));
  EXPECT_THAT(std::string(edited("client agent").message()), HasSubstr("line 1"));
  EXPECT_THAT(std::string(edited(std::string(70'000, '#')).message()), HasSubstr("larger than"));
  EXPECT_EQ(EditTokenFile(path_, [](const auto&) { return absl::AbortedError("no"); }),
            absl::AbortedError("no"));
  EXPECT_THAT(LoadTokenFile(path_)->entries, SizeIs(1));
  EXPECT_FALSE(
      EditTokenFile(folder_.string() + "/none", [](const std::string& text) { return text; }).ok());
}

TEST_F(TokenFileTest, ConcurrentEditsAreAllApplied) {
  Write("client agent " + kTokenA + "\n", 0600);
  std::vector<std::thread> editors;
  for (int i = 0; i < 8; ++i) {
    editors.emplace_back([&, i] {
      EXPECT_OK(EditTokenFile(path_, [i](const std::string& text) -> absl::StatusOr<std::string> {
        return absl::StrCat(text, "client agent-", i, " ", NewToken(), "\n");
      }));
    });
  }
  for (std::thread& editor : editors) editor.join();
  EXPECT_THAT(LoadTokenFile(path_)->entries, SizeIs(9));
}

TEST_F(TokenFileTest, ReportsWhyFileCannotBeUsed) {
  EXPECT_THAT(ErrorOfLoading(folder_.string()), HasSubstr("is not a file"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(ErrorOfLoading(path_), HasSubstr("is not a file"));
  EXPECT_THAT(ErrorOfLoading(folder_.string() + "/missing/tokens"),
              HasSubstr("cannot create the token file"));
}

}  // namespace
}  // namespace callslip
