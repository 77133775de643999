#include "tracker/rpc/command_spans.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/testing/fake_span_sink.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

using ::testing::UnorderedElementsAre;

const TraceContext kCall =
    *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

class CommandSpansTest : public CommandTableTest {
 protected:
  CommandSpansTest() {
    table_.SetEndListener([](const CommandSnapshot& command) { RecordCommand(command); });
  }

  static CommandRequest InTrace(CommandRequest request, const TraceContext& trace = kCall) {
    request.trace = trace;
    return request;
  }

  // The spans since the last call, as "name < name of its parent".
  std::vector<std::string> TakeTree() {
    spans_ = sink_->Take();
    std::map<std::string, std::string> names = {{std::string(kCall.span_id()), "call"}};
    for (const Span& span : spans_) names[std::string(span.context.span_id())] = span.name;
    std::vector<std::string> tree;
    for (const Span& span : spans_) {
      tree.push_back(span.name + " < " + names[std::string(span.parent.span_id())]);
    }
    return tree;
  }
  const Span& Recorded(absl::string_view name) const {
    for (const Span& span : spans_) {
      if (span.name == name) return span;
    }
    ADD_FAILURE() << "no " << name;
    return spans_.front();
  }
  static std::string Text(const Span& span, absl::string_view key) {
    for (const SpanAttribute& attribute : span.attributes) {
      if (attribute.key == key) return std::get<std::string>(attribute.value);
    }
    return "";
  }

  std::optional<FakeSpanSink> sink_{std::in_place};
  std::vector<Span> spans_;
};

TEST_F(CommandSpansTest, CommandIsRecordedCompletelyWhenItHasEnded) {
  const std::string id = Register(InTrace(Request()));
  clock_.Advance(absl::Seconds(1));
  const CommandLease lease = LeaseOne();
  EXPECT_OK(Acknowledge(lease));
  EXPECT_THAT(TakeTree(), IsEmpty());
  clock_.Advance(absl::Seconds(2));
  EXPECT_OK(Complete(lease));
  EXPECT_THAT(TakeTree(), UnorderedElementsAre("command execute_js < call",
                                               "queue browser < command execute_js",
                                               "process browser < command execute_js",
                                               "execute execute_js < process browser"));
  const Span& command = Recorded("command execute_js");
  EXPECT_EQ(command.context, TraceForClients(*lease.command->spec));
  EXPECT_EQ(command.end_nanos - command.start_nanos, 3'000'000'000);
  EXPECT_EQ(Text(command, "messaging.message.id"), id);
  EXPECT_EQ(Text(command, "callslip.command.state"), "completed");
  EXPECT_FALSE(command.failed);
  const Span& process = Recorded("process browser");
  EXPECT_EQ(process.context, TraceForWorker(*lease.command));
  EXPECT_EQ(process.kind, SpanKind::kConsumer);
  EXPECT_EQ(Text(process, "messaging.client.id"), "w1");
  EXPECT_THAT(process.links, ElementsAre(kCall));
  EXPECT_EQ(process.end_nanos - process.start_nanos, 2'000'000'000);
}

TEST_F(CommandSpansTest, WorkTimeOfAWorkerIsASpanBelowItsDelivery) {
  const auto complete = [this](WorkTime work, CommandOutcome outcome) {
    clock_.Advance(absl::Seconds(10));
    Register(InTrace(Request()));
    const CommandLease lease = LeaseOne();
    clock_.Advance(absl::Seconds(2));
    EXPECT_OK(table_.Complete(IdOf(lease), ProofOf(lease), std::move(outcome), nullptr,
                              clock_.Now(), work));
    return TakeTree();
  };
  EXPECT_THAT(complete({.micros = 500'000, .age_micros = 100'000}, CommandResult{Bytes("1")}),
              UnorderedElementsAre(
                  "command execute_js < call", "queue browser < command execute_js",
                  "process browser < command execute_js", "work execute_js < process browser"));
  const Span& work = Recorded("work execute_js");
  const Span& process = Recorded("process browser");
  EXPECT_EQ(work.kind, SpanKind::kInternal);
  EXPECT_EQ(work.end_nanos - work.start_nanos, 500'000'000);
  EXPECT_EQ(process.end_nanos - work.end_nanos, 100'000'000);
  EXPECT_EQ(Text(work, "messaging.client.id"), "w1");
  EXPECT_FALSE(work.failed);

  // The span stays within its delivery, whatever the worker reports.
  complete({.micros = 4'000'000'000, .age_micros = 1'000'000},
           CommandFailure{{.code = "no_such_tab", .message = "secret"}});
  EXPECT_EQ(Recorded("work execute_js").start_nanos, Recorded("process browser").start_nanos);
  EXPECT_EQ(Text(Recorded("work execute_js"), "error.type"), "no_such_tab");
  complete({.micros = 1, .age_micros = 4'000'000'000}, CommandResult{Bytes("1")});
  EXPECT_EQ(Recorded("work execute_js").end_nanos, Recorded("process browser").start_nanos);
  EXPECT_THAT(complete({}, CommandResult{Bytes("1")}), SizeIs(3));
}

TEST_F(CommandSpansTest, SecondDeliveryIsASeparateSpan) {
  Register(InTrace(IdempotentRequest()));
  const CommandLease first = LeaseOne("w1");
  Advance(CommandDeadlines().ack_wait);
  const CommandLease second = LeaseOne("w2");
  EXPECT_NE(TraceForWorker(*first.command), TraceForWorker(*second.command));
  EXPECT_OK(Complete(second));
  EXPECT_THAT(TakeTree(), UnorderedElementsAre("command execute_js < call",
                                               "queue browser < command execute_js",
                                               "queue browser < command execute_js",
                                               "process browser < command execute_js",
                                               "process browser < command execute_js"));
  std::map<std::string, bool> failed;
  for (const Span& span : spans_) {
    if (span.name == "process browser") failed[Text(span, "messaging.client.id")] = span.failed;
  }
  EXPECT_EQ(failed, (std::map<std::string, bool>{{"w1", true}, {"w2", false}}));
}

TEST_F(CommandSpansTest, UndeliveredCommandHasAQueueSpanAndFails) {
  Register(InTrace(Request()));
  Advance(CommandDeadlines().schedule_to_start);
  EXPECT_THAT(TakeTree(), UnorderedElementsAre("command execute_js < call",
                                               "queue browser < command execute_js"));
  EXPECT_TRUE(Recorded("command execute_js").failed);
  EXPECT_NE(Text(Recorded("command execute_js"), "error.type"), "");
}

TEST_F(CommandSpansTest, CodesThatAreNotWordsAreRecordedAsOther) {
  const std::pair<std::string, std::string> kTable[] = {
      {"element_not_found", "element_not_found"},
      {"https://x/?token=secret", "_OTHER"},
      {"Not a word", "_OTHER"},
  };
  for (const auto& [code, recorded] : kTable) {
    Register(InTrace(Request()));
    EXPECT_OK(Complete(LeaseOne(), CommandFailure{CommandError{.code = code}}));
    TakeTree();
    EXPECT_EQ(Text(Recorded("command execute_js"), "error.type"), recorded);
    EXPECT_EQ(Text(Recorded("process browser"), "error.type"), recorded);
  }
}

TEST_F(CommandSpansTest, TargetsOfSessionsShareOneSpanName) {
  CommandRequest request = InTrace(Request());
  request.target = "session-20261128-101112-abcd";
  const std::string id = Register(request);
  EXPECT_OK(Cancel(id));
  EXPECT_THAT(TakeTree(), UnorderedElementsAre("command execute_js < call",
                                               "queue session-{id} < command execute_js"));
  EXPECT_EQ(Text(Recorded("queue session-{id}"), "messaging.destination.name"), request.target);
}

TEST_F(CommandSpansTest, CancelledCommandIsNotRecordedAsFailed) {
  const std::string id = Register(InTrace(Request()));
  EXPECT_OK(Cancel(id));
  EXPECT_THAT(TakeTree(), SizeIs(2));
  EXPECT_FALSE(Recorded("command execute_js").failed);
  EXPECT_EQ(Text(Recorded("command execute_js"), "callslip.command.state"), "cancelled");
}

TEST_F(CommandSpansTest, ExpiryOfAnUncollectedResultRecordsNothing) {
  Register(InTrace(Request()));
  EXPECT_OK(Complete(LeaseOne()));
  EXPECT_THAT(TakeTree(), SizeIs(3));
  Advance(CommandDeadlines().result_retention);
  EXPECT_THAT(TakeTree(), IsEmpty());
}

TEST_F(CommandSpansTest, UnsampledTraceIsPassedOnUnchanged) {
  const TraceContext unsampled = kCall.WithSampled(false);
  Register(InTrace(Request(), unsampled));
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(TraceForWorker(*lease.command), unsampled);
  EXPECT_EQ(TraceForClients(*lease.command->spec), unsampled);
  EXPECT_OK(Complete(lease));
  EXPECT_THAT(TakeTree(), IsEmpty());
}

TEST_F(CommandSpansTest, TraceIsPassedOnUnchangedWithoutASink) {
  sink_.reset();
  Register(InTrace(Request()));
  const CommandLease lease = LeaseOne();
  EXPECT_EQ(TraceForWorker(*lease.command), kCall);
  EXPECT_EQ(TraceForClients(*lease.command->spec), kCall);
  EXPECT_OK(Complete(lease));
}

}  // namespace
}  // namespace callslip::tracker
