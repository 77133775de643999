#include "tracker/domain/annotation/annotation_store.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracker/domain/annotation/annotation_store_fixture.h"

namespace callslip::tracker {
namespace {

AnnotationLimits SmallLimits() {
  AnnotationLimits limits;
  limits.drawings_of_session = 3;
  limits.bytes_of_session = 100;
  limits.drawings = 5;
  limits.bytes = 200;
  limits.waiters_of_client = 2;
  limits.waiters = 3;
  limits.remembered = 3;
  return limits;
}

class SmallAnnotationStoreTest : public AnnotationStoreTest {
 protected:
  SmallAnnotationStoreTest() : AnnotationStoreTest(SmallLimits()) {}
};

// Asking, then drawing.

TEST_F(AnnotationStoreTest, RequestWaitsUntilThePersonHasDrawn) {
  const std::string id = Wait();
  EXPECT_TRUE(CommandId::Parse(id)->is_annotation());
  const AppendedDrawing appended = Draw(In(7, "1"));
  EXPECT_THAT(appended.completed, ElementsAre(id));
  EXPECT_TRUE(appended.stored);
  EXPECT_EQ(ResultOf(id), "1");
  EXPECT_EQ(store_.waiters(), 0);
}

// No drawing would complete the new command.
TEST_F(AnnotationStoreTest, ExpiredRequestCannotBeReplayed) {
  const std::string id = Wait();
  Advance(CommandDeadlines().human_schedule_to_close);
  ASSERT_EQ(StateOf(id), State::kExpired);
  EXPECT_THAT(table_.Replay(kClient, id, "", clock_.Now()),
              FailsWith(StatusCode::kFailedPrecondition, "not_replayable"));
  // Other commands for people contain all that they need.
  const std::string other = Register(HumanRequest());
  Advance(CommandDeadlines().human_schedule_to_close);
  EXPECT_OK(table_.Replay(kClient, other, "", clock_.Now()));
}

// The caller reports that it has received the result.
TEST_F(AnnotationStoreTest, DrawingStaysNewUntilItIsCollected) {
  Draw(In(7, "1"));
  const CommandSnapshot lost = Ask({.peek = true});
  ASSERT_EQ(lost.state, State::kCompleted);
  const CommandSnapshot again = Ask({.peek = true});
  ASSERT_EQ(again.state, State::kCompleted);
  store_.Collect(again);
  Wait();
}

TEST_F(AnnotationStoreTest, DrawingCompletesMatchingRequestsOnly) {
  const std::string any = Wait();
  const std::string same_tab = Wait(For(7));
  const std::string of_other = Wait(For(7, "", "other"));
  const std::string other_tab = Wait(For(8));
  const std::string session = Wait(For(std::nullopt, "review"));
  AnnotationRequest elsewhere;
  elsewhere.query.target = "second-browser";
  const std::string other_target = Wait(elsewhere);

  EXPECT_THAT(Draw(In(7, "1")).completed, ElementsAre(any, same_tab, of_other));
  EXPECT_EQ(ResultOf(any), "1");
  EXPECT_EQ(ResultOf(of_other, "other"), "1");
  for (const std::string& id : {other_tab, session, other_target}) {
    EXPECT_EQ(StateOf(id), State::kQueued);
  }
  EXPECT_EQ(store_.waiters(), 3);
}

// A caller at an open port draws for the client `local` alone.
TEST_F(AnnotationStoreTest, DrawingForOneClientIsHiddenFromOthers) {
  const std::string own = Wait(For(7, "", "other"));
  const std::string waits = Wait(For(7));
  const std::string named = Register(HumanRequest());
  Draw(In(8, "kept"));
  Drawing drawing = In(7, "1");
  drawing.clients = ClientScope("other");
  EXPECT_THAT(Draw(drawing, {waits, named, own}).completed, ElementsAre(own));
  EXPECT_EQ(StateOf(waits), State::kQueued);
  EXPECT_EQ(StateOf(named), State::kQueued);
  drawing.tab_id = 8;
  Draw(drawing);
  EXPECT_EQ(Found(For(8)), "kept");
  EXPECT_EQ(Found(For(8, "", "other")), "1");
}

TEST_F(AnnotationStoreTest, SessionDrawingAlsoCompletesRequestForItsTab) {
  const std::string tab = Wait(For(7));
  const std::string session = Wait(For(std::nullopt, "review"));
  const std::string other_session = Wait(For(std::nullopt, "other"));
  EXPECT_THAT(Draw(In(7, "1", "review")).completed, ElementsAre(tab, session));
  EXPECT_EQ(ResultOf(tab), "1");
  EXPECT_EQ(ResultOf(session), "[1]");
  EXPECT_EQ(StateOf(other_session), State::kQueued);
}

TEST_F(AnnotationStoreTest, DrawingCompletesTheCommandsThatItNames) {
  const std::string other_tab = Wait(For(8));
  const std::string registered_elsewhere = Register(HumanRequest());
  EXPECT_THAT(Draw(In(7, "1"), {other_tab, other_tab, registered_elsewhere}).completed,
              ElementsAre(other_tab, registered_elsewhere));
  EXPECT_EQ(ResultOf(other_tab), "1");
  EXPECT_EQ(ResultOf(registered_elsewhere), "1");
}

TEST_F(AnnotationStoreTest, DrawingDoesNotCompleteWorkerCommand) {
  const std::string id = Register();
  LeaseOne();
  EXPECT_THAT(
      Draw(In(7, "1"), {id, "ann_1_00000000000000000000000000000000", "nonsense", ""}).completed,
      IsEmpty());
  EXPECT_EQ(StateOf(id), State::kDelivered);
}

TEST_F(AnnotationStoreTest, OtherClientDoesNotSeeCommand) {
  const std::string id = Wait();
  Draw(In(7, "1"));
  EXPECT_THAT(Get(id, "other"), FailsWith(StatusCode::kNotFound, "unknown_command"));
}

// Drawing, then asking.

TEST_F(AnnotationStoreTest, DrawingWithoutWaitingRequestIsFoundLater) {
  EXPECT_THAT(Draw(In(7, "1")).completed, IsEmpty());
  EXPECT_EQ(Found(), "1");
  // The drawing was collected: the next request gets the next one.
  EXPECT_THAT(Draw(In(7, "2")).completed, IsEmpty());
  EXPECT_EQ(Found(), "2");
  Wait();
}

TEST_F(AnnotationStoreTest, EachClientCollectsDrawingsIndependently) {
  Draw(In(7, "1"));
  EXPECT_EQ(Found(), "1");
  EXPECT_EQ(Found(For(7, "", "other")), "1");
  Wait();
}

TEST_F(AnnotationStoreTest, LatestDrawingOfEachTabIsStored) {
  Draw(In(7, "1"));
  Draw(In(8, "2"));
  Draw(In(7, "3"));
  EXPECT_THAT(Listed(), ElementsAre("3", "2"));
  EXPECT_EQ(Found(For(8)), "2");
  EXPECT_EQ(Found(For(7)), "3");
}

TEST_F(AnnotationStoreTest, RequestForSessionGetsAllItsDrawings) {
  Draw(In(7, "1", "review"));
  Draw(In(8, "2"));
  Draw(In(8, "3", "review"));
  EXPECT_EQ(Found(For(std::nullopt, "review")), "[1,3]");
  const std::string id = Wait(For(std::nullopt, "review"));
  Draw(In(7, "4", "review"));
  EXPECT_EQ(ResultOf(id), "[1,3,4]");
}

TEST_F(AnnotationStoreTest, RequestForTabInSessionGetsDrawingsOfThatTab) {
  Draw(In(7, "1", "review"));
  Draw(In(8, "2", "review"));
  EXPECT_EQ(Found(For(7, "review")), "[1]");
  EXPECT_EQ(Found(For(std::nullopt, "review")), "[1,2]");
}

TEST_F(AnnotationStoreTest, OversizedSessionResultContainsLatestDrawings) {
  const std::string large(kMaxDrawingBytes / 2, '1');
  for (const char* first : {"7", "8", "9"}) {
    Draw(In(7, first + large.substr(1), "review"));
  }
  const std::string result = Found(For(std::nullopt, "review"));
  EXPECT_LE(result.size(), kMaxResultBytes);
  EXPECT_EQ(result.substr(0, 2), "[9");
}

TEST_F(AnnotationStoreTest, UnreadResultIsFoundByNextRequest) {
  const std::string id = Wait();
  Draw(In(7, "1"));
  EXPECT_EQ(Found(), "1");
  EXPECT_EQ(ResultOf(id), "1");
  Wait();
}

TEST_F(AnnotationStoreTest, DrawingForCancelledRequestIsFoundLater) {
  const std::string id = Wait();
  ASSERT_OK(Cancel(id));
  ASSERT_OK(Get(id));
  EXPECT_THAT(Draw(In(7, "1"), {id}).completed, IsEmpty());
  EXPECT_EQ(Found(), "1");
}

TEST_F(AnnotationStoreTest, RepeatedRequestReturnsSameCommand) {
  AnnotationRequest request;
  request.request_id = "r1";
  const std::string id = Wait(request);
  EXPECT_EQ(Wait(request), id);
  EXPECT_EQ(store_.waiters(), 1);
  Draw(In(7, "1"));
  const auto again = TryAsk(request);
  ASSERT_OK(again);
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(*again->command->result, "1");
  // The repeated request has collected the result.
  Wait();
}

// Drawings that are submitted again.

TEST_F(AnnotationStoreTest, RepeatedDrawingIsStoredOnceWithSameAnswer) {
  const std::string waiting = Wait();
  const std::string named = Register(HumanRequest());
  EXPECT_THAT(Draw(In(7, "1", "review"), {named}, "d1").completed, ElementsAre(waiting, named));
  // A request that waits now waits for another drawing.
  EXPECT_EQ(Found(For(7)), "1");
  const std::string later = Wait();
  // A browser that was restarted has lost the pictures.
  const AppendedDrawing again = Draw(In(7, "less", "review"), {named, later}, "d1");
  EXPECT_THAT(again.completed, ElementsAre(waiting, named));
  EXPECT_TRUE(again.stored);
  EXPECT_EQ(StateOf(later), State::kQueued);
  EXPECT_THAT(Listed(), ElementsAre("1"));
  EXPECT_THAT(Draw(In(7, "2", "review"), {}, "d2").completed, ElementsAre(later));
}

TEST_F(AnnotationStoreTest, RepeatDoesNotRestoreReplacedDrawing) {
  Draw(In(7, "1"), {}, "d1");
  Draw(In(7, "2"), {}, "d2");
  EXPECT_TRUE(Draw(In(7, "1"), {}, "d1").stored);
  EXPECT_THAT(Listed(), ElementsAre("2"));
}

TEST_F(AnnotationStoreTest, DrawingsWithoutIdAreNeverDuplicates) {
  EXPECT_TRUE(Draw(In(7, "1", "review")).stored);
  EXPECT_TRUE(Draw(In(7, "1", "review")).stored);
  EXPECT_THAT(Listed(), ElementsAre("1", "1"));
}

TEST_F(AnnotationStoreTest, DrawingIdsAreScopedToTheirTarget) {
  Draw(In(7, "1"), {}, "d1");
  Drawing elsewhere = In(7, "2");
  elsewhere.target = "second-browser";
  Draw(elsewhere, {}, "d1");
  EXPECT_THAT(Listed({.target = "second-browser"}), ElementsAre("2"));
}

TEST_F(AnnotationStoreTest, RefusedDrawingIsNotRemembered) {
  EXPECT_THAT(store_.Append(In(7, ""), {}, "d1", clock_.Now()),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  EXPECT_TRUE(Draw(In(7, "1"), {}, "d1").stored);
  EXPECT_THAT(Listed(), ElementsAre("1"));
}

TEST_F(AnnotationStoreTest, DrawingIsRememberedForADay) {
  Draw(In(7, "1"), {}, "d1");
  Advance(absl::Hours(24) - kTick);
  Draw(In(7, "1"), {}, "d1");
  EXPECT_THAT(Listed(), IsEmpty());
  Advance(kTick);
  Draw(In(7, "1"), {}, "d1");
  EXPECT_THAT(Listed(), ElementsAre("1"));
}

TEST_F(SmallAnnotationStoreTest, LatestDrawingsAreRemembered) {
  for (const char* id : {"d1", "d2", "d3", "d4"}) Draw(In(7, "1"), {}, id);
  Draw(In(8, "2"), {}, "d2");
  EXPECT_THAT(Listed(), ElementsAre("1"));
  Draw(In(8, "2"), {}, "d1");
  EXPECT_THAT(Listed(), ElementsAre("2", "1"));
}

TEST_F(SmallAnnotationStoreTest, UnstoredDrawingIsRememberedToo) {
  for (int tab = 1; tab <= 5; ++tab) Draw(In(tab, "1"));
  EXPECT_FALSE(Draw(In(6, "1"), {}, "d1").stored);
  Advance(absl::Minutes(10));
  EXPECT_FALSE(Draw(In(6, "1"), {}, "d1").stored);
  EXPECT_THAT(Listed(), IsEmpty());
}

// Calls that come between the steps of another call.

TEST_F(AnnotationStoreTest, DrawingDuringRegistrationIsFound) {
  Interrupt(kClient, [&] { Draw(In(7, "1")); });
  EXPECT_EQ(Found(), "1");
  EXPECT_EQ(store_.waiters(), 0);
}

TEST_F(AnnotationStoreTest, RequestDuringCompletionFindsDrawing) {
  Wait();
  std::string found;
  Interrupt(kClient, [&] { found = Found(For(7, "", "other")); });
  Draw(In(7, "1"));
  EXPECT_EQ(found, "1");
}

TEST_F(AnnotationStoreTest, CancelDuringCompletionLeavesDrawing) {
  const std::string first = Wait();
  const std::string second = Wait(For(7, "", "other"));
  Interrupt(kClient, [&] {
    EXPECT_EQ(StateOf(first), State::kCompleted);
    ASSERT_OK(table_.Cancel("other", second, clock_.Now()));
    ASSERT_OK(Get(second, "other"));
  });
  EXPECT_THAT(Draw(In(7, "1")).completed, ElementsAre(first));
  EXPECT_EQ(Found(For(7, "", "other")), "1");
}

// Listing.

TEST_F(AnnotationStoreTest, ListCollectsUnlessItPeeks) {
  Draw(In(7, "1"));
  EXPECT_THAT(Listed({}, /*peek=*/true), ElementsAre("1"));
  EXPECT_THAT(Listed({}, /*peek=*/false), ElementsAre("1"));
  EXPECT_THAT(Listed({}, /*peek=*/false), ElementsAre("1"));
  Wait();
  EXPECT_EQ(Found(For(7, "", "other")), "1");
}

TEST_F(AnnotationStoreTest, DrawingsAreListedInPages) {
  for (const char* content : {"1", "2", "3"}) Draw(In(7, content, "review"));
  ASSERT_OK_AND_ASSIGN(DrawingPage page, store_.List(kClient, {}, 2, "", clock_.Now()));
  EXPECT_EQ(*page.drawings[0]->content, "3");
  EXPECT_EQ(*page.drawings[1]->content, "2");
  ASSERT_OK_AND_ASSIGN(page, store_.List(kClient, {}, 2, page.next_page_token, clock_.Now()));
  ASSERT_THAT(page.drawings, SizeIs(1));
  EXPECT_EQ(*page.drawings[0]->content, "1");
  EXPECT_TRUE(page.next_page_token.empty());
  EXPECT_THAT(store_.List(kClient, {}, 0, "x", clock_.Now()),
              FailsWith(StatusCode::kInvalidArgument, "invalid_page_token"));
  EXPECT_THAT(store_.List(kClient, {}, -1, "", clock_.Now()),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(AnnotationStoreTest, PageOfLargeDrawingsEndsEarly) {
  for (int i = 0; i < 3; ++i) Draw(In(7, std::string(kMaxBytesOfPage / 2, '1'), "review"));
  ASSERT_OK_AND_ASSIGN(DrawingPage page, store_.List(kClient, {}, 0, "", clock_.Now()));
  EXPECT_THAT(page.drawings, SizeIs(1));
  EXPECT_FALSE(page.next_page_token.empty());
}

// Time.

TEST_F(AnnotationStoreTest, RequestExpiresAfterTenMinutes) {
  const std::string id = Wait();
  ExpectEndAfter(absl::Minutes(10), id, State::kExpired, "user_did_not_finish", false);
  EXPECT_THAT(Draw(In(7, "1"), {id}).completed, IsEmpty());
  EXPECT_EQ(store_.waiters(), 0);
  EXPECT_EQ(Found(), "1");
}

TEST_F(AnnotationStoreTest, ResultIsRetainedForNineMinutes) {
  const std::string id = Wait();
  Draw(In(7, "1"));
  Advance(absl::Minutes(9) - kTick);
  EXPECT_EQ(Peek(id).state, State::kCompleted);
  Advance(kTick);
  EXPECT_EQ(Peek(id).error->code, "result_expired");
}

TEST_F(AnnotationStoreTest, TabDrawingLastsTenMinutesAndSessionDrawingOneDay) {
  Draw(In(7, "1"));
  Draw(In(7, "2", "review"));
  Advance(absl::Minutes(10) - kTick);
  EXPECT_THAT(Listed(), ElementsAre("2", "1"));
  Advance(kTick);
  EXPECT_THAT(Listed(), ElementsAre("2"));
  Advance(absl::Hours(24) - absl::Minutes(10) - kTick);
  EXPECT_THAT(Listed(), ElementsAre("2"));
  Advance(kTick);
  EXPECT_THAT(Listed(), IsEmpty());
  EXPECT_EQ(store_.drawings(), 0);
  EXPECT_EQ(store_.bytes(), 0);
}

// Limits.

TEST_F(SmallAnnotationStoreTest, DrawingInFullSessionIsNotStoredButCompletesRequest) {
  for (const char* content : {"1", "2", "3"}) EXPECT_TRUE(Draw(In(7, content, "review")).stored);
  EXPECT_EQ(Found(For(std::nullopt, "review")), "[1,2,3]");
  const std::string id = Wait(For(std::nullopt, "review"));
  const AppendedDrawing appended = Draw(In(7, "4", "review"));
  EXPECT_FALSE(appended.stored);
  EXPECT_THAT(appended.completed, ElementsAre(id));
  EXPECT_EQ(ResultOf(id), "[1,2,3,4]");
  EXPECT_TRUE(Draw(In(7, "5", "other")).stored);
  EXPECT_EQ(store_.drawings(), 4);
}

TEST_F(SmallAnnotationStoreTest, BytesAreBoundedPerSessionAndInTotal) {
  const std::string content(60, '1');
  EXPECT_TRUE(Draw(In(7, content, "a")).stored);
  EXPECT_FALSE(Draw(In(7, content, "a")).stored);
  EXPECT_TRUE(Draw(In(7, content, "b")).stored);
  EXPECT_FALSE(Draw(In(7, content, "c")).stored);
  EXPECT_LE(store_.bytes(), 200);
}

TEST_F(SmallAnnotationStoreTest, DrawingsAreBounded) {
  for (int tab = 1; tab <= 5; ++tab) EXPECT_TRUE(Draw(In(tab, "1")).stored);
  EXPECT_FALSE(Draw(In(6, "1")).stored);
  // A drawing that replaces another one needs no room.
  EXPECT_TRUE(Draw(In(5, "2")).stored);
}

TEST_F(SmallAnnotationStoreTest, WaitersAreBounded) {
  const std::string first = Wait();
  Wait();
  EXPECT_THAT(TryAsk(), FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  // A cancelled request makes room.
  ASSERT_OK(Cancel(first));
  Wait();
  Wait(For(7, "", "other"));
  EXPECT_THAT(TryAsk(For(7, "", "third")),
              FailsWith(StatusCode::kResourceExhausted, "too_many_waits"));
  // A request that need not wait is accepted.
  Draw(In(8, "1"), {});
  Draw(In(7, "2"));
  EXPECT_EQ(Found(For(7, "", "third")), "2");
}

TEST_F(AnnotationStoreTest, ReceiptsAreBounded) {
  AnnotationLimits limits;
  limits.receipts_of_drawing = 2;
  AnnotationStore store(&table_, limits);
  ASSERT_OK(store.Append(In(7, "1"), {}, "", clock_.Now()));
  for (const char* client : {"a", "b", "c"}) {
    const auto page = store.List(client, {}, 0, "", clock_.Now());
    EXPECT_OK(page);
    store.Collect(client, page->drawings);
  }
  // The first client gets the drawing again, the last one does not.
  EXPECT_EQ((*store.Request(For(7, "", "a"), clock_.Now())).command->state, State::kCompleted);
  EXPECT_EQ((*store.Request(For(7, "", "c"), clock_.Now())).command->state, State::kQueued);
}

TEST_F(AnnotationStoreTest, InvalidRequestsAndDrawingsAreRefused) {
  const auto refused = FailsWith(StatusCode::kInvalidArgument, "invalid_argument");
  const auto append = [&](Drawing drawing, const std::vector<std::string>& ids = {},
                          const std::string& drawing_id = "") {
    return store_.Append(std::move(drawing), ids, drawing_id, clock_.Now());
  };
  const std::string long_name(kMaxNameBytes + 1, 'x');
  EXPECT_THAT(TryAsk(For(-1)), refused);
  EXPECT_THAT(TryAsk(For(7, long_name)), refused);
  EXPECT_THAT(append(In(-1, "1")), refused);
  EXPECT_THAT(append(In(7, "1", long_name)), refused);
  EXPECT_THAT(append(In(7, "")), refused);
  EXPECT_THAT(append(Drawing()), refused);
  EXPECT_THAT(append(In(7, "1"), std::vector<std::string>(kMaxNamedCommands + 1, "ann_")), refused);
  EXPECT_THAT(append(In(7, "1"), {}, long_name), refused);
  EXPECT_THAT(append(In(7, std::string(kMaxDrawingBytes + 1, '1'))),
              FailsWith(StatusCode::kInvalidArgument, "drawing_too_large"));
  EXPECT_OK(append(In(7, std::string(kMaxDrawingBytes, '1'), "review")));
  EXPECT_EQ(Found(For(7, "review")).size(), kMaxResultBytes);
}

TEST_F(AnnotationStoreTest, LongUrlsAndTitlesAreTruncated) {
  Drawing drawing = In(7, "1");
  drawing.url = std::string(kMaxUrlBytes + 1, 'x');
  drawing.title = std::string(kMaxTitleBytes + 1, 'x');
  Draw(drawing);
  ASSERT_OK_AND_ASSIGN(const DrawingPage page, store_.List(kClient, {}, 0, "", clock_.Now()));
  EXPECT_EQ(page.drawings[0]->url.size(), kMaxUrlBytes);
  EXPECT_EQ(page.drawings[0]->title.size(), kMaxTitleBytes);
}

TEST_F(AnnotationStoreTest, DrainRefusesRequestsAndAcceptsDrawings) {
  const std::string id = Wait();
  table_.Drain();
  EXPECT_THAT(TryAsk(), FailsWith(StatusCode::kUnavailable, "draining"));
  EXPECT_THAT(Draw(In(7, "1")).completed, ElementsAre(id));
}

}  // namespace
}  // namespace callslip::tracker
