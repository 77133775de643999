#include "tracker/storage/file_session_storage.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/storage/aside_name.h"
#include "tracker/storage/event_log.h"
#include "tracker/storage/image_folder.h"
#include "tracker/storage/json.h"
#include "tracker/storage/log_summary.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {
namespace {

// Used like kNewPrefix.
constexpr char kRemovedPrefix[] = ".removed-";

class FileSessionRecord final : public SessionRecord {
 public:
  FileSessionRecord(Disk* disk, std::string folder, std::unique_ptr<EventLog> log,
                    ImageFolder images)
      : disk_(disk), folder_(std::move(folder)), log_(std::move(log)), images_(std::move(images)) {}

  absl::StatusOr<std::vector<AppendedEvent>> AppendAll(std::vector<NewEvent> events,
                                                       absl::Time now) override {
    return log_->AppendAll(std::move(events), now);
  }
  absl::Status SyncLog() override { return log_->Sync(); }
  absl::StatusOr<EventPage> Read(const EventQuery& query) override { return log_->Read(query); }
  absl::StatusOr<int64_t> Prune(const SessionRetention& retention) override {
    return log_->Prune(retention);
  }
  absl::Status SaveQueue(const std::deque<QueuedMessage>& messages, const DeliveryState& delivery,
                         absl::Time now) override {
    return disk_->ReplaceFile(folder_, kQueueFile, EncodeQueue(messages, delivery, now));
  }
  absl::Status SaveMetadata(const SessionMetadata& metadata) override {
    return disk_->ReplaceFile(folder_, kMetadataFile, EncodeMetadata(metadata));
  }
  absl::Status CheckObject(absl::string_view field, absl::string_view json) const override {
    return CheckJsonObject(field, json);
  }
  absl::StatusOr<ImageRef> PutImage(const std::string& data, const std::string& name,
                                    size_t limit) override {
    return images_.Put(data, name, limit);
  }
  absl::StatusOr<Image> GetImage(const std::string& id) override { return images_.Get(id); }
  int64_t image_bytes() const override { return images_.bytes(); }
  int64_t max_seq() const override { return log_->max_seq(); }
  int64_t event_count() const override { return log_->size(); }
  int64_t log_bytes() const override { return log_->bytes(); }
  void CloseFiles() override { log_->CloseFile(); }

 private:
  Disk* const disk_;
  const std::string folder_;
  const std::unique_ptr<EventLog> log_;
  ImageFolder images_;
};

// Records that the log has lost events that an observer may have seen.
absl::Status RecordLoss(const SessionMetadata& known, EventLog& log) {
  const int64_t first = log.max_seq() + 1;
  log.SkipTo(known.max_seq);
  ErrorEvent loss{.message = absl::StrCat("events ", first, " to ", known.max_seq,
                                          " are lost: the log has lost its end"),
                  .code = "events_lost"};
  RETURN_IF_ERROR(log.Append(std::move(loss), known.updated_at).status());
  return log.Sync();
}

}  // namespace

FileSessionStorage::FileSessionStorage(std::string folder, Disk* disk, File lock)
    : folder_(std::move(folder)), disk_(disk), lock_(std::move(lock)) {}

absl::StatusOr<std::unique_ptr<FileSessionStorage>> FileSessionStorage::Open(
    const std::string& data_dir, Disk* disk) {
  const std::string folder = JoinPath(data_dir, "sessions");
  ASSIGN_OR_RETURN(const auto has_data, disk->Look(data_dir));
  if (!has_data.has_value()) {
    RETURN_IF_ERROR(disk->MakeFolder(data_dir));
    RETURN_IF_ERROR(disk->SyncFolder(JoinPath(data_dir, "..")));
  }
  ASSIGN_OR_RETURN(const auto has_sessions, disk->Look(folder));
  if (!has_sessions.has_value()) {
    RETURN_IF_ERROR(disk->MakeFolder(folder));
    RETURN_IF_ERROR(disk->SyncFolder(data_dir));
  }
  const std::string path = JoinPath(folder, ".lock");
  File lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.is_open()) return DiskError("open", path);
  if (flock(lock.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK ? DataDirectoryLocked(data_dir) : DiskError("lock", path);
  }
  std::unique_ptr<FileSessionStorage> storage(
      new FileSessionStorage(folder, disk, std::move(lock)));
  storage->Sweep();
  return storage;
}

absl::StatusOr<std::vector<SessionMetadata>> FileSessionStorage::List() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, disk_->NamesIn(folder_));
  std::vector<SessionMetadata> sessions;
  for (const std::string& name : names) {
    if (!CheckSessionId(name).ok()) continue;
    std::optional<SessionMetadata> listed = Listed(name);
    if (listed.has_value()) sessions.push_back(*std::move(listed));
  }
  return sessions;
}

std::optional<SessionMetadata> FileSessionStorage::Listed(const std::string& id) {
  const absl::StatusOr<MetadataFile> file = ReadMetadata(id);
  const bool has_metadata = file.ok() && file->metadata.has_value();
  if (has_metadata) {
    const auto log = disk_->Look(JoinPath(FolderOf(id), EventLog::kFileName));
    if (log.ok() && log->has_value() && (*log)->size == file->metadata->log_bytes) {
      const absl::StatusOr<std::string> text =
          disk_->ReadFile(JoinPath(FolderOf(id), kQueueFile), kMaxQueueFileBytes);
      if (absl::IsNotFound(text.status())) return file->metadata;
      const std::optional<QueueFile> queue = text.ok() ? DecodeQueue(*text) : std::nullopt;
      if (queue.has_value()) {
        SessionMetadata listed = *file->metadata;
        listed.queue = SummaryOf(*queue);
        return listed;
      }
    }
  }
  const absl::StatusOr<LoadedSession> loaded = Load(id);
  if (loaded.ok()) return loaded->metadata;
  if (absl::IsNotFound(loaded.status())) {
    Log(LogLevel::kWarning, "an entry that is not a session is ignored", {{"path", FolderOf(id)}});
    return std::nullopt;
  }
  return Damaged(id, has_metadata ? file->metadata : std::nullopt, loaded.status().message());
}

absl::StatusOr<FileSessionStorage::MetadataFile> FileSessionStorage::ReadMetadata(
    const std::string& id) {
  const absl::StatusOr<std::string> text =
      disk_->ReadFile(JoinPath(FolderOf(id), kMetadataFile), kMaxMetadataBytes);
  if (absl::IsNotFound(text.status())) return MetadataFile{};
  if (absl::IsOutOfRange(text.status())) return MetadataFile{.is_damaged = true};
  RETURN_IF_ERROR(text.status());
  MetadataFile file{.metadata = DecodeMetadata(*text)};
  file.is_damaged = !file.metadata.has_value();
  if (!file.is_damaged) file.metadata->session_id = id;
  return file;
}

absl::StatusOr<bool> FileSessionStorage::Exists(const std::string& id) {
  ASSIGN_OR_RETURN(const auto there, disk_->Look(FolderOf(id)));
  return there.has_value();
}

absl::Status FileSessionStorage::Make(SessionMetadata metadata) {
  const std::string incomplete = JoinPath(folder_, kNewPrefix + metadata.session_id);
  RETURN_IF_ERROR(RemoveTree(incomplete));
  RETURN_IF_ERROR(disk_->MakeFolder(incomplete));
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<EventLog> log,
                     EventLog::Open(disk_, incomplete, [](const auto&, auto) {}));
    SessionStart start{metadata.session_id, metadata.acp_server, metadata.working_dir,
                       metadata.owner};
    RETURN_IF_ERROR(log->Append(std::move(start), metadata.created_at).status());
    RETURN_IF_ERROR(log->Sync());
    metadata.event_count = log->size();
    metadata.log_bytes = log->bytes();
    metadata.max_seq = log->max_seq();
  }
  RETURN_IF_ERROR(disk_->ReplaceFile(incomplete, kMetadataFile, EncodeMetadata(metadata)));
  RETURN_IF_ERROR(disk_->Rename(incomplete, FolderOf(metadata.session_id)));
  return disk_->SyncFolder(folder_);
}

absl::Status FileSessionStorage::Unmake(const SessionMetadata& metadata) {
  const absl::Status removed = Remove(metadata.session_id);
  // An incomplete folder does not block its id.
  RemoveTree(JoinPath(folder_, kNewPrefix + metadata.session_id)).IgnoreError();
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

absl::StatusOr<LoadedSession> FileSessionStorage::Load(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  const std::string folder = FolderOf(id);
  ASSIGN_OR_RETURN(const auto there, disk_->Look(folder));
  if (!there.has_value() || !there->is_folder) return SessionNotFound(id);
  ASSIGN_OR_RETURN(const MetadataFile file, ReadMetadata(id));
  if (!file.metadata.has_value() && !file.is_damaged) {
    ASSIGN_OR_RETURN(const auto has_log, disk_->Look(JoinPath(folder, EventLog::kFileName)));
    if (!has_log.has_value()) return SessionNotFound(id);
  }
  LogSummary summary;
  ASSIGN_OR_RETURN(
      std::unique_ptr<EventLog> log,
      EventLog::Open(disk_, folder, [&](const EventHead& head, absl::string_view line) {
        summary.See(head, line);
      }));
  if (file.metadata.has_value() && file.metadata->max_seq > log->max_seq()) {
    RETURN_IF_ERROR(RecordLoss(*file.metadata, *log));
  }
  LoadedSession loaded;
  std::move(summary).Complete(
      id, file.metadata, {.events = log->size(), .bytes = log->bytes(), .max_seq = log->max_seq()},
      loaded);
  ASSIGN_OR_RETURN(ImageFolder images, ImageFolder::Open(disk_, folder));
  loaded.metadata.image_bytes = images.bytes();
  RETURN_IF_ERROR(ReadQueue(folder, loaded));
  const std::string path = JoinPath(folder, kMetadataFile);
  if (file.is_damaged) RETURN_IF_ERROR(PutAside(path));
  if (file.metadata != loaded.metadata) {
    // If this fails, the next Load() recreates them with the same contents.
    disk_->ReplaceFile(folder, kMetadataFile, EncodeMetadata(loaded.metadata)).IgnoreError();
  }
  loaded.metadata.queue = SummaryOf({loaded.messages, loaded.delivery});
  loaded.record =
      std::make_unique<FileSessionRecord>(disk_, folder, std::move(log), std::move(images));
  return loaded;
}

absl::Status FileSessionStorage::ReadQueue(const std::string& folder, LoadedSession& loaded) {
  const std::string path = JoinPath(folder, kQueueFile);
  const absl::StatusOr<std::string> text = disk_->ReadFile(path, kMaxQueueFileBytes);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!absl::IsOutOfRange(text.status())) RETURN_IF_ERROR(text.status());
  std::optional<QueueFile> queue = text.ok() ? DecodeQueue(*text) : std::nullopt;
  if (queue.has_value()) {
    loaded.messages = std::move(queue->messages);
    loaded.delivery = std::move(queue->delivery);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(PutAside(path));
  loaded.delivery.pause = QueuePause{.reason = "queue_damaged",
                                     .message = "queue.json can't be read and was put aside",
                                     .at = loaded.metadata.updated_at};
  return disk_->ReplaceFile(folder, kQueueFile,
                            EncodeQueue({}, loaded.delivery, loaded.metadata.updated_at));
}

absl::Status FileSessionStorage::PutAside(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string aside,
                   AsideName(path, [this](const std::string& taken) -> absl::StatusOr<bool> {
                     ASSIGN_OR_RETURN(const auto there, disk_->Look(taken));
                     return there.has_value();
                   }));
  return disk_->Rename(path, aside);
}

absl::Status FileSessionStorage::Remove(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  ASSIGN_OR_RETURN(const auto there, disk_->Look(FolderOf(id)));
  if (!there.has_value()) return SessionNotFound(id);
  const std::string removed = JoinPath(folder_, kRemovedPrefix + id);
  RETURN_IF_ERROR(RemoveTree(removed));
  RETURN_IF_ERROR(disk_->Rename(FolderOf(id), removed));
  RETURN_IF_ERROR(disk_->SyncFolder(folder_));
  // The session is gone; the next Open() removes what is left.
  RemoveTree(removed).IgnoreError();
  return absl::OkStatus();
}

void FileSessionStorage::Sweep() {
  const absl::StatusOr<std::vector<std::string>> names = disk_->NamesIn(folder_);
  if (!names.ok()) return;  // List() reports the error.
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, kNewPrefix) && !absl::StartsWith(name, kRemovedPrefix)) continue;
    if (const absl::Status swept = RemoveTree(JoinPath(folder_, name)); !swept.ok()) {
      Log(LogLevel::kWarning, "what was left of a session can't be removed",
          {{"path", JoinPath(folder_, name)}, {"error", std::string(swept.message())}});
    }
  }
}

absl::Status FileSessionStorage::RemoveTree(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto there, disk_->Look(folder));
  if (!there.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, disk_->NamesIn(folder));
  for (const std::string& name : names) RETURN_IF_ERROR(disk_->RemoveFile(JoinPath(folder, name)));
  return disk_->RemoveFolder(folder);
}

}  // namespace callslip::tracker
