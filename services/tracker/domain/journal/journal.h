#pragma once

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

// Present state of a command: all that a restart needs to resume it. Only the newest record of a
// command counts.
struct CommandRecord {
  CommandPtr command;
  boost::container::static_vector<LeaseToken, kMaxAttempts> leases;
  // The worker that holds it or must be notified of its end, and the one before. Empty: none.
  std::string worker;
  std::string worker_before;
  bool heartbeats = true;       // Its worker will continue to acknowledge it.
  bool end_unreported = false;  // It has ended, and its worker must be notified.
  // Position in the order of the ends and removals of all commands; 0 before its end.
  uint64_t end_number = 0;
};

// A reader received the command's result.
struct CommandReceipt {};

// The command was removed, and a tombstone answers for it.
struct CommandRemoval {
  CommandId id;
  std::string client_id;
  CommandState ended_as = CommandState::kExpired;
  // See RequestKey::HashOf(). 0 if it had no request_id, or was removed by a tracker that did not
  // record this.
  uint64_t request_hash = 0;
  int64_t remove_nanos = 0;
  int64_t until_nanos = 0;  // When the tombstone is removed too.
  uint64_t number = 0;      // As CommandRecord::end_number.
};

// A client received a drawing.
struct DrawingReceipt {
  std::string client_id;
  // The command whose result contained it: the drawing is collected when that is read. Absent: it
  // was listed, and is collected.
  std::optional<CommandId> command;
};

// Present state of a stored drawing. Only the newest record of a drawing counts.
struct DrawingRecord {
  DrawingPtr drawing;
  std::string drawing_id;  // See AppendAnnotationsRequest.
  std::vector<DrawingReceipt> receipts;
  // Commands that its Append() must still complete with it.
  std::vector<std::string> to_complete;
};

// The answer to a drawing that may be submitted again.
struct DrawingAnswer {
  std::string target;
  std::string drawing_id;
  absl::Time append_time;
  AppendedDrawing answer;
};

// The drawing, or the answer, was removed.
struct DrawingRemoval {};

// The table was restored. Concerns no command: its sequence is 0.
struct Restart {
  absl::Time time;
};

// One step of the journal. The sequence identifies its subject: each command, drawing and answer
// has its own.
struct JournalEntry {
  uint64_t sequence = 0;
  std::variant<CommandRecord, CommandReceipt, CommandRemoval, DrawingRecord, DrawingAnswer,
               DrawingRemoval, Restart>
      change;
  // For a command or a drawing: nothing of it was appended before.
  bool is_first = false;
};

// Updates `entry` with `newer`, which has the same sequence.
void Supersede(JournalEntry& entry, JournalEntry newer);

// Stores the journal of commands and drawings: the interface to a file or a replicated log. Not
// thread-safe: used by one thread at a time.
//
// A storage keeps what is still needed and can forget the rest. It keeps the newest record of each
// command with its receipt, tombstones until their time has come, and the newest record of each
// drawing and each answer until its removal.
class JournalStorage {
 public:
  virtual ~JournalStorage() = default;

  // Number of appends so far.
  virtual uint64_t position() const = 0;
  // Appends all of `entries` or none; when this has returned, they survive what the storage
  // promises to survive. FAILED_PRECONDITION, permanently, if another writer has appended after
  // `position`. Any other error can be temporary: the same entries can be appended again.
  virtual absl::Status Append(uint64_t position, absl::Span<const JournalEntry> entries) = 0;
  // False while it is behind with its work and would refuse more. A caller that can wait should
  // wait a little, because the storage catches up by itself. Does not block.
  virtual bool HasRoom() { return true; }

  // Returns the deadlines of a restored command from its overrides.
  using ClocksOf = std::function<std::shared_ptr<const CommandDeadlines>(const DeadlineOverrides&,
                                                                         CommandClass)>;
  // Totals of the journal.
  struct Summary {
    uint64_t last_sequence = 0;  // Of all entries ever appended.
    int64_t latest_nanos = 0;    // The latest time in any entry.
  };
  // Call before the first append.
  virtual absl::StatusOr<Summary> Summarize() = 0;
  // Passes everything that was kept to `each`. Call once, before the first append. Order: records
  // of commands by registration, then removals by time; then drawings, then answers, each by
  // sequence.
  virtual absl::Status Replay(const ClocksOf& clocks,
                              const std::function<void(JournalEntry)>& each) = 0;
};

// Changes of commands and drawings that must still be appended to a storage. Only the newest change
// of each waits, so there are never more than commands and drawings, plus recently removed ones.
//
// Append() is cheap, and is called with the mutex held that guards the changed object. Thread-safe;
// its lock is taken last.
class Journal {
 public:
  // `listener` is called, with that mutex held, when a change waits and none waited before. Call
  // before the journal is used.
  void SetListener(std::function<void()> listener) { listener_ = std::move(listener); }

  // Limit of a batch, for changes that waited while a storage failed.
  static constexpr int64_t kMaxBatchBytes = int64_t{64} << 20;

  void Append(JournalEntry entry);

  // Number of calls of Append().
  uint64_t appended() const { return appended_.load(std::memory_order_acquire); }

  struct Batch {
    std::vector<JournalEntry> entries;
    // Value of appended() when the batch was taken; 0 if changes are left for the next batch.
    uint64_t appended = 0;
  };
  // Takes waiting changes, up to `max_bytes` and one entry more. Only one batch can be out at a
  // time: it is either stored, or put back.
  Batch Take(int64_t max_bytes = kMaxBatchBytes);
  // Keeps changes that were appended since.
  void PutBack(Batch batch);

  // While false, new commands and drawings are refused, because they could not be stored.
  bool accepts_commands() const { return accepts_commands_.load(std::memory_order_relaxed); }
  void AcceptCommands(bool accept) { accepts_commands_ = accept; }

 private:
  std::function<void()> listener_;
  std::atomic<uint64_t> appended_{0};
  std::atomic<bool> accepts_commands_{true};

  Mutex mutex_;
  std::vector<JournalEntry> waiting_ ABSL_GUARDED_BY(mutex_);
  // At least the bytes of `waiting_`.
  int64_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Index in `waiting_` of a sequence's entry.
  absl::flat_hash_map<uint64_t, size_t> places_ ABSL_GUARDED_BY(mutex_);
};

// Records that the command's result was read; also in the journal, unless `journal` is null or the
// command is not COMPLETED.
void MarkResultRead(const CommandSnapshot& command, Journal* journal);

}  // namespace callslip::tracker
