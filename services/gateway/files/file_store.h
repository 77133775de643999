#ifndef CALLSLIP_GATEWAY_FILES_FILE_STORE_H_
#define CALLSLIP_GATEWAY_FILES_FILE_STORE_H_

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

// Files on their way from an agent to a page: an agent puts them here piece by piece and names them
// in its `upload`, whose worker reads them. They are kept in memory: what is lost with the process
// is put once more. Thread-safe.
class FileStore {
 public:
  // Of one file, and of all that one client has here: as much as one upload may have.
  static constexpr int64_t kBytesOfClient = int64_t{32} << 20;
  // Of all clients: so many may upload as much as they may at a time, the others a little later.
  static constexpr int64_t kAllBytes = int64_t{64} << 20;
  static constexpr size_t kFilesOfClient = 100;
  // What is read, or put, at once: with JSON around it, below what /mcp takes in a body.
  static constexpr size_t kPieceBytes = size_t{1} << 20;
  // Since the last piece came: the wait of a command for its worker, and its longest run.
  static constexpr absl::Duration kLifetime = absl::Minutes(3);
  // By then an upload has named what it has put here; what is not named makes room.
  static constexpr absl::Duration kNamedWithin = absl::Seconds(20);

  struct Piece {
    std::string id;  // Empty for the first of a new file.
    // Of the first only.
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
    int64_t size = 0;  // Of the file.
  };

  explicit FileStore(Clock* clock, int64_t all_bytes = kAllBytes)
      : clock_(clock), all_bytes_(all_bytes) {}

  // Repeating it changes nothing. `file_too_large`; `too_many_files`, which passes;
  // `invalid_piece`; `file_unavailable` where `owner` has no file of that id, or not any more.
  absl::StatusOr<About> Put(const std::string& owner, Piece piece);

  // A file that is there as a whole, for an upload that names it. `file_unavailable`.
  absl::StatusOr<About> Find(const std::string& owner, const std::string& id);

  // Up to kPieceBytes from `offset` on, for whoever knows the id, which nobody can guess. A file
  // whose end was read makes room where that is needed. `file_unavailable`, `invalid_piece`.
  absl::StatusOr<Part> Read(const std::string& id, int64_t offset);

  // What an upload of more than kBytesOfClient is told.
  static absl::Status TooLarge();

  // Forgets what has had its time; the calls do so, too.
  void Purge();

 private:
  struct File {
    std::string owner;
    std::string name;
    std::string mime_type;
    int64_t size = 0;
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

#endif  // CALLSLIP_GATEWAY_FILES_FILE_STORE_H_
