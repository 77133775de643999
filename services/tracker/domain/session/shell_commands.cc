#include "tracker/domain/session/shell_commands.h"

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/session_target.h"
#include "common/status_macros.h"
#include "telemetry/session_trace.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {
namespace {

constexpr char kType[] = "shell";
// Delay before a record that the storage refused is tried again.
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

}  // namespace

class ShellCommandWatch;

// The commands that have not ended, by their ids.
struct OpenShellCommands {
  Mutex mutex;
  absl::flat_hash_map<std::string, std::shared_ptr<ShellCommandWatch>> watches
      ABSL_GUARDED_BY(mutex);
};

// One command, from its registration to its end: takes its changes from the table, and records them
// on the session's thread. A change that can't be stored is retried later.
class ShellCommandWatch final : public CommandFeed,
                                public std::enable_shared_from_this<ShellCommandWatch> {
 public:
  ShellCommandWatch(SessionCaller* sessions, std::shared_ptr<TimerThread> timers, OutputGate* gate,
                    const ShellFormat& format, std::weak_ptr<OpenShellCommands> open,
                    std::string client_id, std::string session_id, ShellCommand command)
      : sessions_(sessions),
        timers_(std::move(timers)),
        gate_(gate),
        format_(format),
        open_(std::move(open)),
        client_id_(std::move(client_id)),
        session_id_(std::move(session_id)),
        command_(std::move(command)) {}

  const std::string& client_id() const { return client_id_; }
  bool Is(const std::string& session_id, const std::string& id) const {
    return session_id == session_id_ && id == command_.id;
  }

  // It was registered under this id. Call before it is watched.
  void Open(const std::string& command_id) {
    command_id_ = command_id;
    if (const auto open = open_.lock()) {
      MutexLock lock(&open->mutex);
      open->watches.emplace(command_id, shared_from_this());
    }
  }

  void OnReady() override { PassOn(std::make_shared<Updates>(Take(kUpdates))); }

  // Records the command's update.
  void Tell(CommandUpdate update) { Tell(std::make_shared<Updates>(1, std::move(update))); }

 private:
  using Updates = std::vector<CommandUpdate>;
  static constexpr size_t kUpdates = 16;

  void Tell(const std::shared_ptr<Updates>& updates) {
    sessions_->table().Run(
        session_id_,
        [self = shared_from_this(), updates](Session& session, absl::Time now) {
          for (const CommandUpdate& update : std::exchange(*updates, {})) self->Add(update);
          return self->Record(session, now);
        },
        [self = shared_from_this(), updates](const absl::Status& status) {
          self->OnRecorded(status, updates);
        });
  }

  // No one, not even its session, receives a change of a command before it is stored.
  void PassOn(const std::shared_ptr<Updates>& updates) {
    if (gate_ == nullptr || gate_->IsOpen()) return Tell(updates);
    gate_->Pass([self = shared_from_this(), updates,
                 under_way = sessions_->BeginCall()](const absl::Status& kept) {
      if (kept.ok()) return self->Tell(updates);
      self->timers_->After(kRetryAfter, [self, updates] { self->PassOn(updates); });
    });
  }

  void Add(const CommandUpdate& update) {
    if (ended_) return;
    if (!update.error.ok()) return AddFailure(std::string(update.error.message()));
    // The watch ended before its command, because the table was drained. See
    // ShellCommands::Settle().
    if (update.command == nullptr) return;
    const CommandSnapshot& snapshot = *update.command;
    if (snapshot.start_time() != absl::InfinitePast() && !std::exchange(running_, true)) {
      waiting_.push_back({.tool_call_id = command_.id, .status = "running"});
    }
    if (!IsTerminal(snapshot.state)) return;
    AddEnd(snapshot.state == CommandState::kCompleted ? "completed" : "failed",
           format_.result(command_, snapshot));
    end_ = update;
  }

  void AddFailure(std::string why) {
    AddEnd("failed", {.command_id = command_.id,
                      .command = command_.command,
                      .output = std::move(why),
                      .ran = false});
  }

  void AddEnd(const char* status, const ShellResult& result) {
    ended_ = true;
    waiting_.push_back(
        {.tool_call_id = command_.id, .status = status, .title = FormatToolResults({result})});
    Close();
  }

  absl::Status Record(Session& session, absl::Time now) {
    for (ToolCallUpdate& change : std::exchange(waiting_, {})) {
      recording_.push_back(change);
      RETURN_IF_ERROR(session.Record(std::move(change), now).status());
    }
    return absl::OkStatus();
  }

  // On the session's thread; or on the caller's, if the call was refused.
  void OnRecorded(const absl::Status& status, const std::shared_ptr<Updates>& updates) {
    if (absl::IsResourceExhausted(status)) return Retry(updates);
    std::vector<ToolCallUpdate> recorded = std::exchange(recording_, {});
    // Updates of a session that has ended or was removed are dropped.
    if (!absl::IsUnavailable(status)) {
      if (end_.has_value()) NoteReceived(*std::exchange(end_, std::nullopt));
      if (!status.ok()) Close();
      return;
    }
    waiting_.insert(waiting_.begin(), std::make_move_iterator(recorded.begin()),
                    std::make_move_iterator(recorded.end()));
    Retry(updates);
  }

  void Retry(const std::shared_ptr<Updates>& updates) {
    timers_->After(kRetryAfter, [self = shared_from_this(), updates] { self->Tell(updates); });
  }

  void Close() {
    if (const auto open = open_.lock()) {
      MutexLock lock(&open->mutex);
      open->watches.erase(command_id_);
    }
  }

  SessionCaller* const sessions_;
  const std::shared_ptr<TimerThread> timers_;
  OutputGate* const gate_;
  const ShellFormat format_;
  const std::weak_ptr<OpenShellCommands> open_;
  const std::string client_id_;
  const std::string session_id_;
  const ShellCommand command_;
  std::string command_id_;
  // Used only on the session's thread.
  bool running_ = false;
  bool ended_ = false;
  std::optional<CommandUpdate> end_;       // Until it is recorded.
  std::vector<ToolCallUpdate> waiting_;    // To be recorded.
  std::vector<ToolCallUpdate> recording_;  // Recorded, and not known to be durable yet.
};

ShellCommands::ShellCommands(Clock* clock, CommandTable* commands, SessionCaller* sessions,
                             std::shared_ptr<TimerThread> timers, OutputGate* gate,
                             const ShellFormat& format)
    : clock_(clock),
      commands_(commands),
      sessions_(sessions),
      timers_(std::move(timers)),
      gate_(gate),
      format_(format),
      open_(std::make_shared<OpenShellCommands>()) {}

std::string ShellCommands::Find(const SessionMetadata& session, const AgentCommand& command) {
  MutexLock lock(&open_->mutex);
  for (const auto& [id, watch] : open_->watches) {
    if (watch->Is(session.session_id, command.command.id)) return id;
  }
  return "";
}

std::string ShellCommands::Start(const std::string& client_id, const SessionMetadata& session,
                                 const AgentCommand& command) {
  const std::string& session_id = session.session_id;
  const auto watch = std::make_shared<ShellCommandWatch>(sessions_, timers_, gate_, format_, open_,
                                                         client_id, session_id, command.command);
  // Identifies the event, which is recorded once, even if an earlier session had the same id.
  const std::string request_id = absl::StrCat(session_id, "/", command.command.id, "/", command.seq,
                                              "-", absl::ToUnixMicros(session.created_at));
  CommandRequest request{.client_id = client_id,
                         .target = absl::StrCat(kSessionTargets, session_id),
                         .type = kType,
                         .request_id = request_id,
                         .label = session_id,
                         .trace = TraceOfSession(session_id, session.created_at)};
  request.params = std::make_shared<const std::string>(format_.params(command.command));
  // A build takes longer than the default for quick commands.
  request.deadlines.start_to_close = kMaxStartToClose;
  const absl::StatusOr<CommandRegistration> registered =
      commands_->Register(std::move(request), clock_->Now());
  if (!registered.ok()) {
    watch->Fail(0, registered.status());
    return "";
  }
  const std::string id = registered->command->spec->id.ToString();
  watch->Open(id);
  const auto watching = commands_->Watch(id, {.clients = client_id, .feed = watch});
  if (!watching.ok()) watch->Fail(0, watching.status());
  return id;
}

void ShellCommands::Settle() {
  absl::flat_hash_map<std::string, std::shared_ptr<ShellCommandWatch>> open;
  {
    MutexLock lock(&open_->mutex);
    open = open_->watches;
  }
  for (const auto& [id, watch] : open) {
    const absl::StatusOr<CommandPtr> command =
        commands_->Get(watch->client_id(), id, /*peek=*/true);
    if (command.ok() && IsTerminal((*command)->state)) {
      watch->Tell({.command = *command, .last = true});
    } else {
      // No worker must run it after a restart, because the session has it as failed.
      (void)commands_->Expire(watch->client_id(), id,
                              {"draining", "The tracker was shut down.", "", false}, clock_->Now());
      watch->Tell({.error = Draining()});
    }
  }
}

}  // namespace callslip::tracker
