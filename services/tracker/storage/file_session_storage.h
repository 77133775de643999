#pragma once

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
//   sessions/{id}/queue.json       session_json.h; missing until a message is queued
//   sessions/{id}/img-…            image_folder.h
//
// Crash rules. The log is authoritative. The other two files are replaced atomically, so each is
// either the old or the new version. A session is stored in the order log, queue, metadata. Loading
// it repairs what a crash in between leaves: the counters of the metadata are taken from the log,
// and a session whose log ends with a session_end unknown to the metadata has ended. A session is
// created in a folder of another name, which is renamed when it is complete with its session_start;
// before a session is removed, its folder is renamed. Open() removes what a crash leaves of these
// folders.
//
// Damage. Loading a session yields either a complete session or an error, after which nothing is
// lost: what cannot be read now may be readable later. Missing metadata are recreated from the log,
// with the owner that its session_start names. Invalid metadata are first set aside as
// metadata.json.damaged or, if that exists, .damaged-2 and so on. An invalid queue.json is set
// aside too, and the queue is paused with `queue_damaged`. If the log has lost events that the
// metadata know of, an `error` with the code `events_lost` reports that, and no seq is used twice.
//
// Thread-safe for different sessions.
class FileSessionStorage final : public MovableSessionStorage {
 public:
  // Locks the folder `data_dir`/sessions, which is created if it is missing. The lock ends with the
  // process that holds it, however that ends. DataDirectoryLocked, StorageFailed. `disk` must
  // outlive the storage and everything it loads.
  static absl::StatusOr<std::unique_ptr<FileSessionStorage>> Open(const std::string& data_dir,
                                                                  Disk* disk);

  // Reads the metadata of all sessions, and the logs of those that were in use at a crash. Folders
  // that are not sessions are left alone; a session that cannot be loaded is listed with its
  // damage.
  absl::StatusOr<std::vector<SessionMetadata>> List() override;
  absl::StatusOr<LoadedSession> Load(const std::string& id) override;
  absl::Status Remove(const std::string& id) override;
  absl::Status Copy(const std::string& id, SessionSink& to) override;
  absl::StatusOr<std::unique_ptr<SessionSink>> Put(const std::string& id) override;

 private:
  // The contents of metadata.json; nullopt if it is missing or invalid.
  struct MetadataFile {
    std::optional<SessionMetadata> metadata;
    bool is_damaged = false;
  };

  // The prefix of an incomplete folder. Ids of sessions never begin with a dot.
  static constexpr char kNewPrefix[] = ".new-";

  FileSessionStorage(std::string folder, Disk* disk, File lock);

  std::string FolderOf(const std::string& id) const { return JoinPath(folder_, id); }
  // Removes leftovers of creating and removing sessions, as far as possible.
  void Sweep();
  absl::Status RemoveTree(const std::string& folder);
  // Nullopt if it is not a session.
  std::optional<SessionMetadata> Listed(const std::string& id);
  absl::StatusOr<MetadataFile> ReadMetadata(const std::string& id);
  absl::Status ReadQueue(const std::string& folder, LoadedSession& loaded);
  // Renames an invalid file.
  absl::Status PutAside(const std::string& path);
  absl::StatusOr<bool> Exists(const std::string& id) override;
  absl::Status Make(SessionMetadata metadata) override;
  absl::Status Unmake(const SessionMetadata& metadata) override;

  const std::string folder_;
  Disk* const disk_;
  const File lock_;
};

}  // namespace callslip::tracker
