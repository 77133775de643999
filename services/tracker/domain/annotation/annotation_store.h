#ifndef CALLSLIP_TRACKER_DOMAIN_ANNOTATION_ANNOTATION_STORE_H_
#define CALLSLIP_TRACKER_DOMAIN_ANNOTATION_ANNOTATION_STORE_H_

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
  // Of the command. Whoever repeats a request_id has to send the same.
  Payload params;
  std::string request_id;
  std::string label;
  // Whoever asks may fail to hand on what there is, and has it collected once that is done.
  bool peek = false;
};

struct DrawingPage {
  std::vector<DrawingPtr> drawings;  // Newest first.
  std::string next_page_token;       // Empty on the last page.
};

// The drawings that people have finished, and the commands that wait for some. Errors are those
// that annotation_service.proto documents. An empty client_id means `local`, an empty target
// `browser`.
//
// A request is registered with the command table first; then, in one step, it either takes what is
// there or begins to wait. Appending keeps a drawing and takes the waiters that it matches, in one
// step as well. So whichever comes first is seen by the other. The commands themselves are
// completed after that, since others are told of their ends and no callback runs under the mutex.
//
// With a journal all of that outlives the process: a command carries what it waits for as its
// subject, and a drawing is kept with its receipts and with the commands that it has still to
// complete, so that Restore() ends what an Append() has begun.
//
// Thread-safe. Knows no transport, no format and no clock: `now` is the time of each call. What is
// out of date is dropped by the next call that looks for it.
class AnnotationStore {
 public:
  // `commands`, and `journal` where there is one, must outlive the store. It is to be the journal
  // of the commands.
  explicit AnnotationStore(CommandTable* commands, const AnnotationLimits& limits = {},
                           Journal* journal = nullptr)
      : limits_(limits),
        commands_(commands),
        journal_(journal),
        memory_(limits.remembered, commands, journal) {}

  // Brings back what the journal has kept, as of `now`: `entries` are those that the restored
  // `commands` have handed on. Before everything else.
  void Restore(std::vector<JournalEntry> entries, absl::Time now);

  // For clients.

  // Two requests of one client at the same time may exceed its limit by one.
  absl::StatusOr<CommandRegistration> Request(AnnotationRequest request, absl::Time now);
  // See AnnotationRequest::peek.
  void Collect(const CommandSnapshot& command) { commands_->Collect(command); }
  // `page_size` 0 means as many as there may be. Collects nothing.
  absl::StatusOr<DrawingPage> List(std::string client_id, AnnotationQuery query, int page_size,
                                   const std::string& page_token, absl::Time now);
  // The client has these.
  void Collect(const std::string& client_id, const std::vector<DrawingPtr>& drawings);

  // For the browser's side.

  // A `drawing_id` that is remembered is answered as it was then; an empty one is another each
  // time. UNAVAILABLE while the journal can't be stored.
  absl::StatusOr<AppendedDrawing> Append(Drawing drawing,
                                         const std::vector<std::string>& command_ids,
                                         const std::string& drawing_id, absl::Time now);

  // For whoever runs the store.

  int64_t drawings();
  int64_t bytes();
  int64_t waiters();

 private:
  using Spec = std::shared_ptr<const CommandSpec>;

  // That a client was given a drawing.
  struct Receipt {
    std::string client_id;
    Spec command;  // With whose result; collected once that is read. Null: collected.

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
    absl::Time until;  // When it has given up.
  };
  // A command that is to be completed.
  struct Completion {
    std::string command_id;
    Payload result;
    Spec command;  // Null where it did not wait here.
  };

  // The drawings of a session as one result.
  struct SessionResult {
    Payload list;
    std::vector<uint64_t> sequences;  // Of the drawings in it.
  };
  using KeptDrawings = absl::btree_map<uint64_t, Kept>;  // By sequence.

  // What the command waits for, as its subject; nullopt where that is no drawing.
  static std::string SubjectOf(const AnnotationQuery& query);
  static std::optional<AnnotationQuery> QueryOf(const CommandSpec& command);

  static SessionResult ListOf(const std::vector<DrawingPtr>& newest_first);

  // RESOURCE_EXHAUSTED where the request would have to wait and must not.
  absl::Status CheckRoom(const AnnotationRequest& request, absl::Time now);
  // What is there for the command, or null where it waits from now on: at least until
  // `wait_until`.
  Payload TakeOrWait(const AnnotationQuery& query, const Spec& command,
                     absl::Time wait_until = absl::InfinitePast());
  // Sets `sequence` to that of the drawing.
  AppendedDrawing AppendNew(Drawing drawing, const std::string& drawing_id,
                            const std::vector<std::string>& command_ids, absl::Time now,
                            uint64_t& sequence);
  // The drawing has no commands to complete any more.
  void NoteCompleted(uint64_t sequence);
  // False where there is no room.
  bool KeepLocked(const DrawingPtr& drawing, const std::string& drawing_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the waits that the drawing matches, and those that `command_ids` name.
  std::vector<Completion> TakeWaitersLocked(const DrawingPtr& drawing, bool stored,
                                            const std::vector<std::string>& command_ids)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The newest drawing that matches and that the client has not collected; null where there is
  // none.
  Kept* FindNewLocked(const AnnotationQuery& query, absl::string_view client_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `unkept` is one more, where it is not null.
  SessionResult OfSessionLocked(const AnnotationQuery& query, const DrawingPtr& unkept)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddReceiptLocked(uint64_t sequence, const Receipt& receipt)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The commands did not take the drawing after all.
  void ForgetReceipts(const std::vector<Spec>& commands);
  KeptDrawings::iterator DropLocked(KeptDrawings::iterator it)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropOldLocked(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Appends what has changed to the journal: before the mutex is released, and so before anybody
  // can be told.
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
  // Drawings whose record is to be appended to the journal.
  absl::btree_set<uint64_t> changed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_ANNOTATION_ANNOTATION_STORE_H_
