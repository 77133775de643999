#include "bridge/relay/local_files.h"

#include <fcntl.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bridge/relay/limits.h"
#include "common/beneath.h"
#include "common/file.h"

namespace callslip::bridge {
namespace {

namespace fs = std::filesystem;

// The types that forms accept. For other files the page determines the type just as well.
constexpr std::pair<absl::string_view, absl::string_view> kTypes[] = {
    {".csv", "text/csv"},
    {".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {".gif", "image/gif"},
    {".htm", "text/html"},
    {".html", "text/html"},
    {".jpeg", "image/jpeg"},
    {".jpg", "image/jpeg"},
    {".json", "application/json"},
    {".md", "text/markdown"},
    {".mp3", "audio/mpeg"},
    {".mp4", "video/mp4"},
    {".pdf", "application/pdf"},
    {".png", "image/png"},
    {".svg", "image/svg+xml"},
    {".txt", "text/plain"},
    {".webp", "image/webp"},
    {".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {".xml", "text/xml"},
    {".zip", "application/zip"},
};

std::string TypeOf(const fs::path& path) {
  const std::string extension = absl::AsciiStrToLower(path.extension().string());
  for (const auto& [ending, type] : kTypes) {
    if (ending == extension) return std::string(type);
  }
  return "";
}

// The path from `folder` to `path`; empty if `path` is lexically outside.
std::string Within(const fs::path& folder, const fs::path& path) {
  const std::string way = path.lexically_normal().lexically_relative(folder).string();
  return way.empty() || way == "." || way == ".." || absl::StartsWith(way, "../") ? "" : way;
}

Failure TooLarge() {
  return {
      .reason = "file_too_large",
      .message = absl::StrCat("The files have more than ", kMaxUploadBytes >> 20, " MiB together."),
      .hint = "Nothing was executed. Upload fewer at a time, or smaller ones.",
      .repeatable = false};
}

// UNKNOWN if the path is not in the folder.
absl::StatusOr<std::string> ReadIn(const std::string& folder, const fs::path& path, size_t most) {
  // Tries both the given and the resolved folder, because the folder may be a symbolic link itself.
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  std::string way = Within(fs::path(folder + "/").lexically_normal(), path);
  if (way.empty() && !error) way = Within(real, path);
  if (way.empty()) return absl::UnknownError("");
  const File root(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return absl::UnknownError("");
  return ReadBeneath(root.descriptor(), way, most);
}

}  // namespace

Failure FileUnavailable(std::string message) {
  return {.reason = "file_unavailable",
          .message = std::move(message),
          .hint =
              "Nothing was executed. Name files within the folders that the client has opened, "
              "or else the one that callslip-bridge was started in.",
          .repeatable = false};
}

std::variant<std::vector<LocalFile>, Failure> ReadLocalFiles(
    const std::vector<std::string>& folders, const std::vector<std::string>& paths) {
  std::vector<LocalFile> files;
  size_t room = kMaxUploadBytes;
  for (const std::string& text : paths) {
    const fs::path path = fs::path(folders.front()) / text;
    absl::StatusOr<std::string> content = absl::UnknownError("");
    for (const std::string& folder : folders) {
      content = ReadIn(folder, path, room);
      if (!absl::IsUnknown(content.status())) break;
    }
    if (absl::IsOutOfRange(content.status())) return TooLarge();
    if (absl::IsUnknown(content.status())) {
      return FileUnavailable(
          absl::StrCat(text, " is not in ", absl::StrJoin(folders, " or "), "."));
    }
    if (!content.ok()) return FileUnavailable(absl::StrCat(content.status().message(), "."));
    room -= content->size();
    files.push_back({.name = path.filename().string(),
                     .mime_type = TypeOf(path),
                     .content = *std::move(content)});
  }
  return files;
}

}  // namespace callslip::bridge
