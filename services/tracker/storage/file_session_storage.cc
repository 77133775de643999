#include "tracker/storage/file_session_storage.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/storage/event_log.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {
namespace {

// Ids of sessions never begin with a dot.
constexpr char kNewPrefix[] = ".new-";
constexpr char kRemovedPrefix[] = ".removed-";

std::string Join(const std::string& folder, absl::string_view name) {
  return absl::StrCat(folder, "/", name);
}

bool Exists(const std::string& path) {
  struct stat stat {};
  return ::stat(path.c_str(), &stat) == 0;
}

class FileSessionRecord final : public SessionRecord {
 public:
  FileSessionRecord(Disk* disk, std::string folder, std::unique_ptr<EventLog> log)
      : disk_(disk), folder_(std::move(folder)), log_(std::move(log)) {}

  absl::StatusOr<EventPtr> Append(EventPayload payload, absl::Time now) override {
    return log_->Append(std::move(payload), now);
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
  int64_t max_seq() const override { return log_->max_seq(); }
  int64_t event_count() const override { return log_->size(); }
  int64_t log_bytes() const override { return log_->bytes(); }
  void CloseFiles() override { log_->CloseFile(); }

 private:
  Disk* const disk_;
  const std::string folder_;
  const std::unique_ptr<EventLog> log_;
};

// What a log says about its session.
class LogSummary {
 public:
  void See(const EventHead& head, absl::string_view line) {
    if (first_at_ == absl::InfinitePast()) first_at_ = head.timestamp;
    last_at_ = head.timestamp;
    ends_with_end_ = head.type == "session_end";
    if (head.type != "user_prompt" && head.type != "session_start" && !ends_with_end_) return;
    const EventPtr event = DecodeEvent(head, line);
    if (const auto* prompt = std::get_if<UserPrompt>(&event->payload)) {
      prompts_.push_back({prompt->prompt_id, prompt->queue_id});
      if (prompts_.size() > kRememberedPrompts) prompts_.pop_front();
    } else if (const auto* start = std::get_if<SessionStart>(&event->payload)) {
      start_ = *start;
    } else if (const auto* end = std::get_if<SessionEnd>(&event->payload)) {
      end_reason_ = end->reason;
    }
  }

  // Brings metadata up to date, or makes them where there are none.
  SessionMetadata Complete(const std::string& id, std::optional<SessionMetadata> known,
                           const EventLog& log) const {
    SessionMetadata metadata;
    if (known.has_value()) {
      metadata = *std::move(known);
    } else {
      metadata.acp_server = start_.acp_server;
      metadata.working_dir = start_.working_dir;
      metadata.created_at = metadata.updated_at =
          first_at_ == absl::InfinitePast() ? absl::UnixEpoch() : first_at_;
    }
    metadata.session_id = id;
    if (ends_with_end_ && metadata.max_seq < log.max_seq()) {
      metadata.state = SessionState::kCompleted;
      metadata.end_reason = end_reason_;
    }
    metadata.updated_at = std::max(metadata.updated_at, last_at_);
    metadata.event_count = log.size();
    metadata.log_bytes = log.bytes();
    metadata.max_seq = log.max_seq();
    return metadata;
  }

  std::deque<RecordedPrompt> TakePrompts() && { return std::move(prompts_); }

 private:
  absl::Time first_at_ = absl::InfinitePast();
  absl::Time last_at_ = absl::InfinitePast();
  bool ends_with_end_ = false;
  std::string end_reason_;
  SessionStart start_;
  std::deque<RecordedPrompt> prompts_;
};

}  // namespace

FileSessionStorage::FileSessionStorage(std::string folder, Disk* disk, File lock)
    : folder_(std::move(folder)), disk_(disk), lock_(std::move(lock)) {}

absl::StatusOr<std::unique_ptr<FileSessionStorage>> FileSessionStorage::Open(
    const std::string& data_dir, Disk* disk) {
  const std::string folder = Join(data_dir, "sessions");
  if (!Exists(data_dir)) RETURN_IF_ERROR(disk->MakeFolder(data_dir));
  if (!Exists(folder)) {
    RETURN_IF_ERROR(disk->MakeFolder(folder));
    RETURN_IF_ERROR(disk->SyncFolder(data_dir));
  }
  const std::string path = Join(folder, ".lock");
  File lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.is_open()) return DiskError("open", path);
  if (flock(lock.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK ? DataDirectoryLocked(data_dir) : DiskError("lock", path);
  }
  std::unique_ptr<FileSessionStorage> storage(
      new FileSessionStorage(folder, disk, std::move(lock)));
  RETURN_IF_ERROR(storage->Sweep());
  return storage;
}

absl::StatusOr<std::vector<SessionMetadata>> FileSessionStorage::List() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, disk_->NamesIn(folder_));
  std::vector<SessionMetadata> sessions;
  for (const std::string& name : names) {
    if (!CheckSessionId(name).ok()) continue;
    ASSIGN_OR_RETURN(SessionMetadata metadata, ReadMetadata(name));
    sessions.push_back(std::move(metadata));
  }
  return sessions;
}

absl::StatusOr<SessionMetadata> FileSessionStorage::ReadMetadata(const std::string& id) {
  const absl::StatusOr<std::string> text =
      disk_->ReadFile(Join(FolderOf(id), kMetadataFile), kMaxMetadataBytes);
  if (text.ok()) {
    std::optional<SessionMetadata> metadata = DecodeMetadata(*text);
    struct stat log {};
    const bool has_log = stat(Join(FolderOf(id), EventLog::kFileName).c_str(), &log) == 0;
    if (metadata.has_value() && has_log && metadata->log_bytes == log.st_size) {
      metadata->session_id = id;
      return *std::move(metadata);
    }
  }
  ASSIGN_OR_RETURN(const LoadedSession loaded, Load(id));
  RETURN_IF_ERROR(loaded.record->SaveMetadata(loaded.metadata));
  return loaded.metadata;
}

absl::StatusOr<LoadedSession> FileSessionStorage::Create(const SessionMetadata& metadata) {
  RETURN_IF_ERROR(CheckSessionId(metadata.session_id));
  const std::string folder = FolderOf(metadata.session_id);
  if (Exists(folder)) return SessionExists(metadata.session_id);
  const std::string incomplete = Join(folder_, kNewPrefix + metadata.session_id);
  RETURN_IF_ERROR(RemoveTree(incomplete));
  RETURN_IF_ERROR(disk_->MakeFolder(incomplete));
  RETURN_IF_ERROR(
      disk_->OpenForAppend(Join(incomplete, EventLog::kFileName), /*create=*/true).status());
  RETURN_IF_ERROR(disk_->ReplaceFile(incomplete, kMetadataFile, EncodeMetadata(metadata)));
  RETURN_IF_ERROR(disk_->Rename(incomplete, folder));
  RETURN_IF_ERROR(disk_->SyncFolder(folder_));
  return Load(metadata.session_id);
}

absl::StatusOr<LoadedSession> FileSessionStorage::Load(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  const std::string folder = FolderOf(id);
  if (!Exists(folder)) return SessionNotFound(id);

  LogSummary summary;
  ASSIGN_OR_RETURN(
      std::unique_ptr<EventLog> log,
      EventLog::Open(disk_, folder, [&](const EventHead& head, absl::string_view line) {
        summary.See(head, line);
      }));
  LoadedSession loaded;
  const absl::StatusOr<std::string> metadata =
      disk_->ReadFile(Join(folder, kMetadataFile), kMaxMetadataBytes);
  loaded.metadata =
      summary.Complete(id, metadata.ok() ? DecodeMetadata(*metadata) : std::nullopt, *log);
  loaded.prompts = std::move(summary).TakePrompts();

  const absl::StatusOr<std::string> text =
      disk_->ReadFile(Join(folder, kQueueFile), kMaxQueueFileBytes);
  if (text.ok()) {
    if (std::optional<QueueFile> queue = DecodeQueue(*text); queue.has_value()) {
      loaded.messages = std::move(queue->messages);
      loaded.delivery = std::move(queue->delivery);
    } else {
      const std::string path = Join(folder, kQueueFile);
      RETURN_IF_ERROR(disk_->Rename(path, path + ".damaged"));
      loaded.delivery.pause = QueuePause{.reason = "queue_damaged",
                                         .message = "queue.json can't be read and was put aside",
                                         .at = loaded.metadata.updated_at};
      RETURN_IF_ERROR(disk_->ReplaceFile(
          folder, kQueueFile, EncodeQueue({}, loaded.delivery, loaded.metadata.updated_at)));
    }
  } else if (!absl::IsNotFound(text.status())) {
    return text.status();
  }
  loaded.record = std::make_unique<FileSessionRecord>(disk_, folder, std::move(log));
  return loaded;
}

absl::Status FileSessionStorage::Remove(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  if (!Exists(FolderOf(id))) return SessionNotFound(id);
  const std::string removed = Join(folder_, kRemovedPrefix + id);
  RETURN_IF_ERROR(RemoveTree(removed));
  RETURN_IF_ERROR(disk_->Rename(FolderOf(id), removed));
  RETURN_IF_ERROR(disk_->SyncFolder(folder_));
  // It is gone; what can't be removed now is removed by the next Open().
  RemoveTree(removed).IgnoreError();
  return absl::OkStatus();
}

std::string FileSessionStorage::FolderOf(const std::string& id) const { return Join(folder_, id); }

absl::Status FileSessionStorage::Sweep() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, disk_->NamesIn(folder_));
  for (const std::string& name : names) {
    if (!absl::StartsWith(name, kNewPrefix) && !absl::StartsWith(name, kRemovedPrefix)) continue;
    RETURN_IF_ERROR(RemoveTree(Join(folder_, name)));
  }
  return absl::OkStatus();
}

absl::Status FileSessionStorage::RemoveTree(const std::string& folder) {
  if (!Exists(folder)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, disk_->NamesIn(folder));
  for (const std::string& name : names) RETURN_IF_ERROR(disk_->RemoveFile(Join(folder, name)));
  return disk_->RemoveFolder(folder);
}

}  // namespace callslip::tracker
