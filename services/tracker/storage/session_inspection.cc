#include "tracker/storage/session_inspection.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/event_log.h"

namespace callslip::tracker {
namespace {

// Reads the whole log, because its metadata are written less often.
absl::Status ReadLog(const std::string& path, SessionInspection& session) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return errno == ENOENT ? absl::OkStatus() : DiskError("open", path);
  std::array<char, 64 << 10> piece;
  while (true) {
    const ssize_t got = read(file.descriptor(), piece.data(), piece.size());
    if (got < 0) return DiskError("read", path);
    if (got == 0) return absl::OkStatus();
    const absl::string_view text(piece.data(), static_cast<size_t>(got));
    session.log_bytes += got;
    session.events += std::count(text.begin(), text.end(), '\n');
    const size_t newline = text.rfind('\n');
    if (newline == absl::string_view::npos) {
      session.torn_bytes += got;
    } else {
      session.torn_bytes = got - static_cast<int64_t>(newline) - 1;
    }
  }
}

SessionInspection Inspect(const std::string& folder, const std::string& id) {
  SessionInspection session{.id = id};
  Disk disk;
  const auto metadata = disk.ReadFile(absl::StrCat(folder, "/", kMetadataFile), kMaxMetadataBytes);
  if (metadata.ok()) session.metadata = DecodeMetadata(*metadata);

  const absl::Status log = ReadLog(absl::StrCat(folder, "/", EventLog::kFileName), session);
  session.damage = std::string(log.message());

  const auto queue = disk.ReadFile(absl::StrCat(folder, "/", kQueueFile), kMaxQueueFileBytes);
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
    std::error_code ignored;
    if (!CheckSessionId(id).ok() || !entries->is_directory(ignored)) continue;
    sessions.push_back(Inspect(entries->path().string(), id));
  }
  if (error) return StorageFailed(absl::StrCat("can't read ", folder, ": ", error.message()));
  SortByChange(sessions);
  return sessions;
}

void SortByChange(std::vector<SessionInspection>& sessions) {
  const auto changed = [](const SessionInspection& session) {
    return session.metadata.has_value() ? session.metadata->updated_at : absl::InfinitePast();
  };
  std::sort(sessions.begin(), sessions.end(), [&](const auto& a, const auto& b) {
    return std::pair(changed(b), a.id) < std::pair(changed(a), b.id);
  });
}

}  // namespace callslip::tracker
