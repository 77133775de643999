// An annotation store that is restored from its journal.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/mortal_journal_storage.h"
#include "tracker/domain/annotation/annotation_store_fixture.h"

namespace callslip::tracker {
namespace {

// A store and a table whose process ends and starts again. Restart() stores the journal first.
class AnnotationRestoreTest : public AnnotationStoreTest {
 protected:
  explicit AnnotationRestoreTest(const AnnotationLimits& limits = {})
      : AnnotationStoreTest(limits), limits_(limits) {
    NewStore();
  }

  void SetUp() override { ASSERT_OK(storage_.Restart()); }

  void NewStore() {
    std::destroy_at(&store_);
    std::destroy_at(&table_);
    std::construct_at(&table_, clocks_, CommandLimits(), &journal_);
    std::construct_at(&store_, &table_, limits_, &journal_);
  }

  void Commit() {
    const Journal::Batch batch = journal_.Take();
    ASSERT_OK(storage_->Append(storage_->position(), batch.entries));
  }

  void Begin(absl::Time now) {
    NewStore();
    ASSERT_OK(storage_.Restart());
    std::vector<JournalEntry> of_drawings;
    ASSERT_OK(table_.Restore(*storage_, now,
                             [&](JournalEntry entry) { of_drawings.push_back(std::move(entry)); }));
    store_.Restore(std::move(of_drawings), now);
    table_.FireDeadlines(now);
  }
  // The process ends, and begins anew after `down`.
  void Restart(absl::Duration down = absl::ZeroDuration()) {
    Commit();
    clock_.Advance(down);
    Begin(clock_.Now());
  }
  // As above, without the changes that were not stored.
  void Crash() {
    journal_.Take();
    Begin(clock_.Now());
  }

  std::vector<DrawingPtr> Drawings() {
    const auto page = store_.List(kClient, {}, 0, "", clock_.Now());
    EXPECT_OK(page);
    return page->drawings;
  }
  // The number of stored entries that concern drawings.
  size_t Stored() {
    Commit();
    EXPECT_OK(storage_->WriteRows());
    size_t entries = 0;
    const auto clocks = std::make_shared<const CommandDeadlines>();
    EXPECT_OK(storage_->Replay([&](const DeadlineOverrides&, CommandClass) { return clocks; },
                               [&](const JournalEntry& entry) {
                                 const auto& change = entry.change;
                                 if (std::holds_alternative<DrawingRecord>(change)) ++entries;
                                 if (std::holds_alternative<DrawingAnswer>(change)) ++entries;
                               }));
    return entries;
  }
  void Collect(const std::string& client) {
    ASSERT_OK_AND_ASSIGN(const DrawingPage page, store_.List(client, {}, 0, "", clock_.Now()));
    store_.Collect(client, page.drawings);
  }

  CommandDeadlines clocks_;
  const AnnotationLimits limits_;
  MortalJournalStorage storage_;
  Journal journal_;
};

// Requests that wait.

TEST_F(AnnotationRestoreTest, RestoredRequestWaitsForMatchingDrawing) {
  const std::string any = Wait();
  const std::string other_tab = Wait(For(8));
  const std::string same_tab = Wait(For(7, "", "other"));
  const std::string session = Wait(For(std::nullopt, "7/re view"));
  const std::string tab_of_session = Wait(For(0, "7/re view"));
  AnnotationRequest elsewhere;
  elsewhere.query.target = "second-browser";
  const std::string other_target = Wait(elsewhere);
  Restart();
  EXPECT_EQ(store_.waiters(), 6);
  EXPECT_THAT(Draw(In(7, "1")).completed, ElementsAre(any, same_tab));
  EXPECT_EQ(ResultOf(any), "1");
  EXPECT_EQ(ResultOf(same_tab, "other"), "1");
  Restart();
  EXPECT_THAT(Draw(In(9, "2", "7/re view")).completed, ElementsAre(session));
  EXPECT_EQ(ResultOf(session), "[2]");
  EXPECT_THAT(Draw(In(0, "3", "7/re view")).completed, ElementsAre(tab_of_session));
  EXPECT_EQ(ResultOf(tab_of_session), "[3]");
  EXPECT_EQ(StateOf(other_tab), State::kQueued);
  EXPECT_EQ(StateOf(other_target), State::kQueued);
}

TEST_F(AnnotationRestoreTest, DrawingForOneClientStaysPrivate) {
  const std::string id = Wait(For(8));
  Drawing drawing = In(7, "1");
  drawing.clients = ClientScope("other");
  Draw(drawing, {id});
  Restart();
  EXPECT_THAT(Drawings(), IsEmpty());
  EXPECT_EQ(StateOf(id), State::kQueued);
  Wait(For(7));
  EXPECT_EQ(Found(For(7, "", "other")), "1");
}

TEST_F(AnnotationRestoreTest, RepeatedRequestReturnsSameCommand) {
  AnnotationRequest request = For(7, "review");
  request.request_id = "r1";
  const std::string id = Wait(request);
  Restart();
  EXPECT_EQ(Wait(request), id);
  EXPECT_EQ(store_.waiters(), 1);
  request.query.tab_id = 8;
  EXPECT_THAT(TryAsk(request), FailsWith(StatusCode::kAlreadyExists, "request_id_reused"));
}

TEST_F(AnnotationRestoreTest, CommandNotWaitingForDrawingIsLeftAlone) {
  const std::string registered_elsewhere = Register(HumanRequest());
  CommandRequest replayed = HumanRequest();
  replayed.type = "annotations";
  const std::string of_the_same_type = Register(replayed);
  ASSERT_OK(Cancel(Wait()));
  Restart();
  EXPECT_EQ(store_.waiters(), 0);
  EXPECT_THAT(Draw(In(7, "1")).completed, IsEmpty());
  EXPECT_EQ(StateOf(registered_elsewhere), State::kQueued);
  EXPECT_EQ(StateOf(of_the_same_type), State::kQueued);
}

TEST_F(AnnotationRestoreTest, RequestExpiresAtItsOriginalDeadline) {
  const std::string id = Wait();
  Restart(absl::Minutes(4));
  ExpectEndAfter(absl::Minutes(6), id, State::kExpired, "user_did_not_finish", false);
  EXPECT_THAT(Listed(), IsEmpty());
  EXPECT_EQ(store_.waiters(), 0);
}

// Nobody could draw meanwhile, so the request gets the same grace as other commands.
TEST_F(AnnotationRestoreTest, DrawingWithinRestartGraceIsInTime) {
  const std::string id = Wait();
  Restart(absl::Hours(1));
  Advance(clocks_.restart_grace - kTick);
  EXPECT_THAT(Draw(In(7, "1")).completed, ElementsAre(id));
}

TEST_F(AnnotationRestoreTest, ClockSetBackDoesNotProlongWait) {
  const std::string id = Wait(For(7));
  Commit();
  const absl::Time now = clock_.Now() - absl::Hours(1);
  Begin(now);
  ASSERT_OK_AND_ASSIGN(const AppendedDrawing appended,
                       store_.Append(In(7, "1"), {}, "", now + absl::Minutes(10) - kTick));
  EXPECT_THAT(appended.completed, ElementsAre(id));
  Wait(For(7));
  Commit();
  Begin(now);
  ASSERT_OK(store_.List(kClient, {}, 0, "", now + absl::Minutes(10)));
  EXPECT_EQ(store_.waiters(), 0);
}

// Drawings.

TEST_F(AnnotationRestoreTest, DrawingIsRestoredCompletely) {
  Drawing drawing = In(7, std::string("[\"\0\xff\"]", 6), "review");
  drawing.target = "second-browser";
  Draw(drawing);
  Draw({.content = Bytes(std::string(1 << 20, '1'))});
  const int64_t bytes = store_.bytes();
  ASSERT_OK_AND_ASSIGN(const DrawingPage before,
                       store_.List(kClient, {.target = "second-browser"}, 0, "", clock_.Now()));
  Restart(absl::Minutes(1));
  ASSERT_OK_AND_ASSIGN(const DrawingPage page,
                       store_.List(kClient, {.target = "second-browser"}, 0, "", clock_.Now()));
  ASSERT_THAT(page.drawings, SizeIs(1));
  const Drawing& after = *page.drawings[0];
  EXPECT_EQ(after.target, "second-browser");
  EXPECT_EQ(after.tab_id, 7);
  EXPECT_EQ(after.url, "http://page/");
  EXPECT_EQ(after.title, "A page");
  EXPECT_EQ(after.session, "review");
  EXPECT_EQ(*after.content, *drawing.content);
  EXPECT_EQ(after.sequence, before.drawings[0]->sequence);
  EXPECT_EQ(after.append_time, before.drawings[0]->append_time);
  EXPECT_THAT(Listed(), ElementsAre(std::string(1 << 20, '1')));
  EXPECT_EQ(store_.drawings(), 2);
  EXPECT_EQ(store_.bytes(), bytes);
}

TEST_F(AnnotationRestoreTest, DrawingsKeepTheirOrderAndNewOnesFollow) {
  Draw(In(7, "1", "review"));
  Draw(In(8, "2", "review"));
  const uint64_t last = Drawings()[0]->sequence;
  Restart();
  EXPECT_EQ(Found(For(std::nullopt, "review")), "[1,2]");
  Draw(In(7, "3", "review"));
  EXPECT_GT(Drawings()[0]->sequence, last);
  EXPECT_THAT(Listed(), ElementsAre("3", "2", "1"));
  EXPECT_GT(Peek(Register()).spec->sequence, Drawings()[0]->sequence);
}

TEST_F(AnnotationRestoreTest, ReplacedDrawingIsGone) {
  Draw(In(7, "1"));
  Commit();
  Draw(In(7, "2"));
  Restart();
  EXPECT_THAT(Listed(), ElementsAre("2"));
  EXPECT_EQ(Stored(), 1u);
}

TEST_F(AnnotationRestoreTest, DrawingExpiresAtItsOriginalDeadline) {
  Draw(In(7, "1"));
  Draw(In(7, "2", "review"));
  Restart(absl::Minutes(10) - kTick);
  EXPECT_THAT(Listed(), ElementsAre("2", "1"));
  Restart(kTick);
  EXPECT_EQ(store_.drawings(), 1);
  EXPECT_THAT(Listed(), ElementsAre("2"));
  Restart(absl::Hours(24));
  EXPECT_EQ(store_.drawings(), 0);
  EXPECT_EQ(store_.bytes(), 0);
  EXPECT_EQ(Stored(), 0u);
}

TEST_F(AnnotationRestoreTest, ClockSetBackDoesNotProlongDrawing) {
  Draw(In(7, "1"), {}, "d1");
  Commit();
  const absl::Time now = clock_.Now() - absl::Hours(30);
  Begin(now);
  ASSERT_OK_AND_ASSIGN(DrawingPage page,
                       store_.List(kClient, {}, 0, "", now + absl::Minutes(10) - kTick));
  ASSERT_THAT(page.drawings, SizeIs(1));
  EXPECT_EQ(page.drawings[0]->append_time, now);
  ASSERT_OK_AND_ASSIGN(page, store_.List(kClient, {}, 0, "", now + absl::Minutes(10)));
  EXPECT_THAT(page.drawings, IsEmpty());
  // Its id is not remembered for longer either.
  const absl::Time later = now + absl::Hours(24);
  ASSERT_OK(store_.Append(In(7, "1"), {}, "d1", later - kTick));
  EXPECT_EQ(store_.drawings(), 0);
  ASSERT_OK(store_.Append(In(7, "1"), {}, "d1", later));
  EXPECT_EQ(store_.drawings(), 1);
}

// Clients that have collected drawings.

TEST_F(AnnotationRestoreTest, CollectedDrawingsAreRememberedPerClient) {
  Draw(In(7, "1"));
  Commit();
  Collect("lister");
  EXPECT_EQ(Found(), "1");
  ASSERT_OK(store_.List("peeker", {}, 0, "", clock_.Now()));
  Restart();
  Restart();
  Wait();
  Wait(For(7, "", "lister"));
  EXPECT_EQ(Found(For(7, "", "peeker")), "1");
  EXPECT_EQ(Found(For(7, "", "other")), "1");
}

TEST_F(AnnotationRestoreTest, DrawingIsCollectedOnceItsResultIsRead) {
  const std::string id = Wait();
  Draw(In(7, "1"));
  Restart();
  EXPECT_EQ(Found(), "1");
  Restart();
  Wait();
  EXPECT_EQ(ResultOf(id), "1");
}

TEST_F(AnnotationRestoreTest, ResultReadAfterRestartCollectsDrawing) {
  const std::string id = Wait();
  Draw(In(7, "1"));
  Restart();
  EXPECT_EQ(ResultOf(id), "1");
  const std::string next = Wait();
  Restart();
  EXPECT_EQ(StateOf(next), State::kQueued);
}

TEST_F(AnnotationRestoreTest, DrawingOfRemovedCommandStaysCollected) {
  const std::string id = Wait(For(std::nullopt, "review"));
  Draw(In(7, "1", "review"));
  EXPECT_EQ(ResultOf(id), "[1]");
  Advance(absl::Hours(1));
  EXPECT_THAT(Get(id), FailsWith(StatusCode::kNotFound, "command_removed"));
  Restart();
  Wait(For(std::nullopt, "review"));
  Restart(clocks_.tombstone_retention);
  EXPECT_THAT(Get(id), FailsWith(StatusCode::kNotFound, "unknown_command"));
  Wait(For(std::nullopt, "review"));
}

TEST_F(AnnotationRestoreTest, DrawingRemainsWhenResultExpiresUnread) {
  const std::string id = Wait();
  Draw(In(7, "1", "review"));
  Advance(kAnnotationResultRetention);
  ASSERT_EQ(Peek(id).error->code, "result_expired");
  Restart();
  Advance(clocks_.failed_retention);
  EXPECT_THAT(Get(id), FailsWith(StatusCode::kNotFound, "command_removed"));
  Restart();
  EXPECT_EQ(Found(), "1");
}

TEST_F(AnnotationRestoreTest, DrawingForCancelledRequestIsFoundLater) {
  const std::string id = Wait();
  ASSERT_OK(Cancel(id));
  EXPECT_THAT(Draw(In(7, "1"), {id}).completed, IsEmpty());
  Restart();
  Restart(absl::Minutes(9));
  EXPECT_EQ(Found(), "1");
}

// Drawings that are submitted again.

TEST_F(AnnotationRestoreTest, RepeatedDrawingIsStoredOnceAndGetsSameAnswer) {
  const std::string waiting = Wait();
  const std::string named = Register(HumanRequest());
  EXPECT_THAT(Draw(In(7, "1", "review"), {named}, "d1").completed, ElementsAre(waiting, named));
  EXPECT_THAT(Draw(In(7, "2", "review"), {}, "d2").completed, IsEmpty());
  EXPECT_EQ(ResultOf(waiting), "1");
  Collect(kClient);
  const std::string later = Wait();
  Restart();
  const AppendedDrawing again = Draw(In(7, "1", "review"), {named, later}, "d1");
  EXPECT_THAT(again.completed, ElementsAre(waiting, named));
  EXPECT_TRUE(again.stored);
  EXPECT_THAT(Draw(In(7, "2", "review"), {}, "d2").completed, IsEmpty());
  EXPECT_EQ(StateOf(later), State::kQueued);
  EXPECT_THAT(Listed(), ElementsAre("2", "1"));
  Drawing elsewhere = In(7, "3");
  elsewhere.target = "second-browser";
  Draw(elsewhere, {}, "d1");
  EXPECT_THAT(Listed({.target = "second-browser"}), ElementsAre("3"));
}

TEST_F(AnnotationRestoreTest, RepeatDoesNotRestoreReplacedDrawing) {
  Draw(In(7, "1"), {}, "d1");
  Draw(In(7, "2"), {}, "d2");
  Restart();
  EXPECT_TRUE(Draw(In(7, "1"), {}, "d1").stored);
  EXPECT_THAT(Listed(), ElementsAre("2"));
}

TEST_F(AnnotationRestoreTest, DrawingIdIsRememberedForOneDay) {
  Draw(In(7, "1"), {}, "d1");
  Restart(absl::Hours(24) - kTick);
  Draw(In(7, "1"), {}, "d1");
  EXPECT_THAT(Listed(), IsEmpty());
  Restart(kTick);
  Draw(In(7, "1"), {}, "d1");
  EXPECT_THAT(Listed(), ElementsAre("1"));
  // The drawing and its answer, and nothing of the previous drawing.
  EXPECT_EQ(Stored(), 2u);
}

class SmallAnnotationRestoreTest : public AnnotationRestoreTest {
 protected:
  SmallAnnotationRestoreTest()
      : AnnotationRestoreTest([] {
          AnnotationLimits limits;
          limits.drawings = 1;
          limits.waiters = 1;
          limits.remembered = 2;
          limits.receipts_of_drawing = 2;
          return limits;
        }()) {}
};

TEST_F(SmallAnnotationRestoreTest, LatestDrawingIdsAreRemembered) {
  for (const char* id : {"d1", "d2", "d3"}) Draw(In(7, "1"), {}, id);
  EXPECT_EQ(Stored(), 3u);
  Crash();
  EXPECT_FALSE(Draw(In(8, "2"), {}, "d1").stored);  // No room.
  EXPECT_TRUE(Draw(In(8, "2"), {}, "d3").stored);
  EXPECT_THAT(Listed(), ElementsAre("1"));
}

TEST_F(SmallAnnotationRestoreTest, DrawingWithoutRoomIsAlsoRemembered) {
  Draw(In(7, "1"));
  const std::string id = Wait(For(8));
  EXPECT_FALSE(Draw(In(8, "2"), {}, "d1").stored);
  Restart(absl::Minutes(10));
  const AppendedDrawing again = Draw(In(8, "2"), {}, "d1");
  EXPECT_FALSE(again.stored);
  EXPECT_THAT(again.completed, ElementsAre(id));
  EXPECT_THAT(Listed(), IsEmpty());
}

TEST_F(SmallAnnotationRestoreTest, LimitsCountRestoredWaitsAndDrawings) {
  Wait(For(8));
  Draw(In(7, "1"));
  for (const char* client : {"a", "b", "c"}) Collect(client);
  Restart();
  EXPECT_THAT(TryAsk(For(8)), FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  EXPECT_FALSE(Draw(In(9, "2")).stored);
  // The first receipt was dropped.
  EXPECT_EQ(Found(For(7, "", "a")), "1");
  EXPECT_THAT(TryAsk(For(7, "", "c")), FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
}

// The process ends in the middle of a call.

TEST_F(AnnotationRestoreTest, RequestRegisteredBeforeCrashFindsItsDrawing) {
  Draw(In(7, "1", "review"));
  AnnotationRequest request = For(std::nullopt, "review");
  request.request_id = "r1";
  Interrupt(kClient, [&] { Commit(); });
  Ask(request);
  Crash();
  const auto again = TryAsk(request);
  ASSERT_OK(again);
  EXPECT_TRUE(again->existed);
  ASSERT_NE(again->command->result, nullptr);
  EXPECT_EQ(*again->command->result, "[1]");
  EXPECT_EQ(store_.waiters(), 0);
}

TEST_F(AnnotationRestoreTest, DrawingStoredBeforeCrashCompletesItsCommands) {
  const std::string first = Wait();
  const std::string second = Wait(For(std::nullopt, "review", "other"));
  const std::string other_tab = Wait(For(8));
  CommandRequest elsewhere = HumanRequest();
  const std::string named = Register(elsewhere);
  Commit();
  Interrupt(kClient, [&] { Commit(); });
  const std::vector<std::string> names = {other_tab, named};
  const auto all = Draw(In(7, "1", "review"), names, "d1").completed;
  EXPECT_THAT(all, SizeIs(4));
  Crash();
  EXPECT_EQ(ResultOf(first), "1");
  EXPECT_EQ(ResultOf(second, "other"), "[1]");
  EXPECT_EQ(ResultOf(other_tab), "1");
  EXPECT_EQ(ResultOf(named), "1");
  EXPECT_EQ(store_.waiters(), 0);
  // The drawing was never answered, so it is submitted again.
  const AppendedDrawing again = Draw(In(7, "1", "review"), names, "d1");
  EXPECT_TRUE(again.stored);
  EXPECT_THAT(again.completed, testing::UnorderedElementsAreArray(all));
  EXPECT_THAT(Listed(), ElementsAre("1"));
  // All requests have the drawing, and a new request waits for the next one.
  const std::string next = Wait();
  Restart();
  EXPECT_EQ(StateOf(next), State::kQueued);
}

// Its id belongs to its client after that, too.
TEST_F(AnnotationRestoreTest, PrivateDrawingStoredBeforeCrashIsKnownById) {
  Drawing drawing = In(7, "1");
  drawing.clients = ClientScope(kClient);
  const std::string waiting = Wait();
  Commit();
  Interrupt(kClient, [&] { Commit(); });
  const auto all = Draw(drawing, {}, "d1").completed;
  EXPECT_THAT(all, ElementsAre(waiting));
  Crash();
  EXPECT_EQ(Draw(drawing, {}, "d1").completed, all);
  EXPECT_THAT(Draw(In(7, "2"), {}, "d1").completed, IsEmpty()) << "another one's id";
}

TEST_F(AnnotationRestoreTest, DrawingWithoutIdStoredBeforeCrashCompletesCommands) {
  const std::string first = Wait();
  const std::string other_tab = Wait(For(8));
  Commit();
  Interrupt(kClient, [&] { Commit(); });
  Draw(In(7, "1"), {other_tab});
  Crash();
  EXPECT_EQ(ResultOf(first), "1");
  EXPECT_EQ(ResultOf(other_tab), "1");
  EXPECT_THAT(Draw(In(8, "2")).completed, IsEmpty());
  // The next restart has nothing left to do.
  Commit();
  const uint64_t before = journal_.appended();
  Restart();
  // The entry of the restart itself.
  EXPECT_EQ(journal_.appended(), before + 1);
  EXPECT_EQ(*Peek(other_tab).result, "1");
}

TEST_F(AnnotationRestoreTest, CancelDuringCompletionLeavesDrawing) {
  const std::string first = Wait();
  const std::string second = Wait(For(7, "", "other"));
  Interrupt(kClient, [&] {
    ASSERT_OK(table_.Cancel("other", second, clock_.Now()));
    ASSERT_OK(Get(second, "other"));
    Commit();
  });
  EXPECT_THAT(Draw(In(7, "1", "review")).completed, ElementsAre(first));
  Crash();
  // The cancelled request is removed, and its client has still received nothing.
  Restart(absl::Hours(1));
  Advance(clocks_.restart_grace);
  EXPECT_THAT(Get(second, "other"), FailsWith(StatusCode::kNotFound, "command_removed"));
  Restart();
  EXPECT_EQ(Found(For(7, "", "other")), "1");
}

TEST_F(AnnotationRestoreTest, DrawingRemainsWhenCancelledCommandIsRemoved) {
  Wait();
  const std::string second = Wait(For(7, "", "other"));
  Interrupt(kClient, [&] { ASSERT_OK(table_.Cancel("other", second, clock_.Now())); });
  Draw(In(7, "1", "review"));
  Advance(clocks_.failed_retention);
  EXPECT_THAT(Get(second, "other"), FailsWith(StatusCode::kNotFound, "command_removed"));
  Restart();
  EXPECT_EQ(Found(For(7, "", "other")), "1");
}

TEST_F(AnnotationRestoreTest, CompletedAppendLeavesNothingForRestart) {
  Wait();
  Draw(In(7, "1"), {}, "d1");
  Commit();
  ASSERT_OK(storage_.Restart());
  const auto clocks = std::make_shared<const CommandDeadlines>();
  int records = 0;
  ASSERT_OK(storage_->Replay([&](const DeadlineOverrides&, CommandClass) { return clocks; },
                             [&](const JournalEntry& entry) {
                               const auto* record = std::get_if<DrawingRecord>(&entry.change);
                               if (record == nullptr) return;
                               ++records;
                               EXPECT_THAT(record->receipts, SizeIs(1));
                               EXPECT_THAT(record->to_complete, IsEmpty());
                             }));
  EXPECT_EQ(records, 1);
}

// Entries of the journal.

TEST_F(AnnotationRestoreTest, DrawingsAreRefusedWhileStorageFails) {
  const std::string id = Wait();
  Commit();
  journal_.AcceptCommands(false);
  const auto append = [&] { return store_.Append(In(7, "1"), {}, "d1", clock_.Now()); };
  EXPECT_THAT(append(), FailsWith(StatusCode::kUnavailable, "storage_unavailable"));
  EXPECT_EQ(store_.drawings(), 0);
  EXPECT_EQ(StateOf(id), State::kQueued);
  EXPECT_THAT(journal_.Take().entries, IsEmpty());
  journal_.AcceptCommands(true);
  ASSERT_OK_AND_ASSIGN(const AppendedDrawing appended, append());
  EXPECT_TRUE(appended.stored);
  EXPECT_THAT(appended.completed, ElementsAre(id));
}

TEST_F(AnnotationRestoreTest, CallsWithoutChangeAppendNothing) {
  Draw(In(7, "1", "review"), {}, "d1");
  EXPECT_EQ(Found(For(std::nullopt, "review")), "[1]");
  Collect("lister");
  const uint64_t before = journal_.appended();
  Collect(kClient);
  Collect("lister");
  Listed();
  Draw(In(7, "1", "review"), {}, "d1");
  EXPECT_EQ(journal_.appended(), before);
  Restart();
  // The entry of the restart itself.
  EXPECT_EQ(journal_.appended(), before + 1);
}

TEST_F(AnnotationRestoreTest, DrawingThatCompletesNoCommandIsAppendedOnce) {
  Draw(In(7, "1"));
  EXPECT_EQ(journal_.appended(), 1u);
}

}  // namespace
}  // namespace callslip::tracker
