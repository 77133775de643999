#include "runner/agent_directories.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"

namespace callslip::runner {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class AgentDirectoriesTest : public testing::Test {
 protected:
  AgentDirectoriesTest() {
    for (const char* dir : {"/src/web/app", "/data/cache", "/evil/bin", "/opt/bin"}) {
      fs::create_directories(base_ + dir);
    }
    config_.workspaces["src"].dir = base_ + "/src";
    config_.workspaces["web"] = {
        .dir = base_ + "/src/web",
        .additional_directories = {base_ + "/data/cache", base_ + "/data"}};
  }
  void Link(const std::string& target, const std::string& path) {
    fs::create_directory_symlink(target, base_ + path);
  }
  // As an agent can do with a directory in a workspace.
  void Replace(const std::string& path, const std::string& target) {
    fs::rename(base_ + path, base_ + path + ".was");
    fs::create_directory_symlink(target, base_ + path);
  }
  AgentDirectories Directories() const { return AgentDirectories(config_); }
  std::string ProblemOf(const std::string& path) const {
    return Directories().ProblemOf(base_ + path);
  }

  TemporaryFolder folder_;
  const std::string base_ = fs::canonical(folder_.path());
  RunnerConfig config_;
};

TEST_F(AgentDirectoriesTest, WayIncludesAllWritableParentDirectories) {
  const AgentDirectories directories = Directories();
  EXPECT_THAT(directories.WayTo(base_ + "/src/web/app/x"),
              ElementsAre(base_ + "/src", base_ + "/src/web", base_ + "/src/web/app/x"));
  EXPECT_THAT(directories.WayTo(base_ + "/src/web"),
              ElementsAre(base_ + "/src", base_ + "/src/web"));
  EXPECT_THAT(directories.WayTo(base_ + "/data/cache"),
              ElementsAre(base_ + "/data", base_ + "/data/cache"));
  EXPECT_THAT(directories.WayTo(base_ + "/elsewhere"), ElementsAre(base_ + "/elsewhere"));
  // A workspace can also be inside an additional directory of another workspace.
  config_.workspaces["src"].additional_directories = {base_};
  EXPECT_THAT(Directories().WayTo(base_ + "/data/cache"),
              ElementsAre(base_, base_ + "/data", base_ + "/data/cache"));
}

TEST_F(AgentDirectoriesTest, ReplaceablePathsAreFoundThroughLinks) {
  Link(base_ + "/src/web", "/linked");
  Link("opt", "/fine");
  Link("../opt/bin", "/src/led");
  Link(base_ + "/linked/app", "/twice");
  Link("loop", "/loop");
  fs::create_directories(base_ + "/src/tools/bin");
  Link(base_ + "/src/tools", "/link");
  for (const int round : {1, 2}) {
    SCOPED_TRACE(round);
    for (const char* way : {"/src", "/src/bin", "/linked", "/linked/bin", "/twice", "/src/led",
                            "/link/bin", "/data/cache", "/data/bin"}) {
      EXPECT_TRUE(Directories().MayReplace(base_ + way)) << way;
    }
    for (const char* way : {"/opt/bin", "/fine/bin", "/loop", "/none", "/src.was"}) {
      EXPECT_FALSE(Directories().MayReplace(base_ + way)) << way;
    }
    for (const char* anywhere : {"", "bin", ".", "../bin", "/usr/../bin"}) {
      EXPECT_TRUE(Directories().MayReplace(anywhere)) << anywhere;
    }
    // The result is the same after agents have replaced directories.
    if (round == 1) {
      Replace("/src/tools", base_ + "/evil");
      Replace("/src/web", "/");
      Replace("/data/cache", "/");
    }
  }
}

TEST_F(AgentDirectoriesTest, DirectoryInsideAnotherByLinkIsRefused) {
  fs::create_directories(base_ + "/src/sub");
  Link(base_, "/alias");
  config_.workspaces["sub"].dir = base_ + "/alias/src/sub";
  const std::string problem = base_ + "/alias/src/sub is in " + base_ + "/src by a link";
  EXPECT_THAT(ProblemOf("/alias/src/sub"), HasSubstr(problem));
  // Also after an agent has replaced the directory by a link.
  Replace("/src/sub", "/");
  EXPECT_THAT(ProblemOf("/alias/src/sub"), HasSubstr(problem));
  // Also if the other workspace is configured by a link.
  config_.workspaces["src"].dir = base_ + "/alias/src";
  config_.workspaces["sub"].dir = base_ + "/src/sub";
  EXPECT_THAT(ProblemOf("/src/sub"), HasSubstr("by a link, where agents could replace it"));
}

TEST_F(AgentDirectoriesTest, DirectoryLeadingOutOfAnotherIsRefused) {
  EXPECT_EQ(ProblemOf("/src"), "");
  EXPECT_EQ(ProblemOf("/src/web"), "");
  EXPECT_EQ(ProblemOf("/data/cache"), "");
  EXPECT_EQ(ProblemOf("/none"), "");
  Replace("/src/web", "app");
  fs::create_directory(base_ + "/src/app");
  EXPECT_EQ(ProblemOf("/src/web"), "");
  fs::remove(base_ + "/src/web");
  Link(base_ + "/opt", "/src/web");
  EXPECT_EQ(ProblemOf("/src/web"), base_ + "/src/web leads out of " + base_ +
                                       "/src by a link, which an agent may have put there: write " +
                                       base_ + "/opt if that is meant");
}

TEST_F(AgentDirectoriesTest, LinkThatNoAgentCanReplaceIsAllowed) {
  Link(base_ + "/src", "/home");
  config_.workspaces.clear();
  config_.workspaces["home"].dir = base_ + "/home";
  EXPECT_EQ(ProblemOf("/home"), "");
  EXPECT_THAT(Directories().WayTo(base_ + "/home/web"),
              ElementsAre(base_ + "/home", base_ + "/home/web"));
  EXPECT_TRUE(Directories().MayReplace(base_ + "/src/web"));
}

}  // namespace
}  // namespace callslip::runner
