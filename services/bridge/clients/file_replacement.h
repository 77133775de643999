#ifndef CALLSLIP_BRIDGE_CLIENTS_FILE_REPLACEMENT_H_
#define CALLSLIP_BRIDGE_CLIENTS_FILE_REPLACEMENT_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// Changes somebody's file so that at each moment either the old or the new one is there as a whole,
// and the old one can be had back.
namespace callslip::bridge {

// What agents keep beside their settings makes some of these files large.
inline constexpr size_t kMaxConfigurationBytes = 16 << 20;

// A file as it was read.
struct ReadFile {
  std::string path;  // Behind all symbolic links.
  bool exists = false;
  std::string content;  // Empty where there is no file.
};

// Reads the file at `path`, follows links. FAILED_PRECONDITION, saying why, where it could be read
// but is not to be replaced: a folder or device, write-protected, a link to nothing, several names
// of one file, or too large.
absl::StatusOr<ReadFile> ReadForReplacement(const std::string& path);

// Writes `content` in the place of `file`, with the mode and owner of that, and returns the path of
// the copy that was made of it before, FILE.callslip-backup-DATE, or "" where there was no file,
// whose folders are made then. No copy is written over another one. ABORTED, with nothing changed,
// where the file is another one by now.
absl::StatusOr<std::string> Replace(const ReadFile& file, absl::string_view content,
                                    absl::Time now);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_FILE_REPLACEMENT_H_
