#include "gateway/files/file_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/random.h"
#include "common/status_macros.h"

namespace callslip::gateway {
namespace {

constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxTypeBytes = 128;
constexpr absl::Duration kRetryAfter = absl::Seconds(5);

absl::Status Unavailable() {
  return ErrorWithDetails(absl::StatusCode::kNotFound,
                          "The gateway has no such file, or no longer has it.",
                          {.reason = "file_unavailable",
                           .hint = "Call upload again. Paths are read by callslip-bridge only: "
                                   "without it put the file with the tool files, and name its "
                                   "file_id."});
}

absl::Status InvalidPiece(absl::string_view problem) {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument, problem,
                          {.reason = "invalid_piece", .hint = "Put the file once more."});
}

absl::Status NoRoom() {
  return ErrorWithDetails(absl::StatusCode::kResourceExhausted,
                          "The files that wait for a browser leave no room for this one.",
                          {.reason = "too_many_files",
                           .hint = "Call again a little later.",
                           .retry_after = kRetryAfter});
}

}  // namespace

absl::Status FileStore::TooLarge() {
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("The files of an upload have at most ", kBytesOfClient, " bytes together."),
      {.reason = "file_too_large", .hint = "Upload fewer at a time, or smaller ones."});
}

absl::StatusOr<FileStore::About> FileStore::Put(const std::string& owner, Piece piece) {
  MutexLock lock(&mutex_);
  PurgeLocked();
  Files::iterator at = FindLocked(owner, piece.id);
  if (piece.id.empty()) {
    ASSIGN_OR_RETURN(at, BeginLocked(owner, piece));
  }
  if (at == files_.end()) return Unavailable();
  File& file = at->second;
  int64_t& received = file.about.received;
  const int64_t end = piece.offset + static_cast<int64_t>(piece.bytes.size());
  if (piece.offset < 0 || piece.offset > received || end > file.about.size ||
      piece.bytes.size() > kPieceBytes) {
    return InvalidPiece("The piece does not continue the file, or is too large.");
  }
  if (end > received) file.bytes.append(piece.bytes, static_cast<size_t>(received - piece.offset));
  received = std::max(received, end);
  file.expires = clock_->Now() + kLifetime;
  return file.about;
}

absl::StatusOr<FileStore::About> FileStore::Find(const std::string& owner, const std::string& id) {
  MutexLock lock(&mutex_);
  PurgeLocked();
  const auto at = FindLocked(owner, id);
  if (at == files_.end()) return Unavailable();
  File& file = at->second;
  if (file.about.received < file.about.size) return Unavailable();
  file.was_named = true;
  return file.about;
}

absl::StatusOr<FileStore::Part> FileStore::Read(const std::string& id, int64_t offset) {
  MutexLock lock(&mutex_);
  PurgeLocked();
  const auto at = files_.find(id);
  if (at == files_.end()) return Unavailable();
  File& file = at->second;
  const int64_t size = file.about.size;
  if (offset < 0 || offset > size) return InvalidPiece("The offset is not within the file.");
  Part part = {.bytes = file.bytes.substr(static_cast<size_t>(offset), kPieceBytes), .size = size};
  if (offset + static_cast<int64_t>(part.bytes.size()) == size) file.was_read = true;
  return part;
}

void FileStore::Purge() {
  MutexLock lock(&mutex_);
  PurgeLocked();
}

void FileStore::PurgeLocked() {
  const absl::Time now = clock_->Now();
  std::erase_if(files_, [now](const auto& entry) { return entry.second.expires <= now; });
}

absl::Status FileStore::MakeRoomLocked(const std::string& owner, int64_t size) {
  const auto is_full = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    int64_t of_owner = size;
    int64_t of_all = size;
    size_t count = 1;
    for (const auto& [id, file] : files_) {
      of_all += file.about.size;
      if (file.owner != owner) continue;
      of_owner += file.about.size;
      ++count;
    }
    return of_owner > kBytesOfClient || of_all > all_bytes_ || count > kFilesOfClient;
  };
  if (!is_full()) return absl::OkStatus();
  const absl::Time idle = clock_->Now() + kLifetime - kNamedWithin;
  std::erase_if(files_, [idle](const auto& entry) {
    const File& file = entry.second;
    return file.was_read || (!file.was_named && file.expires <= idle);
  });
  return is_full() ? NoRoom() : absl::OkStatus();
}

absl::StatusOr<FileStore::Files::iterator> FileStore::BeginLocked(const std::string& owner,
                                                                  const Piece& piece) {
  if (piece.size > kBytesOfClient) return TooLarge();
  if (piece.size < 0 || piece.name.empty() || piece.name.size() > kMaxNameBytes ||
      piece.mime_type.size() > kMaxTypeBytes) {
    return InvalidPiece(
        absl::StrCat("A file needs a size, and a name of at most ", kMaxNameBytes, " bytes."));
  }
  RETURN_IF_ERROR(MakeRoomLocked(owner, piece.size));
  const std::string id = absl::StrCat("file-", RandomHex128());
  const auto at = files_.try_emplace(id).first;
  File& file = at->second;
  file.owner = owner;
  file.about = {.id = id, .name = piece.name, .mime_type = piece.mime_type, .size = piece.size};
  file.bytes.reserve(static_cast<size_t>(piece.size));
  return at;
}

FileStore::Files::iterator FileStore::FindLocked(const std::string& owner, const std::string& id) {
  const auto at = files_.find(id);
  return at != files_.end() && at->second.owner == owner ? at : files_.end();
}

}  // namespace callslip::gateway
