#include "tracker/storage/session_inspection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/event_log.h"

namespace callslip::tracker {
namespace {

// The bytes after the last newline of a file.
absl::StatusOr<int64_t> TornBytes(const std::string& path, int64_t size) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return DiskError("open", path);
  std::array<char, 64 << 10> piece;
  int64_t end = size;
  while (end > 0) {
    const int64_t begin = std::max<int64_t>(0, end - static_cast<int64_t>(piece.size()));
    const ssize_t got =
        pread(file.descriptor(), piece.data(), static_cast<size_t>(end - begin), begin);
    if (got != end - begin) return DiskError("read", path);
    const absl::string_view text(piece.data(), static_cast<size_t>(got));
    const size_t newline = text.rfind('\n');
    if (newline != absl::string_view::npos) {
      return size - (begin + static_cast<int64_t>(newline) + 1);
    }
    end = begin;
  }
  return size;
}

absl::StatusOr<SessionInspection> Inspect(const std::string& folder, const std::string& id) {
  SessionInspection session{.id = id};
  const auto metadata = ReadFile(absl::StrCat(folder, "/", kMetadataFile), kMaxMetadataBytes);
  if (metadata.ok()) session.metadata = DecodeMetadata(*metadata);

  const std::string log = absl::StrCat(folder, "/", EventLog::kFileName);
  struct stat about {};
  if (stat(log.c_str(), &about) == 0) {
    session.log_bytes = about.st_size;
    ASSIGN_OR_RETURN(session.torn_bytes, TornBytes(log, session.log_bytes));
  }

  const auto queue = ReadFile(absl::StrCat(folder, "/", kQueueFile), kMaxQueueFileBytes);
  if (queue.ok()) session.queue = DecodeQueue(*queue);
  session.is_queue_damaged = !session.queue.has_value() && !absl::IsNotFound(queue.status());
  return session;
}

}  // namespace

absl::StatusOr<std::vector<SessionInspection>> InspectSessions(const std::string& data_dir) {
  std::error_code error;
  if (!std::filesystem::is_directory(data_dir, error)) {
    return absl::NotFoundError(absl::StrCat("there is no directory ", data_dir));
  }
  const std::string folder = data_dir + "/sessions";
  std::vector<SessionInspection> sessions;
  if (!std::filesystem::exists(folder, error)) return sessions;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string id = entries->path().filename().string();
    if (!CheckSessionId(id).ok()) continue;
    ASSIGN_OR_RETURN(SessionInspection session, Inspect(entries->path().string(), id));
    sessions.push_back(std::move(session));
  }
  if (error) return StorageFailed(absl::StrCat("can't read ", folder, ": ", error.message()));
  const auto changed = [](const SessionInspection& session) {
    return session.metadata.has_value() ? session.metadata->updated_at : absl::InfinitePast();
  };
  std::sort(sessions.begin(), sessions.end(), [&](const auto& a, const auto& b) {
    return std::pair(changed(b), a.id) < std::pair(changed(a), b.id);
  });
  return sessions;
}

}  // namespace callslip::tracker
