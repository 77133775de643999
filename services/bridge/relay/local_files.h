#ifndef CALLSLIP_BRIDGE_RELAY_LOCAL_FILES_H_
#define CALLSLIP_BRIDGE_RELAY_LOCAL_FILES_H_

#include <string>
#include <variant>
#include <vector>

#include "bridge/relay/answers.h"

namespace callslip::bridge {

// A file that an agent has named for an upload.
struct LocalFile {
  std::string name;       // Without its folder.
  std::string mime_type;  // By its name; empty where that tells nothing.
  std::string content;
};

// Reads regular files that lie in one of `folders`, wherever symbolic links lead; relative paths
// are in the first. At least one folder, and absolute paths of them. `file_unavailable`, and
// `file_too_large` where they have more than kMaxUploadBytes together: nothing is kept of any then.
std::variant<std::vector<LocalFile>, Failure> ReadLocalFiles(
    const std::vector<std::string>& folders, const std::vector<std::string>& paths);

Failure FileUnavailable(std::string message);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_RELAY_LOCAL_FILES_H_
