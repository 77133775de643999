#pragma once

#include <string>
#include <variant>
#include <vector>

#include "bridge/relay/answers.h"

namespace callslip::bridge {

// A file that an agent uploads.
struct LocalFile {
  std::string name;       // Without its folder.
  std::string mime_type;  // Derived from its name; empty if that is not known.
  std::string content;
};

// Reads regular files that are in one of `folders` after following symbolic links; relative paths
// are in the first. There must be at least one folder, as an absolute path. Fails with
// `file_unavailable`, or with `file_too_large` if they have more than kMaxUploadBytes together; no
// content is kept then.
std::variant<std::vector<LocalFile>, Failure> ReadLocalFiles(
    const std::vector<std::string>& folders, const std::vector<std::string>& paths);

Failure FileUnavailable(std::string message);

}  // namespace callslip::bridge
