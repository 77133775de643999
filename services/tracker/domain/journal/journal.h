#ifndef CALLSLIP_TRACKER_DOMAIN_JOURNAL_JOURNAL_H_
#define CALLSLIP_TRACKER_DOMAIN_JOURNAL_JOURNAL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "boost/container/static_vector.hpp"
#include "common/mutex.h"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/journal/drawing.h"

namespace callslip::tracker {

// A command as it is now: all that a restart needs to go on with it. The newest one of a command is
// the one that counts.
struct CommandRecord {
  CommandPtr command;
  boost::container::static_vector<LeaseToken, kMaxAttempts> leases;
  // That holds it, or must be told of its end; and the one before. Empty: none.
  std::string worker;
  std::string worker_before;
  bool heartbeats = true;       // Its worker will go on to acknowledge it.
  bool end_unreported = false;  // It has ended, and its worker must be told so.
  // Counts ends and removals of all commands, for the order of those that have ended; 0 before.
  uint64_t end_number = 0;
};

// Somebody has been given the command's result.
struct CommandReceipt {};

// The command is gone, and a tombstone answers for it.
struct CommandRemoval {
  CommandId id;
  std::string client_id;
  CommandState ended_as = CommandState::kExpired;
  // See RequestKey::HashOf(); 0 where it came without a request_id, or was removed by a tracker
  // that did not note it.
  uint64_t request_hash = 0;
  int64_t remove_nanos = 0;
  int64_t until_nanos = 0;  // When the tombstone goes as well.
  uint64_t number = 0;      // As CommandRecord::end_number.
};

// That a client was given a drawing.
struct DrawingReceipt {
  std::string client_id;
  // With whose result: collected once that was read. Absent: in a list, and collected.
  std::optional<CommandId> command;
};

// A drawing that is kept, as it is now. The newest one of a drawing is the one that counts.
struct DrawingRecord {
  DrawingPtr drawing;
  std::string drawing_id;  // See AppendAnnotationsRequest.
  std::vector<DrawingReceipt> receipts;
  // Commands that have still to be completed with it: what its Append() has begun.
  std::vector<std::string> to_complete;
};

// What was answered to a drawing that may be handed in again.
struct DrawingAnswer {
  std::string target;
  std::string drawing_id;
  absl::Time append_time;
  AppendedDrawing answer;
};

// The drawing, or the answer, is gone.
struct DrawingRemoval {};

// The table was restored. Of no command: its sequence is 0.
struct Restart {
  absl::Time time;
};

// One step of the journal. What it is about is named by its sequence: each command, drawing and
// answer has its own.
struct JournalEntry {
  uint64_t sequence = 0;
  std::variant<CommandRecord, CommandReceipt, CommandRemoval, DrawingRecord, DrawingAnswer,
               DrawingRemoval, Restart>
      change;
  // Of a command or a drawing: nothing of it was appended before.
  bool is_first = false;
};

// Makes of `entry` what it is after `newer`, of the same sequence.
void Supersede(JournalEntry& entry, JournalEntry newer);

// Where the journal of commands and drawings is kept: the seam behind which a file, or a replicated
// log, may lie. Used by one thread at a time.
//
// A storage keeps what still matters and may forget the rest: of each command its newest record,
// with its receipt, and tombstones until their time has come; of each drawing and each answer the
// newest record until its removal.
class JournalStorage {
 public:
  virtual ~JournalStorage() = default;

  // How many appends there have been.
  virtual uint64_t position() const = 0;
  // Appends all of `entries` or none; once this has returned, they survive what the storage
  // promises to survive. FAILED_PRECONDITION, for ever, where somebody else has appended after
  // `position`. Any other error may pass: the same entries can be appended again.
  virtual absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) = 0;
  // False while it is behind with what it was given, and would refuse more: whoever can wait a
  // little should, since it works on that by itself. At once.
  virtual bool HasRoom() { return true; }

  // The clocks of a restored command, from what it brought along.
  using ClocksOf = std::function<std::shared_ptr<const CommandDeadlines>(const DeadlineOverrides&,
                                                                         CommandClass)>;
  // What is known besides the commands themselves.
  struct Summary {
    uint64_t last_sequence = 0;  // Of all entries that were ever appended.
    int64_t latest_nanos = 0;    // The latest time in any entry.
  };
  // To be called before the first append.
  virtual absl::StatusOr<Summary> Summarize() = 0;
  // Gives all that was kept, once and before the first append: records of commands in the order of
  // registration, then removals by their time; then drawings, then answers, each by sequence.
  virtual absl::Status Replay(const ClocksOf& clocks,
                              const std::function<void(JournalEntry)>& each) = 0;
};

// The changes of commands and drawings that are still to be appended to a storage. Of each only
// what is newest waits, so that there are never more than there are of them, and removed ones of
// late.
//
// Append() is cheap, and called with the mutex held that guards what has changed. Thread-safe; its
// lock is the last one.
class Journal {
 public:
  // Called, with that mutex held, when something waits where nothing has. Before the
  // journal is used.
  void SetListener(std::function<void()> listener) { listener_ = std::move(listener); }

  // Of what may have waited for a storage that has failed for a while.
  static constexpr int64_t kMaxBatchBytes = int64_t{64} << 20;

  void Append(JournalEntry entry);

  // Counts the calls of Append().
  uint64_t appended() const { return appended_.load(std::memory_order_acquire); }

  struct Batch {
    std::vector<JournalEntry> entries;
    // When it was taken; 0 where something is left, for the next batch.
    uint64_t appended = 0;
  };
  // Takes what waits, up to `max_bytes` and one entry more. One batch at a time is out: it is
  // either stored, or put back.
  Batch Take(int64_t max_bytes = kMaxBatchBytes);
  // What has changed since stays as it is.
  void PutBack(Batch batch);

  // While it does not, new commands and drawings are refused: they could not be kept.
  bool accepts_commands() const { return accepts_commands_.load(std::memory_order_relaxed); }
  void AcceptCommands(bool accept) { accepts_commands_ = accept; }

 private:
  std::function<void()> listener_;
  std::atomic<uint64_t> appended_{0};
  std::atomic<bool> accepts_commands_{true};

  Mutex mutex_;
  std::vector<JournalEntry> waiting_ ABSL_GUARDED_BY(mutex_);
  // At least those of `waiting_`.
  int64_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Where in `waiting_` the entry of a sequence is.
  absl::flat_hash_map<uint64_t, size_t> places_ ABSL_GUARDED_BY(mutex_);
};

// Gives the command its read receipt, and notes it in the journal where there is one and it
// matters.
void MarkResultRead(const CommandSnapshot& command, Journal* journal);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_JOURNAL_JOURNAL_H_
