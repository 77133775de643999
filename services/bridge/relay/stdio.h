#ifndef CALLSLIP_BRIDGE_RELAY_STDIO_H_
#define CALLSLIP_BRIDGE_RELAY_STDIO_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"

namespace callslip::bridge {

// Reads lines from a file descriptor, which it does not own. Used by one thread.
class LineReader {
 public:
  enum class Event {
    kLine,     // A line, without its ending (LF or CR LF).
    kTooLong,  // A line of more than `max_bytes`; it was skipped.
    kEnd,      // The other side has closed the pipe, or reading failed.
  };

  LineReader(int fd, size_t max_bytes);

  // Blocks until there is an event. `line` is the line of kLine, and of kTooLong the id of the
  // request that it held, as by SkippedLine. The last line may lack its ending. Memory stays within
  // `max_bytes`, however long a line is.
  Event Next(std::string& line);

  // True where Next() would not have to read.
  bool HasLine() const;

 private:
  bool Fill();

  const int fd_;
  const size_t max_bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Writes whole lines to a file descriptor, which it does not own: the one door to stdout.
// Thread-safe; lines of several threads never mix.
//
// It holds its lock while it writes, since that is the purpose of the lock: a reader that does not
// read stops all writers.
class LineWriter {
 public:
  // `on_closed` is called once, by the writing thread, when the other side has gone (EPIPE) or
  // writing fails. SIGPIPE must be ignored.
  LineWriter(int fd, std::function<void()> on_closed);

  // Writes `line`, which holds no line break, and a line feed. Returns false, having written
  // nothing that can be read, once the pipe is closed.
  bool WriteLine(absl::string_view line);

  // WriteLine(), unless `is_due` says no once all lines before this one are written.
  bool WriteLineIf(const std::function<bool()>& is_due, absl::string_view line);

  // WriteLine(). Calls `before` first, unless the writing may block.
  bool WriteLine(absl::string_view line, const std::function<void()>& before);

  bool closed();

 private:
  // Where it is false, another process may be needed for writing that many bytes.
  bool HasRoomFor(size_t bytes) const;
  bool WriteAllLocked(absl::string_view line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int fd_;
  const std::function<void()> on_closed_;
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_STDIO_H_
