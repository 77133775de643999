// The client against the real tracker in this process, on a fake clock. The client's own deadlines
// are real ones.
#include "gateway/tracker_client/tracker_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/use_future.hpp"
#include "common/fake_clock.h"
#include "common/status_matchers.h"
#include "gateway/tracker_client/watch_hub.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temporary_folder.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/queue/deadline_thread.h"
#include "tracker/rpc/tracker_server.h"
#include "tracker/server/request_limits.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;
using absl::StatusCode;
using ::testing::SizeIs;

// More than this program has open.
constexpr int kMaxFiles = 1000;
constexpr char kNobodys[] = "corr-1-00000000000000000000000000000000";

// A client on an executor of its own. A subclass provides the peer at its address.
class ClientFixture : public testing::Test {
 protected:
  ~ClientFixture() override { StopClient(); }

  void StartClient(const Address& address) {
    client_ = ConnectToTracker({address}, std::make_shared<CallQueue>(), io_.get_executor());
    thread_ = std::thread([this] { io_.run(); });
  }

  void StopClient() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
    client_ = nullptr;
  }

  template <typename T>
  std::future<T> Start(asio::awaitable<T> call) {
    return asio::co_spawn(io_, std::move(call), asio::use_future);
  }
  template <typename T>
  T Await(asio::awaitable<T> call) {
    return Start(std::move(call)).get();
  }
  // Runs `action` on the client's executor.
  template <typename Action>
  void Do(Action action) {
    asio::post(io_, std::packaged_task<void()>(std::move(action)));
    asio::post(io_, asio::use_future).get();
  }

  // Destroyed on the client's executor, on which it is used.
  using Feed = std::unique_ptr<CommandFeed, std::function<void(CommandFeed*)>>;
  Feed Watch(const std::string& client, const v1::CommandFilter& filter = {},
             bool only_changes = false) {
    Feed feed(nullptr, [this](CommandFeed* over) {
      if (thread_.joinable()) {
        Do([over] { delete over; });
      } else {
        delete over;
      }
    });
    Do([&] { feed.reset(client_->Watch(client, "", filter, only_changes).release()); });
    return feed;
  }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::unique_ptr<TrackerClient> client_;
  std::thread thread_;
};

class TrackerClientTest : public ClientFixture {
 protected:
  TrackerClientTest() {
    StartTracker();
    StartClient(address_);
  }
  ~TrackerClientTest() override {
    StopClient();
    StopTracker();
  }

  void StartTracker() {
    tracker_ = std::make_unique<Tracker>(&clock_, limits_);
    address_ = *tracker_->server.Start(address_, 1);
  }
  void StopTracker() {
    if (tracker_ != nullptr) tracker_->server.Drain(absl::ZeroDuration());
    tracker_ = nullptr;
  }

  // Breaks the tracker's connections; the tracker still listens.
  void BreakConnections() {
    std::vector<int> accepted;
    for (int fd = 0; fd < kMaxFiles; ++fd) {
      sockaddr_un address = {};
      socklen_t size = sizeof(address);
      if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
      int listens = 0;
      size = sizeof(listens);
      getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
      const bool is_ours = address.sun_family == AF_UNIX && address_.unix_path == address.sun_path;
      if (is_ours && listens == 0) accepted.push_back(fd);
    }
    for (const int fd : accepted) shutdown(fd, SHUT_RDWR);
  }

  tracker::CommandTable& table() { return tracker_->table; }

  std::string Register(const std::string& client = "", bool human = false) {
    v1::RegisterCommandRequest request;
    request.set_client_id(client);
    request.set_type("execute_js");
    if (human) request.set_command_class(v1::COMMAND_CLASS_HUMAN);
    return Await(client_->Call(request))->command().command_id();
  }

  v1::CommandLease Lease() {
    v1::LeaseCommandsRequest request;
    request.set_without_proof(true);
    const auto leased = Await(client_->Call(std::move(request)));
    return leased->leases(0);
  }

  void Complete(const std::string& id) {
    const auto result = std::make_shared<const std::string>("42");
    ASSERT_OK(table().Complete(id, {}, tracker::CommandResult{result}, nullptr, clock_.Now()));
  }

  // Returns once the tracker holds `count` waits. Each look is a call to the tracker, so that this
  // waits on its progress and not on time. The tracker refuses the call, and the client does not
  // repeat it when the connection breaks.
  void AwaitWaits(int64_t count) {
    while (table().waits() != count) (void)Await(client_->Call(v1::RegisterCommandRequest()));
  }

  auto WaitForEnd(const std::string& id, const std::string& client = "") {
    return client_->WaitForEnd(client, id, absl::Seconds(30));
  }

  struct Tracker {
    Tracker(Clock* clock, const tracker::CommandLimits& limits)
        : table(tracker::CommandDeadlines{}, limits),
          deadlines(clock, &table),
          server(clock, &table) {}

    tracker::CommandTable table;
    tracker::DeadlineThread deadlines;
    tracker::TrackerServer server;
  };

  FakeClock clock_;
  tracker::CommandLimits limits_;
  const TemporaryFolder folder_;
  Address address_{.unix_path = folder_.path() + "/tracker.sock"};
  std::unique_ptr<Tracker> tracker_;
};

TEST_F(TrackerClientTest, EndWakesWait) {
  const std::string id = Register();
  auto wait = Start(WaitForEnd(id));
  AwaitWaits(1);
  // A change that is not the end.
  Lease();
  Complete(id);
  const auto command = wait.get();
  ASSERT_OK(command);
  EXPECT_EQ(command->state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_EQ(command->result(), "42");
  EXPECT_EQ(table().waits(), 0);
}

TEST_F(TrackerClientTest, DrawingWakesWaitAndIsListed) {
  v1::RequestAnnotationsRequest request;
  request.set_tab_id(7);
  const auto requested = Await(client_->Call(request));
  ASSERT_OK(requested);
  auto wait = Start(WaitForEnd(requested->command().command_id()));
  AwaitWaits(1);
  v1::AppendAnnotationsRequest append;
  append.mutable_drawing()->set_tab_id(7);
  append.mutable_drawing()->set_content(R"({"annotations":[]})");
  const auto appended = Await(client_->Call(append));
  ASSERT_OK(appended);
  EXPECT_EQ(appended->completed_command_ids_size(), 1);
  EXPECT_EQ(wait.get()->result(), R"({"annotations":[]})");
  const auto listed = Await(client_->Call(v1::ListAnnotationsRequest()));
  ASSERT_OK(listed);
  EXPECT_EQ(listed->drawings(0).content(), R"({"annotations":[]})");
}

TEST_F(TrackerClientTest, WaitForEndedCommandReturnsAtOnce) {
  const std::string id = Register("", /*human=*/true);
  Complete(id);
  EXPECT_EQ(Await(WaitForEnd(id))->state(), v1::COMMAND_STATE_COMPLETED);
  EXPECT_EQ(Await(client_->WaitForChange("", id, 99, absl::Seconds(30)))->result(), "42");
}

TEST_F(TrackerClientTest, ChangeWakesWaitByRevision) {
  const std::string id = Register();
  const auto first = Await(client_->WaitForChange("", id, 0, absl::Seconds(30)));
  EXPECT_EQ(first->revision(), 1);
  auto wait = Start(client_->WaitForChange("", id, 1, absl::Seconds(30)));
  auto end = Start(WaitForEnd(id));
  AwaitWaits(2);
  Lease();
  const auto delivered = wait.get();
  ASSERT_OK(delivered);
  EXPECT_EQ(delivered->state(), v1::COMMAND_STATE_DELIVERED);
  EXPECT_GT(delivered->revision(), 1);
  // A watch that has reported its change is removed.
  AwaitWaits(1);
  Complete(id);
  ASSERT_OK(end.get());
}

TEST_F(TrackerClientTest, ExpiredWaitReturnsCurrentState) {
  const std::string id = Register("", /*human=*/true);
  auto end = Start(client_->WaitForEnd("", id, absl::Seconds(8)));
  auto change = Start(client_->WaitForChange("", id, 1, absl::Seconds(8)));
  AwaitWaits(2);
  clock_.Advance(absl::Seconds(8));
  EXPECT_EQ(end.get()->state(), v1::COMMAND_STATE_QUEUED);
  EXPECT_EQ(change.get()->revision(), 1);
  EXPECT_EQ(table().waits(), 0);
}

TEST_F(TrackerClientTest, ZeroWaitReturnsAtOnce) {
  const std::string id = Register();
  EXPECT_EQ(Await(client_->WaitForEnd("", id, absl::ZeroDuration()))->command_id(), id);
  EXPECT_EQ(Await(client_->WaitForChange("", id, 1, absl::ZeroDuration()))->command_id(), id);
}

TEST_F(TrackerClientTest, LookIsAnsweredEvenIfThereIsNoRoomForWait) {
  StopTracker();
  limits_.waits = 1;
  StartTracker();
  const std::string id = Register();
  auto wait = Start(WaitForEnd(id));
  AwaitWaits(1);
  EXPECT_EQ(Await(client_->WaitForEnd("", id, absl::ZeroDuration()))->command_id(), id);
  Lease();
  Complete(id);
  EXPECT_OK(wait.get());
}

TEST_F(TrackerClientTest, CancelledWaitIsFreedAtTracker) {
  const std::string id = Register("", /*human=*/true);
  asio::cancellation_signal signal;
  auto cancelled = asio::co_spawn(io_, WaitForEnd(id),
                                  asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  auto kept = Start(WaitForEnd(id));
  AwaitWaits(2);
  Do([&] { signal.emit(asio::cancellation_type::terminal); });
  EXPECT_EQ(cancelled.get().status().code(), StatusCode::kCancelled);
  AwaitWaits(1);
  Complete(id);
  ASSERT_OK(kept.get());
}

TEST_F(TrackerClientTest, WaitsAndCallsReturnSameErrors) {
  for (const std::string& id : {std::string(kNobodys), Register("somebody else")}) {
    const absl::Status of_call = Await(client_->Get("", id, true)).status();
    EXPECT_THAT(of_call, FailsWith(StatusCode::kNotFound, "unknown_command"));
    EXPECT_EQ(Await(WaitForEnd(id)).status(), of_call);
    EXPECT_EQ(DetailsOf(Await(WaitForEnd(id)).status()), DetailsOf(of_call));
  }
  EXPECT_THAT(Await(client_->WaitForEnd("", Register(), absl::Hours(25))),
              FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(TrackerClientTest, WaitsContinueWhenStreamBreaks) {
  const std::string one = Register("", /*human=*/true);
  const std::string other = Register("", /*human=*/true);
  auto wait_for_one = Start(WaitForEnd(one));
  auto wait_for_other = Start(WaitForEnd(other));
  AwaitWaits(2);
  for (int i = 0; i < 3; ++i) {
    BreakConnections();
    AwaitWaits(0);
    AwaitWaits(2);
  }
  Complete(one);
  ASSERT_OK(wait_for_one.get());
  AwaitWaits(1);
  BreakConnections();
  // The client may not be connected yet.
  Complete(other);
  EXPECT_EQ(wait_for_other.get()->result(), "42");
  AwaitWaits(0);
}

TEST_F(TrackerClientTest, WaitStartedDuringRestartReachesNewTracker) {
  const std::string id = Register();
  ASSERT_OK(Await(client_->WaitForChange("", id, 0, absl::Seconds(30))));
  StopTracker();
  auto wait = Start(WaitForEnd(id));
  StartTracker();
  // It has forgotten all commands.
  EXPECT_THAT(wait.get(), FailsWith(StatusCode::kNotFound, "unknown_command"));
  const std::string next = Register("", /*human=*/true);
  auto wait_for_next = Start(WaitForEnd(next));
  AwaitWaits(1);
  Complete(next);
  ASSERT_OK(wait_for_next.get());
}

TEST_F(TrackerClientTest, WaitEndedByStopContinuesAtNextTracker) {
  const std::string id = Register("", /*human=*/true);
  auto end = Start(WaitForEnd(id));
  auto change = Start(client_->WaitForChange("", id, 1, absl::Seconds(30)));
  AwaitWaits(2);
  StopTracker();
  StartTracker();
  // The next tracker has no commands: this error shows that it was asked.
  EXPECT_THAT(end.get(), FailsWith(StatusCode::kNotFound, "unknown_command"));
  EXPECT_THAT(change.get(), FailsWith(StatusCode::kNotFound, "unknown_command"));
}

TEST_F(TrackerClientTest, WaitForOverlongIdDoesNotEndOthers) {
  const std::string id = Register("", /*human=*/true);
  auto honest = Start(WaitForEnd(id));
  AwaitWaits(1);
  for (const size_t bytes : {size_t{9} << 20, WatchHub::kMaxNameBytes + 1}) {
    EXPECT_THAT(Await(WaitForEnd(std::string(bytes, 'x'))),
                FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  }
  EXPECT_THAT(Await(WaitForEnd(std::string(WatchHub::kMaxNameBytes, 'x'))),
              FailsWith(StatusCode::kNotFound, "unknown_command"));
  Complete(id);
  EXPECT_OK(honest.get());
}

// A longer name makes the tracker end the whole call, including the waits of other clients.
TEST(WatchHubLimitTest, NameLimitMatchesThatOfTracker) {
  const google::protobuf::Message& watch = v1::CommandWatch::default_instance();
  const google::protobuf::Message& filter = v1::CommandFilter::default_instance();
  for (const google::protobuf::Message* message : {&watch, &filter}) {
    for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
      const google::protobuf::FieldDescriptor* field = message->GetDescriptor()->field(i);
      if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_STRING) continue;
      EXPECT_EQ(tracker::internal::FindFieldLimit(*field)->bytes, WatchHub::kMaxNameBytes)
          << field->full_name();
    }
  }
}

// More waits than one stream can have.
TEST_F(TrackerClientTest, ManyWaitsEndTogether) {
  constexpr int kClients = 3;
  constexpr int kWaitsOfClient = 10'000;
  std::vector<std::string> ids;
  std::vector<std::future<absl::StatusOr<v1::Command>>> waits;
  for (int client = 0; client < kClients; ++client) {
    for (int i = 0; i < kWaitsOfClient; ++i) {
      const auto registered = table().Register({.client_id = absl::StrCat(client),
                                                .type = "annotate",
                                                .command_class = tracker::CommandClass::kHuman},
                                               clock_.Now());
      ASSERT_OK(registered);
      ids.push_back(registered->command->spec->id.ToString());
      waits.push_back(Start(WaitForEnd(ids.back(), absl::StrCat(client))));
    }
  }
  AwaitWaits(kClients * kWaitsOfClient);
  for (const std::string& id : ids) Complete(id);
  for (size_t i = 0; i < waits.size(); ++i) {
    const auto command = waits[i].get();
    ASSERT_OK(command);
    ASSERT_EQ(command->command_id(), ids[i]);
    ASSERT_EQ(command->state(), v1::COMMAND_STATE_COMPLETED);
  }
  EXPECT_EQ(table().waits(), 0);
}

TEST_F(TrackerClientTest, EndCallsEndsWaitsAndFeeds) {
  auto wait = Start(WaitForEnd(Register()));
  Feed feed = Watch("nobody");
  auto next = Start(feed->Next());
  AwaitWaits(1);
  Do([&] { client_->EndCalls(); });
  EXPECT_EQ(wait.get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(next.get().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(Await(WaitForEnd(kNobodys)).status().code(), StatusCode::kCancelled);
  feed = Watch("");
  EXPECT_EQ(Await(feed->Next()).status().code(), StatusCode::kCancelled);
}

TEST_F(TrackerClientTest, FeedReportsExistingAndNewCommands) {
  const std::string there = Register();
  Register("somebody else");
  v1::CommandFilter filter;
  filter.add_states(v1::COMMAND_STATE_QUEUED);
  Feed feed = Watch("", filter);
  auto commands = Await(feed->Next());
  ASSERT_THAT(*commands, SizeIs(1));
  EXPECT_EQ(commands->front().command().command_id(), there);
  auto next = Start(feed->Next());
  const std::string comes = Register();
  commands = next.get();
  ASSERT_THAT(*commands, SizeIs(1));
  EXPECT_EQ(commands->front().command().command_id(), comes);
}

TEST_F(TrackerClientTest, FeedOfChangesReportsItsStartAndNewCommands) {
  Register();
  Feed feed = Watch("", {}, /*only_changes=*/true);
  auto updates = Await(feed->Next());
  ASSERT_THAT(*updates, SizeIs(1));
  EXPECT_FALSE(updates->front().has_command());
  auto next = Start(feed->Next());
  const std::string comes = Register();
  updates = next.get();
  ASSERT_THAT(*updates, SizeIs(1));
  EXPECT_EQ(updates->front().command().command_id(), comes);
}

TEST_F(TrackerClientTest, DestroyedFeedIsFreedAtTracker) {
  const std::string id = Register();
  // More feeds than a client may have at a time.
  for (int i = 0; i < 100; ++i) {
    const Feed feed = Watch("");
    ASSERT_OK_AND_ASSIGN(const auto commands, Await(feed->Next()));
    EXPECT_EQ(commands.front().command().command_id(), id);
  }
}

TEST_F(TrackerClientTest, FeedEndsWithItsError) {
  v1::CommandFilter filter;
  filter.set_label(std::string(1000, 'x'));
  Feed feed = Watch("", filter);
  EXPECT_THAT(Await(feed->Next()), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
  // It stays so.
  EXPECT_THAT(Await(feed->Next()), FailsWith(StatusCode::kInvalidArgument, "invalid_argument"));
}

TEST_F(TrackerClientTest, FeedEndsWithErrorWhenConnectionBreaks) {
  const std::string id = Register();
  Feed feed = Watch("");
  ASSERT_OK(Await(feed->Next()));
  BreakConnections();
  EXPECT_THAT(Await(feed->Next()), FailsWith(StatusCode::kUnavailable, ""));
  // A feed that begins before the client gives up the broken connection ends likewise.
  absl::StatusOr<std::vector<v1::CommandUpdate>> commands = absl::UnavailableError("");
  for (int tries = 0; absl::IsUnavailable(commands.status()) && tries < 1'000; ++tries) {
    feed = Watch("");
    commands = Await(feed->Next());
  }
  ASSERT_OK(commands);
  EXPECT_EQ(commands->front().command().command_id(), id);
}

TEST_F(TrackerClientTest, UnreadFeedIsAbandoned) {
  const Feed unread = Watch("");
  const Feed read = Watch("");
  size_t total = 0;
  while (total < 10'100) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_OK(table().Register(
          {.type = "annotate", .command_class = tracker::CommandClass::kHuman}, clock_.Now()));
    }
    // Both feeds get the same commands, except those that existed before one of them began.
    for (const size_t wanted = total + 100; total < wanted;) {
      ASSERT_OK_AND_ASSIGN(const auto commands, Await(read->Next()));
      total += commands.size();
    }
  }
  EXPECT_THAT(*Await(unread->Next()), SizeIs(10'000));
  EXPECT_THAT(Await(unread->Next()), FailsWith(StatusCode::kResourceExhausted, "too_slow"));
}

TEST_F(TrackerClientTest, CancelledNextDoesNotEndFeed) {
  Feed feed = Watch("");
  asio::cancellation_signal signal;
  auto cancelled = asio::co_spawn(io_, feed->Next(),
                                  asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  Do([&] { signal.emit(asio::cancellation_type::terminal); });
  EXPECT_EQ(cancelled.get().status().code(), StatusCode::kCancelled);
  const std::string id = Register();
  EXPECT_EQ(Await(feed->Next())->front().command().command_id(), id);
}

TEST_F(TrackerClientTest, CancelsExpiresAndReplaysCommands) {
  v1::CancelCommandRequest cancel;
  cancel.set_command_id(Register());
  EXPECT_EQ(Await(client_->Call(cancel))->command().state(), v1::COMMAND_STATE_CANCELLED);
  v1::ExpireCommandRequest expire;
  expire.set_command_id(Register());
  expire.mutable_error()->set_code("tab_closed");
  EXPECT_EQ(Await(client_->Call(expire))->command().error().code(), "tab_closed");
  v1::ReplayCommandRequest replay;
  replay.set_command_id(expire.command_id());
  EXPECT_EQ(Await(client_->Call(replay))->command().replay_of(), expire.command_id());
}

// Accepts connections and sends nothing, as a frozen tracker does.
class FrozenTrackerTest : public ClientFixture {
 protected:
  FrozenTrackerTest() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 10), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    StartClient({.host = "127.0.0.1", .port = ntohs(address.sin_port)});
  }
  ~FrozenTrackerTest() override {
    StopClient();
    close(socket_);
  }

  const int socket_;
};

TEST_F(FrozenTrackerTest, WaitsEndShortlyAfterTheirTime) {
  auto longer = Start(client_->WaitForEnd("", kNobodys, absl::Milliseconds(2)));
  auto shorter = Start(client_->WaitForEnd("", kNobodys, absl::Milliseconds(1)));
  EXPECT_THAT(shorter.get(), FailsWith(StatusCode::kUnavailable, ""));
  EXPECT_THAT(longer.get(), FailsWith(StatusCode::kUnavailable, ""));
}

TEST_F(FrozenTrackerTest, DoesNotBlockDestructor) {
  Feed feed = Watch("");
  auto next = Start(feed->Next());
  auto wait = Start(client_->WaitForEnd("", kNobodys, absl::Seconds(50)));
  auto get = Start(client_->Get("", kNobodys, true));
  asio::cancellation_signal signal;
  auto cancelled = asio::co_spawn(io_, client_->WaitForEnd("", kNobodys, absl::Seconds(50)),
                                  asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  Do([&] { signal.emit(asio::cancellation_type::terminal); });
  EXPECT_EQ(cancelled.get().status().code(), StatusCode::kCancelled);
  StopClient();
}

}  // namespace
}  // namespace callslip::gateway
