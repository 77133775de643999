#ifndef CALLSLIP_TRACKER_STORAGE_FILE_SESSION_STORAGE_H_
#define CALLSLIP_TRACKER_STORAGE_FILE_SESSION_STORAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/movable_session_storage.h"

namespace callslip::tracker {

// Sessions as files:
//
//   sessions/.lock                 held by the process that uses them
//   sessions/{id}/events.jsonl     the log (event_log.h)
//   sessions/{id}/metadata.json    session_json.h
//   sessions/{id}/queue.json       session_json.h; missing as long as nothing was queued
//   sessions/{id}/img-…            image_folder.h
//
// Crash rules. The log is the truth about what has happened. The other two are replaced whole, so
// that each is either the old or the new one. A session is stored in the order log, queue,
// metadata; loading it puts right what a crash between two of them leaves: the counters of the
// metadata are those of the log, and a session whose log ends with a session_end that the metadata
// do not know of has ended. A session is made in a folder of another name and renamed when it is
// complete, its session_start included, and is renamed before it is removed; what a crash leaves of
// these is removed by Open().
//
// Damage. There is one way to load a session, and it ends with a whole one or with an error, after
// which nothing was lost: what can't be read now may be readable later. Metadata that are missing
// are made anew from the log, with the owner that its session_start names; such that mean nothing
// are put aside first, as metadata.json.damaged or, where there is one already, .damaged-2 and so
// on, as is a queue.json, upon which the queue is paused
// with `queue_damaged`. Where the log has lost events that the metadata know of, an `error` with
// the code `events_lost` says so, and no seq is used twice.
//
// Thread-safe for different sessions.
class FileSessionStorage final : public MovableSessionStorage {
 public:
  // Takes the folder `data_dir`/sessions, which is made where it is missing. The lock goes with the
  // process that holds it, however that ends. DataDirectoryLocked, StorageFailed. `disk` must
  // outlive the storage and all that it loads.
  static absl::StatusOr<std::unique_ptr<FileSessionStorage>> Open(const std::string& data_dir,
                                                                  Disk* disk);

  // Reads the metadata of all sessions, and the logs of those that were in use at a crash. What is
  // no session is left alone, and one that can't be loaded is listed with its damage.
  absl::StatusOr<std::vector<SessionMetadata>> List() override;
  absl::StatusOr<LoadedSession> Load(const std::string& id) override;
  absl::Status Remove(const std::string& id) override;
  absl::Status Copy(const std::string& id, SessionSink& to) override;
  absl::StatusOr<std::unique_ptr<SessionSink>> Put(const std::string& id) override;

 private:
  // What metadata.json says; nothing where it is missing or means nothing.
  struct MetadataFile {
    std::optional<SessionMetadata> metadata;
    bool is_damaged = false;
  };

  // Of a folder that is not complete. Ids of sessions never begin with a dot.
  static constexpr char kNewPrefix[] = ".new-";

  FileSessionStorage(std::string folder, Disk* disk, File lock);

  std::string FolderOf(const std::string& id) const;
  // Removes what creating and removing sessions has left behind, as far as that is possible.
  void Sweep();
  absl::Status RemoveTree(const std::string& folder);
  // None where that is no session.
  std::optional<SessionMetadata> Listed(const std::string& id);
  absl::StatusOr<MetadataFile> ReadMetadata(const std::string& id);
  absl::Status ReadQueue(const std::string& folder, LoadedSession& loaded);
  // Renames a file that means nothing.
  absl::Status PutAside(const std::string& path);
  absl::StatusOr<bool> Exists(const std::string& id) override;
  absl::Status Make(SessionMetadata metadata) override;
  absl::Status Unmake(const SessionMetadata& metadata) override;

  const std::string folder_;
  Disk* const disk_;
  const File lock_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_FILE_SESSION_STORAGE_H_
