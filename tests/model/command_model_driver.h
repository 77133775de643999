#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/command_model.h"
#include "model/command_model_schedule.h"
#include "model/mortal_journal_storage.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::tracker {

// Counts the calls of OnReady().
class CountingFeed final : public CommandFeed {
 public:
  void OnReady() override { ++ready_calls_; }
  int ready_calls() const { return ready_calls_; }

 private:
  int ready_calls_ = 0;
};

// Runs one schedule on a table and on the model, and compares them call by call. Test code only.
class ModelDriver {
 public:
  ModelDriver(const Setup& setup, ModelMistake mistake);

  // Does nothing after the first disagreement.
  void Apply(const Op& op);
  // Lets everything end, and checks that nothing is left.
  void Finish();

  bool failed() const { return !model_.disagreement().empty(); }
  const std::string& disagreement() const { return model_.disagreement(); }
  const CommandModel& model() const { return model_; }
  absl::Time now() const { return now_; }

  // The slots that a generator can choose from.
  int SlotOf(int command) const { return known_[static_cast<size_t>(command)].slot; }
  const std::vector<int>& pages() const { return page_slots_; }

 private:
  struct Known {
    CommandId id;
    int slot = 0;
    std::vector<CommandLease> leases;
    int64_t revision = 0;
    CommandView view;
    bool read = false;  // `view` is set.
  };
  struct Call {
    std::shared_ptr<HeldCall> handle;
    int answers = 0;
    bool abandoned = false;
  };
  struct Page {
    std::string token;
    int last = -1;
    Op op;
  };

  // Advances to `target`, and fires each deadline on the way when it is due.
  void MoveTo(absl::Time target);
  void FireAt(absl::Time time);
  // Fires the deadlines that a call has made due at once.
  void FireWhatIsDue();
  // Advances to the next unused time, see kTimeGridMs.
  void MoveToFreeTime(bool within_ms);

  void Do(const Op& op);
  void DoRegister(const Op& op);
  void DoRepeat(const Op& op);
  void DoReplay(const Op& op);
  void DoGet(const Op& op);
  void DoList(const Op& op);
  void DoCancel(const Op& op);
  void DoExpire(const Op& op);
  void DoLease(const Op& op);
  void DoAbandon(const Op& op);
  void DoGiveBack(const Op& op);
  void DoAcknowledge(const Op& op);
  void DoComplete(const Op& op);
  void DoWatch(const Op& op);
  void DoWatchAll(const Op& op);
  void DoUnwatch(const Op& op);
  void DoFailWatch(const Op& op);
  void DoTake(const Op& op);
  void DoJump();
  void DoDrain();
  void DoOnNoLeases(const Op& op);
  void DoRestart();
  // Stores the entries that wait in the journal.
  void Commit();

  CommandRequest RequestOf(const Op& op) const;
  void RegisterRequest(int slot, const CommandRequest& request);
  std::optional<ObservedRegistration> Note(int slot,
                                           const absl::StatusOr<CommandRegistration>& answer);
  void CheckSpec(const CommandSpec& spec, const CommandRequest& request);

  // The command of `slot`; -1: a made-up one; nullopt: the operation is to be skipped.
  std::optional<int> Find(int slot) const;
  std::string IdOf(int command, int slot) const;
  struct Quoted {
    LeaseProof proof;
    ModelProof model;
  };
  std::optional<Quoted> Quote(const Op& op, int command);
  std::string Client(const Op& op) const {
    return op.blank && op.client == 0 ? "" : kClients[static_cast<size_t>(op.client)];
  }
  std::string Target(const Op& op) const {
    return op.blank && op.target == 0 ? "" : kTargets[static_cast<size_t>(op.target)];
  }
  CommandFilter FilterOf(const Op& op) const;
  // JSON of at least `bytes` bytes that names `slot`; nullptr for 0.
  static Payload JsonOf(size_t bytes, int slot);

  std::vector<ObservedAnswer> TakeAnswers();
  void Settle();
  // After each call: checks the changed commands, and from time to time all of them.
  void Check();
  void CheckCommand(int command);
  void CheckCounts();
  std::string Read(int command);

  Setup setup_;
  // Null if the setup has no restarts.
  std::unique_ptr<MortalJournalStorage> storage_;
  int restarts_ = 0;
  Journal journal_;
  CommandTable table_;
  CommandModel model_;
  absl::Time now_;
  std::set<int64_t> used_times_;
  absl::Time armed_ = absl::InfiniteFuture();
  int checks_ = 0;
  bool asked_for_no_leases_ = false;
  bool told_of_no_leases_ = false;

  std::vector<Known> known_;
  absl::flat_hash_map<CommandId, int> numbers_;
  std::map<int, int> commands_by_slot_;
  std::map<int, CommandRequest> requests_;
  std::map<int, Call> calls_;
  std::map<int, CommandTable::Watching> watches_;
  std::map<std::pair<int64_t, int>, int64_t> told_revisions_;
  std::map<int, Page> pages_;
  std::vector<int> page_slots_;
  std::vector<std::shared_ptr<CountingFeed>> feeds_;
  // Answers to workers since the last call of the table, in their order.
  std::vector<std::pair<int, WorkerNews>> news_;
};

// Runs all of a schedule; returns the first disagreement, or empty.
std::string RunSchedule(const Schedule& schedule, ModelMistake mistake);

}  // namespace callslip::tracker
