// Calls to a tracker that answers as no real one does: late, not readably, or never.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/use_future.hpp"
#include "common/error_details.h"
#include "common/mutex.h"
#include "common/rpc_status.h"
#include "common/status_matchers.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "rpc_client/traced_executor.h"
#include "rpc_client/tracker_calls.h"
#include "support/temporary_folder.h"
#include "telemetry/testing/fake_span_sink.h"

namespace callslip {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::VariantWith;

// Answers each call as the test says, whatever its method is.
class AnyTracker final : public grpc::CallbackGenericService {
 public:
  struct Answer {
    std::vector<std::string> messages;
    absl::Status status;
    bool is_held = false;     // Until it is cancelled.
    bool stays_open = false;  // The same, after its messages.
  };

  // The metadata `traceparent` of the calls; empty if they had none.
  std::vector<std::string> traces() {
    MutexLock lock(&mutex_);
    return traces_;
  }

  explicit AnyTracker(std::function<Answer(int call)> answer) : answer_(std::move(answer)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const auto trace = context->client_metadata().find("traceparent");
    const bool has_trace = trace != context->client_metadata().end();
    KeepTrace(has_trace ? std::string(trace->second.data(), trace->second.size()) : "");
    return new Reactor(this, context);
  }

  std::vector<std::string> calls() {
    MutexLock lock(&mutex_);
    return calls_;
  }
  // The bytes of the requests.
  std::vector<std::string> requests() {
    MutexLock lock(&mutex_);
    return requests_;
  }
  // Waits until `held` calls are held and `cancelled` calls were cancelled.
  void Await(int held, int cancelled) {
    MutexLock lock(&mutex_);
    while (held_ < held || cancelled_ < cancelled) changed_.Wait(&mutex_);
  }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor(AnyTracker* tracker, grpc::GenericCallbackServerContext* context)
        : tracker_(tracker), context_(context) {
      const std::string method = context->method();
      answer_ = tracker_->Begin(method.substr(method.rfind('/') + 1));
      StartRead(&request_);
    }
    void OnReadDone(bool) override {
      tracker_->Keep(request_);
      if (answer_.is_held) return tracker_->Note(&tracker_->held_);
      Go();
    }
    void OnWriteDone(bool) override { Go(); }
    void OnCancel() override {
      tracker_->Note(&tracker_->cancelled_);
      if (answer_.is_held || answer_.stays_open) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    void Go() {
      if (written_ == answer_.messages.size()) {
        if (!answer_.stays_open) Finish(ToGrpc(answer_.status, *context_));
        return;
      }
      const grpc::Slice slice(answer_.messages[written_++]);
      message_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&message_);
    }

    AnyTracker* const tracker_;
    grpc::GenericCallbackServerContext* const context_;
    Answer answer_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer message_;
    size_t written_ = 0;
  };

  Answer Begin(const std::string& method) {
    MutexLock lock(&mutex_);
    calls_.push_back(method);
    return answer_(static_cast<int>(calls_.size()));
  }
  void Keep(grpc::ByteBuffer& request) {
    grpc::Slice slice;
    if (!request.DumpToSingleSlice(&slice).ok()) return;
    MutexLock lock(&mutex_);
    requests_.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  void KeepTrace(std::string trace) {
    MutexLock lock(&mutex_);
    traces_.push_back(std::move(trace));
  }
  void Note(int* count) {
    MutexLock lock(&mutex_);
    ++*count;
    changed_.NotifyAll();
  }

  const std::function<Answer(int call)> answer_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> traces_ ABSL_GUARDED_BY(mutex_);
  int held_ = 0;
  int cancelled_ = 0;
};

class GrpcCallsTest : public testing::Test {
 protected:
  ~GrpcCallsTest() override {
    io_.stop();
    if (thread_.joinable()) thread_.join();
    client_ = nullptr;
    if (server_ != nullptr) server_->Shutdown();
  }

  // At most once in a test.
  void Serve(std::function<AnyTracker::Answer(int call)> answer) {
    tracker_.emplace(std::move(answer));
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_.ToString(), grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(&*tracker_);
    server_ = builder.BuildAndStart();
    Connect({address_});
  }
  void Connect(const std::vector<Address>& addresses) {
    client_ = ConnectCalls(addresses, std::make_shared<CallQueue>(), io_.get_executor());
    thread_ = std::thread([this] { io_.run(); });
  }

  template <typename T>
  T Await(boost::asio::awaitable<T> awaitable) {
    return boost::asio::co_spawn(io_, std::move(awaitable), boost::asio::use_future).get();
  }
  template <typename Request>
  absl::StatusOr<ResponseOf<Request>> Call(const Request& request) {
    return Await(client_->Call(request));
  }
  template <typename Request>
  absl::Status CallWithId() {
    Request request;
    request.set_request_id("r-1");
    return Call(request).status();
  }

  // A call by a coroutine in this trace.
  template <typename Request>
  absl::Status CallIn(const TraceContext& trace, const Request& request, CallOptions options = {}) {
    const TracedExecutor executor(io_.get_executor(), std::make_shared<TraceContext>(trace));
    return boost::asio::co_spawn(executor, client_->Call(request, options), boost::asio::use_future)
        .get()
        .status();
  }

  // Cancels a call once the tracker has it.
  template <typename Request>
  absl::Status Cancel(const Request& request, CallOptions options = {}) {
    boost::asio::cancellation_signal signal;
    auto ended = boost::asio::co_spawn(
        io_, client_->Call(request, options),
        boost::asio::bind_cancellation_slot(signal.slot(), boost::asio::use_future));
    tracker_->Await(/*held=*/1, /*cancelled=*/0);
    boost::asio::post(io_, [&] { signal.emit(boost::asio::cancellation_type::terminal); });
    return ended.get().status();
  }

  const TemporaryFolder folder_;
  const Address address_{.unix_path = folder_.path() + "/tracker.sock"};
  std::optional<AnyTracker> tracker_;
  std::unique_ptr<grpc::Server> server_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::unique_ptr<TrackerCalls> client_;
  std::thread thread_;
};

// The first call fails like one whose connection breaks.
AnyTracker::Answer FirstIsLost(int call) {
  if (call == 1) return {.status = absl::UnavailableError("Socket closed")};
  return {.messages = {""}};
}

TEST_F(GrpcCallsTest, CallWithRequestIdIsSentAgain) {
  Serve([](int call) { return FirstIsLost(call % 2); });
  EXPECT_OK(CallWithId<v1::RegisterCommandRequest>());
  EXPECT_OK(CallWithId<v1::ReplayCommandRequest>());
  EXPECT_OK(CallWithId<v1::RequestAnnotationsRequest>());
  EXPECT_THAT(tracker_->calls(),
              ElementsAre("RegisterCommand", "RegisterCommand", "ReplayCommand", "ReplayCommand",
                          "RequestAnnotations", "RequestAnnotations"));
  const std::vector<std::string> requests = tracker_->requests();
  for (size_t i = 0; i + 1 < requests.size(); i += 2) {
    EXPECT_THAT(requests[i], HasSubstr("r-1"));
    EXPECT_EQ(requests[i], requests[i + 1]);
  }
}

TEST_F(GrpcCallsTest, CallIsSentAgainAfterItsCallerLeaves) {
  boost::asio::cancellation_signal signal;
  Serve([&](int call) {
    if (call == 1) {
      boost::asio::post(io_, boost::asio::use_future(
                                 [&] { signal.emit(boost::asio::cancellation_type::terminal); }))
          .get();
    }
    return FirstIsLost(call);
  });
  v1::RegisterCommandRequest request;
  request.set_request_id("r-1");
  auto ended = boost::asio::co_spawn(
      io_, client_->Call(request),
      boost::asio::bind_cancellation_slot(signal.slot(), boost::asio::use_future));
  EXPECT_OK(ended.get());
  EXPECT_THAT(tracker_->calls(), ElementsAre("RegisterCommand", "RegisterCommand"));
}

TEST_F(GrpcCallsTest, IdempotentMethodsAreRepeated) {
  Serve([](int call) { return FirstIsLost(call % 2); });
  EXPECT_OK(Call(v1::ListCommandsRequest()));
  EXPECT_OK(Call(v1::CancelCommandRequest()));
  EXPECT_THAT(tracker_->calls(),
              ElementsAre("ListCommands", "ListCommands", "CancelCommand", "CancelCommand"));
}

TEST_F(GrpcCallsTest, CallToADrainingTrackerIsRepeated) {
  Serve([](int call) -> AnyTracker::Answer {
    if (call % 2 == 0) return {.messages = {""}};
    return {.status = ErrorWithDetails(absl::StatusCode::kUnavailable, "", {.reason = "draining"})};
  });
  EXPECT_OK(CallWithId<v1::RegisterCommandRequest>());
  EXPECT_OK(Call(v1::GetSessionRequest()));
  EXPECT_EQ(tracker_->calls().size(), 4);
}

// gRPC cancels calls that come while a server stops.
TEST_F(GrpcCallsTest, CallCancelledByTheTrackerIsRepeated) {
  Serve([](int call) -> AnyTracker::Answer {
    if (call == 1) return {.status = absl::CancelledError("")};
    return {.messages = {""}};
  });
  EXPECT_OK(Call(v1::GetSessionRequest()));
  EXPECT_EQ(tracker_->calls().size(), 2);
}

TEST_F(GrpcCallsTest, CallWithAPermanentErrorIsNotRepeated) {
  Serve([](int) { return AnyTracker::Answer{.status = absl::UnimplementedError("")}; });
  EXPECT_THAT(CallWithId<v1::RegisterCommandRequest>(),
              FailsWith(absl::StatusCode::kUnimplemented, ""));
  EXPECT_THAT(Call(v1::GetSessionRequest()), FailsWith(absl::StatusCode::kUnimplemented, ""));
  EXPECT_EQ(tracker_->calls().size(), 2);
}

TEST_F(GrpcCallsTest, CallWithoutRequestIdIsSentOnce) {
  Serve(FirstIsLost);
  EXPECT_THAT(Call(v1::RegisterCommandRequest()), FailsWith(absl::StatusCode::kUnavailable, ""));
  EXPECT_THAT(tracker_->calls(), ElementsAre("RegisterCommand"));
}

// The call is not repeated either: the next answer would be the same.
TEST_F(GrpcCallsTest, UnreadableAnswerIsAnError) {
  Serve([](int) { return AnyTracker::Answer{.messages = {"\xff\xff"}}; });
  EXPECT_THAT(Call(v1::GetSessionRequest()),
              FailsWith(absl::StatusCode::kInternal, "answer_unreadable"));
  EXPECT_THAT(CallWithId<v1::RegisterCommandRequest>(),
              FailsWith(absl::StatusCode::kInternal, "answer_unreadable"));
  EXPECT_THAT(tracker_->calls(), ElementsAre("GetSession", "RegisterCommand"));
}

// The tracker leaves the stream open.
TEST_F(GrpcCallsTest, UnreadableMessageEndsItsStream) {
  Serve([](int) { return AnyTracker::Answer{.messages = {"\xff\xff"}, .stays_open = true}; });
  const auto stream = client_->Open(v1::WatchSessionRequest());
  EXPECT_THAT(Await(stream->Next()), FailsWith(absl::StatusCode::kInternal, "answer_unreadable"));
  tracker_->Await(/*held=*/0, /*cancelled=*/1);
}

TEST_F(GrpcCallsTest, StreamEndsWithTheStatusOfTheTracker) {
  v1::SessionEvent event;
  event.set_seq(7);
  Serve([&](int call) {
    AnyTracker::Answer answer{.messages = {event.SerializeAsString()}};
    if (call == 2) answer.status = absl::NotFoundError("gone");
    return answer;
  });
  for (const absl::StatusCode end : {absl::StatusCode::kOk, absl::StatusCode::kNotFound}) {
    const auto stream = client_->Open(v1::PlayRequest());
    const auto first = Await(stream->Next());
    ASSERT_TRUE(first.ok() && first->has_value()) << first.status();
    EXPECT_EQ((*first)->seq(), 7);
    const auto last = Await(stream->Next());
    EXPECT_EQ(last.status().code(), end);
    EXPECT_FALSE(last.ok() && last->has_value());
  }
}

TEST_F(GrpcCallsTest, StreamIsCancelledWhenItsReaderLeaves) {
  Serve([](int) { return AnyTracker::Answer{.is_held = true}; });
  auto stream = client_->Open(v1::WatchSessionRequest());
  tracker_->Await(/*held=*/1, /*cancelled=*/0);
  boost::asio::post(io_, [&] { stream = nullptr; });
  tracker_->Await(/*held=*/1, /*cancelled=*/1);
}

AnyTracker::Answer Held(int) { return {.is_held = true}; }

TEST_F(GrpcCallsTest, WaitIsCancelledWhenCallerLeaves) {
  Serve(Held);
  v1::LeaseCommandsRequest request;
  request.mutable_max_wait()->set_seconds(50);
  EXPECT_EQ(Cancel(request).code(), absl::StatusCode::kCancelled);
}

// The call continues after its caller was cancelled, in this test until its deadline.
TEST_F(GrpcCallsTest, ReportContinuesWhenCallerLeaves) {
  Serve(Held);
  EXPECT_EQ(Cancel(v1::CompleteCommandRequest(), {.deadline = absl::Milliseconds(300)}).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(GrpcCallsTest, ClosingAPlayerContinuesWhenCallerLeaves) {
  Serve(Held);
  EXPECT_EQ(Cancel(v1::ClosePlayerRequest(), {.deadline = absl::Milliseconds(300)}).code(),
            absl::StatusCode::kDeadlineExceeded);
}

const TraceContext kTrace =
    *TraceContext::Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

std::string TextOf(const Span& span, absl::string_view key) {
  for (const SpanAttribute& each : span.attributes) {
    if (each.key == key) return std::get<std::string>(each.value);
  }
  return "";
}

TEST_F(GrpcCallsTest, CallInATraceRecordsASpanAndSendsItsContext) {
  FakeSpanSink sink;
  Serve([](int) { return AnyTracker::Answer{.messages = {""}}; });
  EXPECT_OK(CallIn(kTrace, v1::GetSessionRequest()));
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1);
  const Span& span = spans.front();
  EXPECT_EQ(span.name, "callslip.tracker.v1.SessionService/GetSession");
  EXPECT_EQ(span.kind, SpanKind::kClient);
  EXPECT_EQ(span.parent, kTrace);
  EXPECT_EQ(TextOf(span, "rpc.system.name"), "grpc");
  EXPECT_EQ(TextOf(span, "rpc.method"), span.name);
  EXPECT_EQ(TextOf(span, "server.address"), address_.unix_path);
  EXPECT_EQ(TextOf(span, "rpc.response.status_code"), "OK");
  EXPECT_FALSE(span.failed);
  EXPECT_THAT(tracker_->traces(), ElementsAre(span.context.ToString()));
}

// Nobody listens there.
const Address kNowhere = {.host = "127.0.0.1", .port = 1};

TEST_F(GrpcCallsTest, SpanNamesTheHostAndPortOfTheTracker) {
  FakeSpanSink sink;
  Connect({kNowhere});
  EXPECT_FALSE(CallIn(kTrace, v1::GetSessionRequest(), {.deadline = absl::Milliseconds(1)}).ok());
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1);
  EXPECT_EQ(TextOf(spans.front(), "server.address"), "127.0.0.1");
  EXPECT_THAT(spans.front().attributes,
              Contains(AllOf(Field(&SpanAttribute::key, "server.port"),
                             Field(&SpanAttribute::value, VariantWith<int64_t>(1)))));
}

TEST_F(GrpcCallsTest, SpanNamesAllTrackersWithoutPorts) {
  FakeSpanSink sink;
  Connect({kNowhere, address_});
  EXPECT_FALSE(CallIn(kTrace, v1::GetSessionRequest(), {.deadline = absl::Milliseconds(1)}).ok());
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1);
  EXPECT_EQ(TextOf(spans.front(), "server.address"), "127.0.0.1," + address_.unix_path);
  EXPECT_THAT(spans.front().attributes, Not(Contains(Field(&SpanAttribute::key, "server.port"))));
}

TEST_F(GrpcCallsTest, RepeatedCallIsOneSpan) {
  FakeSpanSink sink;
  Serve(FirstIsLost);
  v1::RegisterCommandRequest request;
  request.set_request_id("r-1");
  EXPECT_OK(CallIn(kTrace, request));
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1);
  const std::string trace = spans.front().context.ToString();
  EXPECT_THAT(tracker_->traces(), ElementsAre(trace, trace));
}

TEST_F(GrpcCallsTest, TraceOfTheCallOverridesTraceOfItsCoroutine) {
  FakeSpanSink sink;
  Serve([](int) { return AnyTracker::Answer{.messages = {""}}; });
  const CallTrace own = {.context = kTrace.WithSpan(7)};
  EXPECT_OK(CallIn(kTrace, v1::GetSessionRequest(), {.trace = &own}));
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1);
  EXPECT_EQ(spans.front().parent, own.context);
}

TEST_F(GrpcCallsTest, SpanOfAFailedCallHasTheCodeButNotTheMessage) {
  FakeSpanSink sink;
  Serve([](int) { return AnyTracker::Answer{.status = absl::NotFoundError("secret")}; });
  EXPECT_FALSE(CallIn(kTrace, v1::GetSessionRequest()).ok());
  const std::vector<Span> spans = sink.Take();
  ASSERT_EQ(spans.size(), 1);
  EXPECT_TRUE(spans.front().failed);
  EXPECT_EQ(TextOf(spans.front(), "error.type"), "NOT_FOUND");
  for (const SpanAttribute& each : spans.front().attributes) {
    EXPECT_THAT(TextOf(spans.front(), each.key), Not(HasSubstr("secret")));
  }
}

TEST_F(GrpcCallsTest, CallWithoutASampledTraceRecordsNoSpan) {
  FakeSpanSink sink;
  Serve([](int) { return AnyTracker::Answer{.messages = {""}}; });
  EXPECT_OK(Call(v1::GetSessionRequest()));
  EXPECT_OK(CallIn(kTrace.WithSampled(false), v1::GetSessionRequest()));
  EXPECT_THAT(sink.Take(), IsEmpty());
  EXPECT_THAT(tracker_->traces(), ElementsAre("", kTrace.WithSampled(false).ToString()));
}

TEST_F(GrpcCallsTest, OnlyTheTraceOfTheCallIsSentWithoutASpanSink) {
  Serve([](int) { return AnyTracker::Answer{.messages = {""}}; });
  const CallTrace own = {.context = kTrace};
  EXPECT_OK(Await(client_->Call(v1::GetSessionRequest(), {.trace = &own})).status());
  EXPECT_OK(CallIn(kTrace, v1::GetSessionRequest()));
  EXPECT_THAT(tracker_->traces(), ElementsAre(kTrace.ToString(), ""));
}

TEST_F(GrpcCallsTest, EndCallsCancelsWaits) {
  Serve(Held);
  v1::AskPermissionRequest request;
  request.set_max_wait_ms(50'000);
  auto ended = boost::asio::co_spawn(io_, client_->Call(request), boost::asio::use_future);
  tracker_->Await(/*held=*/1, /*cancelled=*/0);
  boost::asio::post(io_, [&] { client_->EndCalls(); });
  EXPECT_EQ(ended.get().status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace callslip
