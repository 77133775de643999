#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

// A client lists its own commands, and no other client sees them.
class CommandListingTest : public CommandTableTest {
 protected:
  CommandListingTest() : CommandTableTest({.queued_of_client = 2000, .queued = 2000}) {}

  std::vector<std::string> List(const CommandFilter& filter, std::string client = kClient) {
    const auto page = table_.List(std::move(client), filter, 0, "");
    EXPECT_OK(page);
    std::vector<std::string> ids;
    for (const CommandPtr& command : page->commands) ids.push_back(IdOf(*command));
    return ids;
  }

  std::string RegisterAt(std::string target) {
    CommandRequest request = Request();
    request.target = std::move(target);
    return Register(std::move(request));
  }
};

TEST_F(CommandListingTest, PagesThroughAllTargetsNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.insert(ids.begin(), RegisterAt("target-" + std::to_string(i)));
  ASSERT_OK(TryRegister(Request("other")));
  std::vector<std::string> listed;
  std::string token;
  int pages = 0;
  do {
    ASSERT_OK_AND_ASSIGN(const CommandPage page, table_.List(kClient, {}, 2, token));
    for (const CommandPtr& command : page.commands) listed.push_back(IdOf(*command));
    token = page.next_page_token;
    ++pages;
    RegisterAt("late");  // New commands move no page.
  } while (!token.empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(listed, ids);
}

TEST_F(CommandListingTest, FiltersByStateTargetAndLabel) {
  CommandRequest labelled = Request();
  labelled.label = "session-1";
  const std::string cancelled = Register(std::move(labelled));
  const std::string queued = Register();
  const std::string elsewhere = RegisterAt("elsewhere");
  ASSERT_OK(Cancel(cancelled));
  EXPECT_THAT(List({}), ElementsAre(elsewhere, queued, cancelled));
  EXPECT_THAT(List({.label = "session-1"}), ElementsAre(cancelled));
  EXPECT_THAT(List({.states = {State::kQueued}}), ElementsAre(elsewhere, queued));
  EXPECT_THAT(List({.states = {State::kCancelled, State::kFailed}}), ElementsAre(cancelled));
  EXPECT_THAT(List({.states = {State::kQueued, State::kCancelled}, .target = "browser"}),
              ElementsAre(queued, cancelled));
  EXPECT_THAT(List({.target = "nowhere"}), IsEmpty());
  EXPECT_THAT(List({.states = {State::kQueued}, .label = "session-1"}), IsEmpty());
}

TEST_F(CommandListingTest, UnfinishedCommandsAreListedInPages) {
  std::vector<std::string> unfinished;
  for (int i = 0; i < 9; ++i) {
    const std::string id = Register();
    if (i % 3 == 0) {
      ASSERT_OK(Cancel(id));
    } else {
      unfinished.insert(unfinished.begin(), id);
    }
  }
  std::vector<std::string> listed;
  std::string token;
  do {
    ASSERT_OK_AND_ASSIGN(const CommandPage page,
                         table_.List(kClient, {.states = {State::kQueued}}, 2, token));
    for (const CommandPtr& command : page.commands) listed.push_back(IdOf(*command));
    token = page.next_page_token;
  } while (!token.empty());
  EXPECT_EQ(listed, unfinished);
}

TEST_F(CommandListingTest, AllGroupsAreListedInOneCall) {
  const std::string failed = Register();
  const std::string completed = Register();
  const std::string cancelled = Register();
  ASSERT_OK(Cancel(failed));
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(Cancel(cancelled));
  const std::string older = Register();
  const std::string newer = RegisterAt("elsewhere");
  const auto ids = [this](int page_size, CommandFilter filter = {}) {
    const auto page = table_.ListGroups(kClient, filter, page_size);
    EXPECT_OK(page);
    std::vector<std::string> listed;
    for (const CommandPtr& command : page->commands) listed.push_back(IdOf(*command));
    if (!page->next_page_token.empty()) listed.push_back("more");
    return listed;
  };
  EXPECT_THAT(ids(0), ElementsAre(newer, older, completed, cancelled, failed));
  EXPECT_THAT(ids(2), ElementsAre(newer, older, completed, cancelled, failed));
  EXPECT_THAT(ids(1), ElementsAre(newer, completed, cancelled, "more"));
  EXPECT_THAT(ids(1, {.target = "elsewhere"}), ElementsAre(newer));
  EXPECT_THAT(table_.ListGroups(kClient, {}, -1),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  // The queued commands and the result expire.
  clock_.Advance(absl::Minutes(2));
  table_.FireDeadlines(clock_.Now());
  EXPECT_THAT(ids(0), ElementsAre(newer, older, cancelled, completed, failed));
}

TEST_F(CommandListingTest, PageSizeHasDefaultAndLimit) {
  for (int i = 0; i < 1001; ++i) Register();
  EXPECT_THAT(table_.List(kClient, {}, 0, "")->commands, SizeIs(kDefaultPageSize));
  ASSERT_OK_AND_ASSIGN(const CommandPage page, table_.List(kClient, {}, 5000, ""));
  EXPECT_THAT(page.commands, SizeIs(kMaxPageSize));
  const CommandPage rest = *table_.List(kClient, {}, 5000, page.next_page_token);
  EXPECT_THAT(rest.commands, SizeIs(1));
  EXPECT_EQ(rest.next_page_token, "");
  EXPECT_EQ(table_.List(kClient, {}, 1001, "")->commands.size(), 1000u);
}

TEST_F(CommandListingTest, InvalidPageSizeAndTokenAreRefused) {
  EXPECT_THAT(table_.List(kClient, {}, -1, ""),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  for (const char* token : {"x", "-1", "1x", "99999999999999999999999"}) {
    EXPECT_THAT(table_.List(kClient, {}, 2, token),
                FailsWith(StatusCode::kInvalidArgument, "invalid_page_token"));
  }
}

TEST_F(CommandListingTest, DoesNotCountAsReadingAResult) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  EXPECT_THAT(List({}), ElementsAre(id));
  Advance(absl::Seconds(60));
  EXPECT_EQ(StateOf(id), State::kExpired);
  EXPECT_THAT(List({.states = {State::kExpired}}), ElementsAre(id));
}

TEST_F(CommandListingTest, CommandOfOtherClientLooksUnknownToEveryCall) {
  const auto unknown = FailsWith(StatusCode::kNotFound, "unknown_command");
  const std::string id = Register();
  const auto feed = std::make_shared<RecordingFeed>();
  EXPECT_THAT(Get(id, "other"), unknown);
  EXPECT_THAT(table_.Cancel("other", id, clock_.Now()), unknown);
  EXPECT_THAT(table_.Expire("other", id, {}, clock_.Now()), unknown);
  EXPECT_THAT(table_.Watch(id, {.clients = "other", .feed = feed}), unknown);
  EXPECT_THAT(List({}, "other"), IsEmpty());
  ASSERT_OK(table_.Expire(kClient, id, {}, clock_.Now()));
  EXPECT_THAT(table_.Replay("other", id, "", clock_.Now()), unknown);
  Advance(absl::Minutes(10));
  EXPECT_THAT(Get(id, "other"), unknown);
  EXPECT_THAT(feed->seen, IsEmpty());
}

TEST_F(CommandListingTest, ScopeOfAllClientsReachesEveryCommand) {
  const ClientScope all = ClientScope::All();
  const std::string first = Register();
  CommandRequest request = Request();
  request.client_id = "other";
  request.target = "elsewhere";
  const std::string second = Register(request);
  request.client_id = "third";
  const std::string third = Register(request);
  const auto ids = [&](const absl::StatusOr<CommandPage>& page) {
    std::vector<std::string> found;
    for (const CommandPtr& command : page->commands) found.push_back(IdOf(*command));
    return found;
  };
  EXPECT_THAT(ids(table_.List(all, {}, 0, "")), ElementsAre(third, second, first));
  EXPECT_THAT(ids(table_.List(all, {.target = "elsewhere"}, 0, "")), ElementsAre(third, second));
  EXPECT_THAT(ids(table_.List(all, {.states = {State::kQueued}}, 0, "")),
              ElementsAre(third, second, first));
  const auto page = table_.List(all, {}, 2, "");
  EXPECT_THAT(ids(page), ElementsAre(third, second));
  EXPECT_THAT(ids(table_.List(all, {}, 2, page->next_page_token)), ElementsAre(first));
  EXPECT_OK(table_.Get(all, second, false));
  EXPECT_OK(table_.Cancel(all, second, clock_.Now()));
  EXPECT_OK(table_.Expire(all, third, {}, clock_.Now()));
  const auto again = table_.Replay(all, third, "", clock_.Now());
  ASSERT_OK(again);
  EXPECT_EQ(again->command->spec->client_id(), "third");
}

TEST_F(CommandListingTest, ResultReadThroughAllClientsScopeIsNotCollected) {
  const std::string id = Register();
  const auto feed = std::make_shared<RecordingFeed>();
  ASSERT_OK(table_.Watch(id, {.clients = ClientScope::All(), .feed = feed}));
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(table_.Get(ClientScope::All(), id, /*peek=*/false));
  ASSERT_OK(table_.Watch(id, {.clients = ClientScope::All(), .feed = feed}));
  EXPECT_THAT(feed->seen, testing::Not(IsEmpty()));
  Advance(absl::Seconds(60));
  EXPECT_EQ(StateOf(id), State::kExpired);
}

TEST_F(CommandListingTest, ScopeOfAllClientsReportsRemovedCommand) {
  const std::string id = Register();
  ASSERT_OK(Complete(LeaseOne()));
  ASSERT_OK(table_.Get(kClient, id, /*peek=*/false));
  Advance(absl::Seconds(60));
  EXPECT_THAT(table_.Get(ClientScope::All(), id, true),
              FailsWith(StatusCode::kNotFound, "command_removed"));
}

}  // namespace
}  // namespace callslip::tracker
