#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip::gateway {

// Files on their way from an agent to a page: an agent puts them here in pieces and names them in
// its `upload`, and the upload's worker reads them. They are kept in memory: files lost with the
// process are put again. Thread-safe.
class FileStore {
 public:
  // For one file, and for all files of one client: the maximum of one upload.
  static constexpr int64_t kBytesOfClient = int64_t{32} << 20;
  // For all clients: this many can upload their maximum at the same time, the others a little
  // later.
  static constexpr int64_t kAllBytes = int64_t{64} << 20;
  static constexpr size_t kFilesOfClient = 100;
  // The maximum that is read or put at once: with JSON around it, below the body limit of /mcp.
  static constexpr size_t kPieceBytes = size_t{1} << 20;
  // Since the last piece: the time that a command waits for its worker, plus its longest run.
  static constexpr absl::Duration kLifetime = absl::Minutes(3);
  // An upload names its files within this time; a file that is not named can then be evicted.
  static constexpr absl::Duration kNamedWithin = absl::Seconds(20);

  struct Piece {
    std::string id;  // Empty for the first of a new file.
    // Only for the first piece.
    std::string name;
    std::string mime_type;
    int64_t size = 0;
    int64_t offset = 0;
    std::string bytes;
  };
  struct About {
    std::string id;
    std::string name;
    std::string mime_type;
    int64_t size = 0;
    int64_t received = 0;
  };
  struct Part {
    std::string bytes;
    int64_t size = 0;  // The size of the file.
  };

  explicit FileStore(Clock* clock, int64_t all_bytes = kAllBytes)
      : clock_(clock), all_bytes_(all_bytes) {}

  // Repeating a piece of a file with an `id` adds nothing. `file_too_large`; `too_many_files`,
  // which is temporary; `invalid_piece`; `file_unavailable` if `owner` has no file with that ID, or
  // no longer has it.
  absl::StatusOr<About> Put(const std::string& owner, Piece piece);

  // A complete file, for an upload that names it. `file_unavailable`.
  absl::StatusOr<About> Find(const std::string& owner, const std::string& id);

  // Up to kPieceBytes from `offset` on, for any caller that knows the ID, which cannot be guessed.
  // A file that was read to its end can be evicted. `file_unavailable`, `invalid_piece`.
  absl::StatusOr<Part> Read(const std::string& id, int64_t offset);

  // The error for an upload of more than kBytesOfClient.
  static absl::Status TooLarge();

  // Forgets expired files; the other calls do so, too.
  void Purge();

 private:
  struct File {
    std::string owner;
    About about;
    std::string bytes;
    bool was_named = false;
    bool was_read = false;
    absl::Time expires;
  };
  using Files = std::map<std::string, File>;

  void PurgeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeRoomLocked(const std::string& owner, int64_t size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Files::iterator> BeginLocked(const std::string& owner, const Piece& piece)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Files::iterator FindLocked(const std::string& owner, const std::string& id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock* const clock_;
  const int64_t all_bytes_;
  Mutex mutex_;
  Files files_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::gateway
