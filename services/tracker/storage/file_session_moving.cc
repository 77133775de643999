// FileSessionStorage: moving sessions to and from other storages.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/storage/event_log.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/image_folder.h"
#include "tracker/storage/line_reader.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {
namespace {

constexpr size_t kWriteBytes = size_t{1} << 20;

// Fills a folder, and renames it to its final name when it is complete.
class FileSessionSink final : public SessionSink {
 public:
  FileSessionSink(Disk* disk, std::string folder, std::string incomplete, std::string id, File log,
                  ImageFolder images)
      : disk_(disk),
        folder_(std::move(folder)),
        incomplete_(std::move(incomplete)),
        id_(std::move(id)),
        log_(std::move(log)),
        images_(std::move(images)) {}

  absl::Status AddLine(const EventHead&, absl::string_view line) override {
    absl::StrAppend(&unwritten_, line, "\n");
    return unwritten_.size() < kWriteBytes ? absl::OkStatus() : Flush();
  }
  absl::Status AddImage(const Image& image) override {
    ASSIGN_OR_RETURN(const ImageRef put, images_.Put(image.data, image.ref.name, SIZE_MAX));
    return put.id == image.ref.id ? absl::OkStatus()
                                  : StorageFailed(absl::StrCat("reading image ", image.ref.id));
  }
  absl::Status Finish(absl::string_view metadata, absl::string_view queue) override {
    RETURN_IF_ERROR(Flush());
    RETURN_IF_ERROR(disk_->Sync(log_));
    if (!queue.empty()) RETURN_IF_ERROR(disk_->ReplaceFile(incomplete_, kQueueFile, queue));
    RETURN_IF_ERROR(disk_->ReplaceFile(incomplete_, kMetadataFile, metadata));
    RETURN_IF_ERROR(disk_->Rename(incomplete_, JoinPath(folder_, id_)));
    return disk_->SyncFolder(folder_);
  }

 private:
  absl::Status Flush() {
    if (!unwritten_.empty()) RETURN_IF_ERROR(disk_->Write(log_, unwritten_));
    unwritten_.clear();
    return absl::OkStatus();
  }

  Disk* const disk_;
  const std::string folder_;
  const std::string incomplete_;
  const std::string id_;
  const File log_;
  ImageFolder images_;
  std::string unwritten_;
};

absl::Status CopyLines(Disk* disk, const std::string& path, SessionSink& to) {
  ASSIGN_OR_RETURN(const File log, disk->OpenForAppend(path, /*create=*/false));
  ASSIGN_OR_RETURN(const int64_t size, disk->SizeOf(log));
  LineReader reader(disk, &log, 0, size, EventLog::kMaxLineBytes);
  LineReader::Line line;
  int64_t last_seq = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) return absl::OkStatus();
    const std::optional<EventHead> head = DecodeHead(line.text);
    if (!head.has_value() || head->seq <= last_seq) continue;
    last_seq = head->seq;
    RETURN_IF_ERROR(to.AddLine(*head, line.text));
  }
}

absl::Status CopyImages(Disk* disk, const std::string& folder, SessionSink& to) {
  ASSIGN_OR_RETURN(const ImageFolder images, ImageFolder::Open(disk, folder));
  ASSIGN_OR_RETURN(std::vector<std::string> names, disk->NamesIn(folder));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (!IsImageId(name)) continue;
    ASSIGN_OR_RETURN(const Image image, images.Get(name));
    RETURN_IF_ERROR(to.AddImage(image));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FileSessionStorage::Copy(const std::string& id, SessionSink& to) {
  RETURN_IF_ERROR(Load(id).status());
  const std::string folder = FolderOf(id);
  RETURN_IF_ERROR(CopyLines(disk_, JoinPath(folder, EventLog::kFileName), to));
  RETURN_IF_ERROR(CopyImages(disk_, folder, to));
  ASSIGN_OR_RETURN(const std::string metadata,
                   disk_->ReadFile(JoinPath(folder, kMetadataFile), kMaxMetadataBytes));
  absl::StatusOr<std::string> queue =
      disk_->ReadFile(JoinPath(folder, kQueueFile), kMaxQueueFileBytes);
  if (absl::IsNotFound(queue.status())) queue = "";
  RETURN_IF_ERROR(queue.status());
  return to.Finish(metadata, *queue);
}

absl::StatusOr<std::unique_ptr<SessionSink>> FileSessionStorage::Put(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  ASSIGN_OR_RETURN(const bool exists, Exists(id));
  if (exists) return SessionExists(id);
  const std::string incomplete = JoinPath(folder_, kNewPrefix + id);
  RETURN_IF_ERROR(RemoveTree(incomplete));
  RETURN_IF_ERROR(disk_->MakeFolder(incomplete));
  ASSIGN_OR_RETURN(File log, disk_->OpenEmpty(JoinPath(incomplete, EventLog::kFileName)));
  ASSIGN_OR_RETURN(ImageFolder images, ImageFolder::Open(disk_, incomplete));
  return std::make_unique<FileSessionSink>(disk_, folder_, incomplete, id, std::move(log),
                                           std::move(images));
}

}  // namespace callslip::tracker
