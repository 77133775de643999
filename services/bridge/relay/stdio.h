#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"

namespace callslip::bridge {

// Reads lines from a file descriptor, which it does not own. Not thread-safe: use on one thread.
class LineReader {
 public:
  enum class Event {
    kLine,     // A line, without its ending (LF or CR LF).
    kTooLong,  // A line of more than `max_bytes`; it was skipped.
    kEnd,      // The other side has closed the pipe, or reading failed.
  };

  LineReader(int fd, size_t max_bytes);

  // Blocks until there is an event. `line` is the line for kLine; for kTooLong it is the id of the
  // request in the line, as extracted by SkippedLine. The last line may lack its ending. Memory
  // stays within `max_bytes`, regardless of the length of a line.
  Event Next(std::string& line);

  // True if Next() can return a line without reading.
  bool HasLine() const;

 private:
  bool Fill();

  const int fd_;
  const size_t max_bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Writes whole lines to a file descriptor, which it does not own: the only access to stdout.
// Thread-safe; lines of several threads never mix.
//
// It holds its lock while it writes, since that is the purpose of the lock: an agent that does not
// read stops all writers.
class LineWriter {
 public:
  // The writing thread calls `on_closed` once, when the other side has closed the pipe (EPIPE) or
  // writing fails. SIGPIPE must be ignored.
  LineWriter(int fd, std::function<void()> on_closed);

  // Writes `line`, which must not contain a line break, and a line feed. Returns false, without any
  // readable output, once the pipe is closed.
  bool WriteLine(absl::string_view line);

  // Like WriteLine(), but only if `is_due` returns true once all earlier lines are written.
  bool WriteLineIf(const std::function<bool()>& is_due, absl::string_view line);

  // Like WriteLine(). Calls `before` first, unless the write may block.
  bool WriteLine(absl::string_view line, const std::function<void()>& before);

  bool closed();

 private:
  // False if the write may have to wait for the reading process.
  bool HasRoomFor(size_t bytes) const;
  bool WriteAllLocked(absl::string_view line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int fd_;
  const std::function<void()> on_closed_;
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace callslip::bridge
