#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tracker/domain/annotation/annotation_limits.h"
#include "tracker/domain/annotation/drawing_memory.h"
#include "tracker/domain/journal/drawing.h"
#include "tracker/domain/journal/journal.h"
#include "tracker/domain/queue/command_table.h"

namespace callslip::tracker {

// See RequestAnnotationsRequest in annotation_service.proto.
struct AnnotationRequest {
  std::string client_id;
  AnnotationQuery query;
  // Of the command. A repeat of a request_id must send the same.
  Payload params;
  std::string request_id;
  std::string label;
  // The caller may fail to pass on the result, and calls Collect() after it was passed on.
  bool peek = false;
};

struct DrawingPage {
  std::vector<DrawingPtr> drawings;  // Newest first.
  std::string next_page_token;       // Empty on the last page.
};

// Finished drawings of people, and commands that wait for drawings. Errors are documented in
// annotation_service.proto. An empty client_id means `local`, an empty target `browser`.
//
// A request is first registered with the command table; then, in one step, it either takes an
// existing drawing or begins to wait. Appending stores a drawing and takes the waiters that it
// matches, in one step as well. So whichever comes first is seen by the other. The commands are
// completed afterwards, because their ends are reported to others and no callback runs under the
// mutex.
//
// With a journal, all of that outlives the process: a command's subject stores what it waits for,
// and a drawing is stored with its receipts and with the commands that it must still complete, so
// that Restore() finishes an interrupted Append().
//
// Thread-safe. Knows no transport, no format and no clock: `now` is the time of each call. Outdated
// objects are dropped by the next call that looks for them.
class AnnotationStore {
 public:
  // `commands`, and `journal` unless it is null, must outlive the store. `journal` must be the
  // journal of the commands.
  explicit AnnotationStore(CommandTable* commands, const AnnotationLimits& limits = {},
                           Journal* journal = nullptr)
      : limits_(limits),
        commands_(commands),
        journal_(journal),
        memory_(limits.remembered, commands, journal) {}

  // Restores what the journal has kept, as of `now`. `entries`: those that the restored `commands`
  // have passed on. Call before everything else.
  void Restore(std::vector<JournalEntry> entries, absl::Time now);

  // For clients.

  // Two simultaneous requests of one client can exceed its limit by one.
  absl::StatusOr<CommandRegistration> Request(AnnotationRequest request, absl::Time now);
  // See AnnotationRequest::peek.
  void Collect(const CommandSnapshot& command) { commands_->Collect(command); }
  // `page_size` 0 means the maximum. Collects nothing.
  absl::StatusOr<DrawingPage> List(std::string client_id, AnnotationQuery query, int page_size,
                                   const std::string& page_token, absl::Time now);
  // The client has received these.
  void Collect(const std::string& client_id, const std::vector<DrawingPtr>& drawings);

  // For browsers.

  // A remembered `drawing_id` gets its first answer again; an empty one always means a new drawing.
  // UNAVAILABLE while the journal can't be stored.
  absl::StatusOr<AppendedDrawing> Append(Drawing drawing,
                                         const std::vector<std::string>& command_ids,
                                         const std::string& drawing_id, absl::Time now);

  // For the owner of the store.

  int64_t drawings();
  int64_t bytes();
  int64_t waiters();

 private:
  using Spec = std::shared_ptr<const CommandSpec>;

  // Records that a client received a drawing.
  struct Receipt {
    std::string client_id;
    Spec command;  // The command whose result contained it: collected when that is read. Null:
                   // collected.

    bool operator==(const Receipt&) const = default;
  };
  // See DrawingRecord.
  struct Kept {
    DrawingPtr drawing;
    std::string drawing_id;
    std::vector<Receipt> receipts;
    std::vector<std::string> to_complete;
    bool is_journaled = false;

    bool IsCollectedBy(absl::string_view client_id) const;
  };
  struct Waiter {
    Spec command;
    AnnotationQuery query;
    absl::Time until;  // When it gives up.
  };
  // A command that must be completed.
  struct Completion {
    std::string command_id;
    Payload result;
    Spec command;  // Null if it did not wait here.
  };

  // The drawings of a session as one result.
  struct SessionResult {
    Payload list;
    std::vector<uint64_t> sequences;  // Of the drawings in it.
  };
  using KeptDrawings = absl::btree_map<uint64_t, Kept>;  // By sequence.

  // Convert between a query and the subject of the command that waits for it. Nullopt if the
  // command waits for no drawing.
  static std::string SubjectOf(const AnnotationQuery& query);
  static std::optional<AnnotationQuery> QueryOf(const CommandSpec& command);

  static SessionResult ListOf(const std::vector<DrawingPtr>& newest_first);

  // RESOURCE_EXHAUSTED if the request would have to wait, and a limit is reached.
  absl::Status CheckRoom(const AnnotationRequest& request, absl::Time now);
  // Returns the result for the command, or null if it waits from now on: at least until
  // `wait_until`.
  Payload TakeOrWait(const AnnotationQuery& query, const Spec& command,
                     absl::Time wait_until = absl::InfinitePast());
  // Sets `sequence` to that of the drawing.
  AppendedDrawing AppendNew(Drawing drawing, const std::string& drawing_id,
                            const std::vector<std::string>& command_ids, absl::Time now,
                            uint64_t& sequence);
  // The drawing has no more commands to complete.
  void NoteCompleted(uint64_t sequence);
  // False if there is no room.
  bool KeepLocked(const DrawingPtr& drawing, const std::string& drawing_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the waits that the drawing matches, and those that `command_ids` name.
  std::vector<Completion> TakeWaitersLocked(const DrawingPtr& drawing, bool stored,
                                            const std::vector<std::string>& command_ids)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The newest matching drawing that the client has not collected; null if there is none.
  Kept* FindNewLocked(const AnnotationQuery& query, absl::string_view client_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `unkept`: one more drawing, unless it is null.
  SessionResult OfSessionLocked(const AnnotationQuery& query, const DrawingPtr& unkept)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddReceiptLocked(uint64_t sequence, const Receipt& receipt)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the receipts of commands that did not take the drawing after all.
  void ForgetReceipts(const std::vector<Spec>& commands);
  KeptDrawings::iterator DropLocked(KeptDrawings::iterator it)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropOldLocked(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Appends changes to the journal. Called before the mutex is released, and so before any client
  // can be notified.
  void JournalLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Parts of Restore().
  void RestoreDrawing(DrawingRecord record);
  void RestoreWaiter(const Spec& command, absl::Time now);
  void FinishAppend(const Kept& begun, absl::Time now);

  const AnnotationLimits limits_;
  CommandTable* const commands_;
  Journal* const journal_;
  DrawingMemory memory_;

  Mutex mutex_;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  KeptDrawings drawings_ ABSL_GUARDED_BY(mutex_);
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);  // Oldest first.
  // Drawings whose record must be appended to the journal.
  absl::btree_set<uint64_t> changed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
