#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// Changes a user's file so that at every moment either the old or the new one exists completely,
// and the old one can be restored.
namespace callslip::bridge {

// Some of these files are large because agents keep other data next to their settings.
inline constexpr size_t kMaxConfigurationBytes = 16 << 20;

// A file and the content that was read.
struct ReadFile {
  std::string path;  // With all symbolic links resolved.
  bool exists = false;
  std::string content;  // Empty if there is no file.
};

// Reads the file at `path`, following links. FAILED_PRECONDITION, with the reason, if it can be
// read but must not be replaced: a folder or device, write-protected, a dangling link, a file with
// several names, or too large.
absl::StatusOr<ReadFile> ReadForReplacement(const std::string& path);

// Replaces `file` with `content`, keeping mode and owner. Returns the path of the backup made
// first, FILE.callslip-backup-DATE, or "" if there was no file; creates missing folders in that
// case. Never overwrites a backup. ABORTED, with nothing changed, if the file has changed since it
// was read.
absl::StatusOr<std::string> Replace(const ReadFile& file, absl::string_view content,
                                    absl::Time now);

}  // namespace callslip::bridge
