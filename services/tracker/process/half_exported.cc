#include "tracker/process/half_exported.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/storage/journal_log.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

constexpr char kMark[] = "half-exported";
constexpr char kText[] =
    "An export into this directory has not come to its end. Do it again, which begins anew, or "
    "remove the directory.\n";

absl::Status Clear(Disk& disk, const std::string& data_dir, FileSessionStorage& sessions) {
  ASSIGN_OR_RETURN(const std::vector<SessionMetadata> listed, sessions.List());
  for (const SessionMetadata& session : listed)
    RETURN_IF_ERROR(sessions.Remove(session.session_id));
  const std::string database = JoinPath(data_dir, SqliteJournalStorage::kFileName);
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    RETURN_IF_ERROR(disk.RemoveFile(database + suffix));
  }
  return disk.SyncFolder(data_dir);
}

}  // namespace

bool IsHalfExported(const std::string& data_dir) {
  std::error_code unreadable;
  return std::filesystem::exists(JoinPath(data_dir, kMark), unreadable);
}

absl::Status CheckWhole(const std::string& data_dir) {
  if (!IsHalfExported(data_dir)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the data directory ", data_dir,
                   " is half exported: do `callslip-tracker export` again, which begins anew, or "
                   "remove the directory"));
}

absl::Status CheckExportable(Disk& disk, const std::string& data_dir) {
  ASSIGN_OR_RETURN(const auto there, disk.Look(data_dir));
  if (!there.has_value() || IsHalfExported(data_dir)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, disk.NamesIn(data_dir));
  std::optional<std::string> found;
  for (const std::string& name : names) {
    // Created by file systems, and by a tracker before anything else.
    if (name != "lost+found" && name != "sessions") found = name;
  }
  const std::string folder = JoinPath(data_dir, "sessions");
  ASSIGN_OR_RETURN(const auto has_sessions, disk.Look(folder));
  if (has_sessions.has_value()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> sessions, disk.NamesIn(folder));
    for (const std::string& name : sessions) {
      if (name != ".lock") found = JoinPath("sessions", name);
    }
  }
  if (!found.has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the directory ", data_dir, " is not empty (there is ", *found,
                   "): name one that is, or that does not exist yet, with --data-dir"));
}

absl::Status BeginExport(Disk& disk, const std::string& data_dir, FileSessionStorage& sessions) {
  const bool was_half = IsHalfExported(data_dir);
  RETURN_IF_ERROR(disk.ReplaceFile(data_dir, kMark, kText));
  return was_half ? Clear(disk, data_dir, sessions) : absl::OkStatus();
}

absl::Status EndExport(Disk& disk, const std::string& data_dir) {
  RETURN_IF_ERROR(disk.SyncFolder(data_dir));
  RETURN_IF_ERROR(disk.RemoveFile(JoinPath(data_dir, kMark)));
  return disk.SyncFolder(data_dir);
}

}  // namespace callslip::tracker
