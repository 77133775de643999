#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/file.h"

// The newest appends of the journal, as bytes: two files used in turn, so that one can be written
// while the contents of the other one are moved to the database.
//
// A record consists of its size and a checksum of 32 bits each, the position of its append in 64
// bits, and the bytes. All numbers are little-endian; the checksum is a CRC-32 of everything after
// it. Positions are consecutive. A file is overwritten from its beginning, so it ends where the
// next position is missing: in a record truncated by a crash, or in old data. If both files contain
// a position, the file that begins later takes precedence.
namespace callslip::tracker {

// Not thread-safe: use on one thread at a time.
class JournalLog {
 public:
  static constexpr std::array<const char*, 2> kFileNames = {"commands-0.log", "commands-1.log"};
  // The size of the head of a record.
  static constexpr size_t kHeadBytes = 16;
  // A file that is larger at its next turn shrinks to this.
  static constexpr int64_t kKeptBytes = int64_t{16} << 20;

  // Opens both files, and creates missing ones. UNAVAILABLE.
  static absl::StatusOr<JournalLog> Open(const std::string& folder);

  // Discards the contents of the files. Must be called before the first append. UNAVAILABLE.
  absl::Status Empty();

  // Writes the head of a record into its first kHeadBytes.
  static void Seal(uint64_t position, std::string& record);

  // Writes a record, which survives the end of the process on return. Its first kHeadBytes are
  // reserved for the head. A failed append has no effect. UNAVAILABLE.
  absl::Status Append(uint64_t position, std::string& record);
  // All records survive a power failure on return; a record whose sync failed must be appended
  // again.
  absl::Status Sync();

  // The size of the current file's contents.
  int64_t bytes() const { return end_; }
  // Switches to the other file, unless its contents are still needed.
  void Turn();
  // The contents of the previous file are no longer needed.
  void Release() { is_other_needed_ = false; }

 private:
  explicit JournalLog(std::string folder) : folder_(std::move(folder)) {}

  std::string PathOf(size_t file) const;

  std::string folder_;
  std::array<File, 2> files_;
  size_t present_ = 0;
  bool is_other_needed_ = false;
  int64_t end_ = 0;
  int64_t last_size_ = 0;  // Of the last record.
};

// The contents of the files of a log, read in one pass. Read them before the database that they
// extend, because a tracker can be running.
class JournalLogContents {
 public:
  // A missing file counts as empty. UNAVAILABLE.
  static absl::StatusOr<JournalLogContents> Read(const std::string& folder);

  JournalLogContents() = default;
  explicit JournalLogContents(std::array<std::string, 2> files) : files_(std::move(files)) {}

  // Calls `each` with the records from `position` on, in order, up to the first missing one. Passes
  // on an error of `each`.
  using Visitor = std::function<absl::Status(uint64_t position, absl::string_view bytes)>;
  absl::Status ForEach(uint64_t position, const Visitor& each) const;

  // Whether there is a complete record with that position, or a later one.
  bool HasFrom(uint64_t position) const;

 private:
  std::array<std::string, 2> files_;
};

}  // namespace callslip::tracker
