#ifndef CALLSLIP_TRACKER_STORAGE_FILE_SESSION_STORAGE_H_
#define CALLSLIP_TRACKER_STORAGE_FILE_SESSION_STORAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/domain/session/session_storage.h"
#include "tracker/storage/disk.h"

namespace callslip::tracker {

// Sessions as files:
//
//   sessions/.lock                 held by the process that uses them
//   sessions/{id}/events.jsonl     the log (event_log.h)
//   sessions/{id}/metadata.json    session_json.h
//   sessions/{id}/queue.json       session_json.h; missing as long as nothing was queued
//
// Crash rules. The log is the truth about what has happened. The other two are replaced whole, so
// that each is either the old or the new one. A session is stored in the order log, queue,
// metadata; loading it puts right what a crash between two of them leaves: the counters of the
// metadata are those of the log, a session whose log ends with a session_end that the metadata do
// not know of has ended, and metadata that are missing or damaged are made anew from the log. A
// session is made in a folder of another name and renamed when it is complete, and is renamed
// before it is removed; what a crash leaves of these is removed by Open(). A queue.json that can't
// be read is put aside as queue.json.damaged, and the queue is paused with `queue_damaged`.
//
// Thread-safe for different sessions.
class FileSessionStorage final : public SessionStorage {
 public:
  // Takes the folder `data_dir`/sessions, which is made where it is missing. The lock goes with the
  // process that holds it, however that ends. DataDirectoryLocked, StorageFailed. `disk` must
  // outlive the storage and all that it loads.
  static absl::StatusOr<std::unique_ptr<FileSessionStorage>> Open(const std::string& data_dir,
                                                                  Disk* disk);

  // Reads the metadata of all sessions, and the logs of those that were in use at a crash.
  absl::StatusOr<std::vector<SessionMetadata>> List() override;
  absl::StatusOr<LoadedSession> Create(const SessionMetadata& metadata) override;
  absl::StatusOr<LoadedSession> Load(const std::string& id) override;
  absl::Status Remove(const std::string& id) override;

 private:
  FileSessionStorage(std::string folder, Disk* disk, File lock);

  std::string FolderOf(const std::string& id) const;
  // Removes what creating and removing sessions has left behind.
  absl::Status Sweep();
  absl::Status RemoveTree(const std::string& folder);
  absl::StatusOr<SessionMetadata> ReadMetadata(const std::string& id);

  const std::string folder_;
  Disk* const disk_;
  const File lock_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_FILE_SESSION_STORAGE_H_
