#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/command_model_view.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/client_account.h"

namespace callslip::tracker {

// Deliberate mistakes of the model: tests check that the comparison finds them.
enum class ModelMistake {
  kNone,
  kIgnoresOrderingKeys,
  kIgnoresPriorities,
  kIgnoresTurns,
  kWindowOfSix,
  kNeverRedelivers,
  kForgetsRequestIds,
  kPeeksCollect,
  kLostUpdatesCollect,
  kForgetsTombstones,
  kTellsNoEndsToWorkers,
  kTellsWatchesOfOtherStates,
  kExpectsNobodyBack,
};

// One delivery, as the model knows it.
struct ModelDelivery {
  int attempt = 0;
  std::string worker;
  bool given_back = false;
  bool without_proof = false;
  std::string trace_before;
  absl::Time deliver_time_before;
};

// One command, as the model knows it. The model names it by its number, which counts from 0 in
// the order of registration.
struct ModelCommand {
  int number = 0;
  uint8_t partition = 0;
  CommandRequest request;    // With the defaults filled in.
  int64_t params_bytes = 0;  // As the table keeps them.
  int replay_of = -1;
  CommandDeadlines clocks;
  absl::Duration schedule_to_close;
  absl::Time register_time;
  absl::Time ready_time;
  // When it expires unless it is delivered before: schedule_to_start after ready_time, and later
  // where it waits for a suspended worker.
  absl::Time start_by;
  // By how much its first delivery came after schedule_to_start.
  absl::Duration late;

  CommandView view;
  int64_t revision = 1;
  bool released = false;   // Its not_before has come.
  bool collected = false;  // Its result was read.
  bool ended_by_client = false;
  bool has_late_result = false;  // The first one is kept.
  absl::Time last_heartbeat = absl::InfinitePast();
  std::vector<ModelDelivery> deliveries;
  // The worker that it was last delivered to, also after the lease has ended. Empty: none.
  std::string worker;
  // When it entered the failed ring, or the ring of cancelled commands.
  uint64_t ended_step = 0;
  absl::Time kept_since;

  bool removed = false;
  bool tombstone = false;
  absl::Time remove_time;
  uint64_t removed_step = 0;

  const std::string& client() const { return request.client_id; }
  const std::string& target() const { return request.target; }
  bool human() const { return request.command_class == CommandClass::kHuman; }
  bool ended() const { return IsTerminal(view.state); }
  bool held() const;
  // A worker has it, or has had it.
  bool may_have_executed() const;
  // In the queue of its target, whether or not its not_before has come.
  bool queued() const { return !removed && !human() && view.state == CommandState::kQueued; }
  int64_t payload_bytes() const;
};

struct ModelCall {
  int slot = 0;
  std::string target;
  std::string worker;
  int max_commands = 0;
  int window = 0;
  absl::Time hold_until;
  absl::Duration back_within;
  bool without_proof = false;  // The same in all calls of one worker.
};

struct ModelWatch {
  int64_t watch_id = 0;
  int feed = 0;
  std::string client;
  int command = -1;  // -1: all that match the filter.
  CommandFilter filter;
  bool only_end = false;
  absl::Time until = absl::InfiniteFuture();
};

// An update in a feed, or taken from a feed.
struct ModelUpdate {
  int64_t watch_id = 0;
  int command = -1;  // -1: none.
  CommandView view;
  std::string error;
  bool last = false;
  uint64_t step = 0;     // When its place in the feed was taken.
  int64_t revision = 0;  // Of the command.
  bool of_filter = false;
};

struct ModelFeed {
  std::vector<ModelUpdate> updates;
  int ready_calls = 0;
};

// The answer to a worker's call.
struct ObservedAnswer {
  struct Lease {
    int command = 0;
    CommandView view;
    absl::Duration start_to_close;
  };
  int call = 0;  // Slot.
  std::vector<Lease> leases;
  std::vector<int> ended;
};

// The answer of Register() or Replay().
struct ObservedRegistration {
  int command = 0;  // The number of a known one, or the next number.
  bool existed = false;
  uint8_t partition = 0;
  int64_t params_bytes = 0;
  CommandView view;
  CommandDeadlines clocks;
};

// The proof of a report, as the model names it.
struct ModelProof {
  enum class Token { kOfDelivery, kForged, kNone };
  Token token = Token::kNone;
  int delivery = 0;  // Index into ModelCommand::deliveries.
  int attempt = 0;   // 0: not given.
};

// The reference for CommandTable: a second, slow implementation of command.proto and
// command_service.proto, made of vectors with linear searches.
//
// The model gets each call of the table together with the table's answer, then Settle() with the
// calls of workers that were answered meanwhile. If the contract leaves a choice, such as the order
// of deadlines in the same millisecond, the model follows the table; any other difference is a
// disagreement. After the first one the model is of no further use.
//
// Test code only. It knows neither ids nor tokens: commands are numbers, and the caller names calls
// and watches.
class CommandModel {
 public:
  // The outcome of a read by the command's owner. It is called only to learn which of several
  // commands or tombstones the table dropped.
  using Reader = std::function<std::string(int command)>;

  CommandModel(const CommandDeadlines& clocks, const CommandLimits& limits, int feeds,
               ModelMistake mistake, Reader reader);

  // The first disagreement, or empty.
  const std::string& disagreement() const { return disagreement_; }
  void Disagree(const std::string& what);

  void Register(CommandRequest request, absl::Time now, const absl::Status& status,
                const std::optional<ObservedRegistration>& answer);
  void Replay(const std::string& client, int command, const std::string& request_id, absl::Time now,
              const absl::Status& status, const std::optional<ObservedRegistration>& answer);
  // CheckView() checks the command in the answer.
  void Get(const std::string& client, int command, bool peek, const absl::Status& status);
  // `after`: the last command of the page before, or -1. Returns the last one of this page.
  void List(const std::string& client, const CommandFilter& filter, int page_size, int after,
            const std::vector<int>& commands, bool more);
  void Cancel(const std::string& client, int command, absl::Time now, const absl::Status& status);
  void Expire(const std::string& client, int command, const CommandError& error, absl::Time now,
              const absl::Status& status);

  void Watch(const ModelWatch& watch, int64_t after_revision, const absl::Status& status,
             bool goes_on);
  void Unwatch(int64_t watch_id);
  // `left`: the number of updates that remain in the feed. `is_lost`: no one got the taken ones.
  void Take(int feed, size_t max, const std::vector<ModelUpdate>& taken, size_t left, bool is_lost);
  void FailWatch(int feed, int64_t watch_id, const std::string& error);

  // `goes_on`: the table returned a held call.
  void Lease(const ModelCall& call, absl::Time now, const absl::Status& status, bool goes_on,
             const std::vector<ObservedAnswer>& answers);
  void Abandon(int slot, absl::Time now, bool abandoned);
  void GiveBack(int command, int delivery);
  void Acknowledge(int command, const ModelProof& proof, const std::optional<std::string>& progress,
                   const std::string& context, absl::Time now, const absl::Status& status,
                   std::optional<CommandState> state, bool cancel_requested);
  void Complete(int command, const ModelProof& proof, const CommandOutcome& outcome,
                const std::string& context, absl::Time now, const absl::Status& status,
                std::optional<CommandState> state, bool accepted);

  absl::Time NextDeadline() const;
  // The number of deadlines that are due at `time`.
  int CountDue(absl::Time time) const;
  // Fires everything that is due.
  void Fire(absl::Time now);
  void Drain();
  // The table was restored from its journal. Calls and watches must have ended before.
  void Restart(absl::Time now);

  // Records the answered calls, and checks that no call is still held without a reason.
  void Settle(absl::Time now, const std::vector<ObservedAnswer>& answers);

  // Compares one command, as its owner reads it, with the expected one.
  void CheckView(int command, const CommandView& view, int64_t revision);
  // The expected outcome if the owner of a registered command reads it.
  std::string OutcomeOfReading(int command) const;

  const std::vector<ModelCommand>& commands() const { return commands_; }
  const std::vector<ModelCall>& calls() const { return calls_; }
  const std::vector<ModelWatch>& watches() const { return watches_; }
  const std::vector<ModelFeed>& feeds() const { return feeds_; }
  bool draining() const { return draining_; }
  // Commands that have changed since the last call.
  std::set<int> TakeChanged() { return std::exchange(changed_, {}); }

  int64_t waits() const;
  int64_t leased() const;
  int64_t CountCommands(const std::string* client) const;
  int64_t CountBytes(const std::string* client) const;
  int64_t late_results() const { return late_results_; }

  // How often each answer, end, limit and event was reached.
  const std::map<std::string, int64_t>& reached() const { return reached_; }

 private:
  enum class Clock { kNotBefore, kStart, kAck, kHeartbeat, kExecution, kClose, kRetention };
  struct Due {
    Clock clock;
    absl::Time at;
  };
  // A worker that is suspended, or has a held call.
  struct Absence {
    std::string target;
    std::string worker;
    absl::Time back_by;
  };
  struct Turn {
    std::string target;
    std::string client;
    bool waiting = false;
    uint64_t since = 0;
    uint64_t emptied_by = 0;  // The turn of the delivery after which nothing waited.
    uint64_t reopened = 0;    // `since` of the wait that began after that.
  };
  // A command's end whose worker has not been notified yet.
  struct UnreportedEnd {
    std::string target;
    std::string worker;
    int command = 0;
    bool must_be_told = false;
  };

  void BeginStep() { ++step_; }
  bool Expect(const absl::Status& status, const std::vector<std::string>& allowed);
  void Reach(const std::string& what) { ++reached_[what]; }
  ModelCommand& At(int command) { return commands_[static_cast<size_t>(command)]; }

  static bool Fits(const std::string& name);
  bool IsValid(const CommandRequest& request, absl::Time now) const;
  void RegisterChecked(CommandRequest request, int replay_of, absl::Time now,
                       const absl::Status& status,
                       const std::optional<ObservedRegistration>& answer);
  std::vector<std::string> Refusals(const CommandRequest& request);
  const ModelCommand* FindRequest(const std::string& client, const std::string& request_id) const;
  void Add(CommandRequest request, int replay_of, absl::Time now,
           const ObservedRegistration& answer);

  // "ok", or the NOT_FOUND answer that this client should get.
  std::string Readable(const std::string& client, int command) const;
  void EndByClient(const std::string& client, int command, CommandState state, CommandError error,
                   absl::Time now, const absl::Status& status);

  // The next clock of a command to run out, and the millisecond at which it fires.
  Due NextDue(const ModelCommand& command) const;
  Due NextClock(const ModelCommand& command) const;
  void FireCommand(ModelCommand& command, Clock clock, absl::Time now);
  absl::Time CloseTime(const ModelCommand& command) const;
  // Lets the command wait for a suspended worker; false if none is expected.
  bool WaitsForWorker(ModelCommand& command, absl::Time now);
  Absence& AbsenceOf(const ModelCall& call);
  void EndCall(const ModelCall& call, absl::Time now);

  int64_t Queued(const std::string& target, const std::string* client) const;
  // Whether a result of `bytes` bytes may be kept.
  bool BytesFit(const ModelCommand& command, size_t bytes) const;
  bool Proves(const ModelCommand& command, const ModelProof& proof) const;
  // The delivery that the proof belongs to, or -1.
  static int DeliveryOf(const ModelCommand& command, const ModelProof& proof);
  void Deliver(ModelCommand& command, const std::string& worker, absl::Time now);
  void Return(ModelCommand& command);
  // `reporter`: the delivery whose worker reported the end, or -1.
  void End(ModelCommand& command, CommandState state, std::optional<CommandError> error,
           const char* source, absl::Time now, int reporter);
  void EnterFailedRing(ModelCommand& command, absl::Time now);
  void Remove(ModelCommand& command, absl::Time now);
  void TakeRestoredTombstones(absl::Time now);
  void EvictTombstones(uint8_t partition);
  // Gives the watches of a command its current state.
  void Change(ModelCommand& command);
  void Tell(ModelWatch& watch, const ModelCommand& command);
  void Push(int feed, ModelUpdate update);
  // The command has changed since the waiting update, and its watch has no update for that.
  bool HasPassed(const ModelUpdate& waiting) const;
  // Whether the table may return `update` for `waiting`. `difference`: the only different member,
  // if any.
  bool MayBe(const ModelUpdate& waiting, const ModelUpdate& update, std::string& difference) const;
  void EndWatch(int64_t watch_id);

  Turn& TurnOf(const ModelCommand& command);
  // Records whether the client of `command` waits.
  void UpdateTurn(const ModelCommand& command);
  bool MayBeDelivered(const ModelCommand& command) const;
  // The candidates for the next delivery: several if the contract leaves the order open.
  std::vector<int> NextDeliveries(const std::string& target) const;
  int Room(const ModelCall& call) const;
  bool HasNews(const ModelCall& call) const;
  void SettleAnswer(const ObservedAnswer& answer, absl::Time now);
  void SettleLease(const ModelCall& call, const ObservedAnswer::Lease& lease, absl::Time now);
  void SettleEnded(const ModelCall& call, const std::vector<int>& ended);

  const CommandDeadlines clocks_;
  const CommandLimits limits_;
  const ModelMistake mistake_;
  const Reader reader_;

  std::vector<ModelCommand> commands_;
  std::vector<ModelCall> calls_;     // Held ones, in order of arrival.
  std::vector<ModelWatch> watches_;  // Active ones.
  std::vector<ModelFeed> feeds_;
  std::vector<Turn> turns_;
  std::vector<UnreportedEnd> unreported_;
  std::vector<Absence> absences_;
  bool draining_ = false;
  int64_t late_results_ = 0;

  uint64_t step_ = 0;  // Counts calls of the table.
  uint64_t turn_ = 0;  // Counts what matters for the order of turns.
  // Several deadlines came in the same millisecond: their effects may come in any order.
  bool any_order_ = false;
  uint64_t any_order_from_ = 0;  // turn_ when they came.
  std::set<int> changed_;
  std::set<std::string> without_proof_;  // Workers.
  std::map<std::string, int64_t> reached_;
  std::string disagreement_;
};

}  // namespace callslip::tracker
