#include "bridge/relay/stdio.h"

#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bridge/relay/skipped_line.h"

namespace callslip::bridge {
namespace {

constexpr size_t kReadBytes = size_t{64} * 1024;

// True if the failed read or write must be repeated. Waits first if the other side has left the
// descriptor in non-blocking mode.
bool ShouldRepeat(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd waiting = {.fd = fd, .events = events, .revents = 0};
  poll(&waiting, 1, /*timeout=*/-1);
  return true;
}

}  // namespace

LineReader::LineReader(int fd, size_t max_bytes)
    : fd_(fd), max_bytes_(max_bytes), buffer_(kReadBytes) {}

LineReader::Event LineReader::Next(std::string& line) {
  line.clear();
  bool too_long = false;
  SkippedLine skipped;
  const auto skip = [&] {
    line = skipped.RequestId();
    return Event::kTooLong;
  };
  while (true) {
    if (begin_ == end_ && !Fill()) {
      if (too_long) return skip();
      return line.empty() ? Event::kEnd : Event::kLine;
    }
    const char* const start = buffer_.data() + begin_;
    const void* const newline = std::memchr(start, '\n', end_ - begin_);
    const size_t length = newline ? static_cast<const char*>(newline) - start : end_ - begin_;
    if (!too_long && line.size() + length > max_bytes_) {
      too_long = true;
      skipped.Add(line);
      line = std::string();
    }
    if (too_long) {
      skipped.Add({start, length});
    } else {
      line.append(start, length);
    }
    begin_ += length + (newline ? 1 : 0);
    if (!newline) continue;
    if (too_long) return skip();
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return Event::kLine;
  }
}

bool LineReader::HasLine() const {
  return std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) != nullptr;
}

bool LineReader::Fill() {
  while (true) {
    const ssize_t count = read(fd_, buffer_.data(), buffer_.size());
    if (count > 0) {
      begin_ = 0;
      end_ = static_cast<size_t>(count);
      return true;
    }
    if (count == 0 || !ShouldRepeat(fd_, POLLIN)) return false;
  }
}

LineWriter::LineWriter(int fd, std::function<void()> on_closed)
    : fd_(fd), on_closed_(std::move(on_closed)) {}

bool LineWriter::WriteLine(absl::string_view line) {
  return WriteLineIf([] { return true; }, line);
}

bool LineWriter::WriteLineIf(const std::function<bool()>& is_due, absl::string_view line) {
  {
    MutexLock lock(&mutex_);
    if (closed_ || !is_due()) return false;
    if (WriteAllLocked(line)) return true;
    closed_ = true;
  }
  on_closed_();
  return false;
}

bool LineWriter::WriteLine(absl::string_view line, const std::function<void()>& before) {
  const auto prepare = [&] {
    if (HasRoomFor(line.size() + 1)) before();
    return true;
  };
  return WriteLineIf(prepare, line);
}

bool LineWriter::HasRoomFor(size_t bytes) const {
  pollfd waiting = {.fd = fd_, .events = POLLOUT, .revents = 0};
  return bytes <= PIPE_BUF && poll(&waiting, 1, /*timeout=*/0) == 1;
}

bool LineWriter::closed() {
  MutexLock lock(&mutex_);
  return closed_;
}

bool LineWriter::WriteAllLocked(absl::string_view line) {
  char newline = '\n';
  iovec parts[] = {{const_cast<char*>(line.data()), line.size()}, {&newline, 1}};
  while (parts[1].iov_len > 0) {
    const ssize_t count = writev(fd_, parts, 2);
    if (count < 0) {
      if (!ShouldRepeat(fd_, POLLOUT)) return false;
      continue;
    }
    size_t written = static_cast<size_t>(count);
    for (iovec& part : parts) {
      const size_t taken = std::min(written, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      written -= taken;
    }
  }
  return true;
}

}  // namespace callslip::bridge
