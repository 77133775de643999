#include "runner/client/file_access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/beneath.h"
#include "common/directories.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "runner/client/client_params.h"

namespace callslip::runner {
namespace {

std::string RealPath(int folder, const std::string& otherwise) {
  std::array<char, PATH_MAX> real;
  const std::string self = absl::StrCat("/proc/self/fd/", folder);
  const ssize_t size = readlink(self.c_str(), real.data(), real.size());
  return size > 0 ? std::string(real.data(), static_cast<size_t>(size)) : otherwise;
}

// Opens `path` beneath an open folder with the path `above`.
absl::StatusOr<File> OpenBelow(const File& folder, const std::string& above,
                               const std::string& path) {
  const std::optional<std::string> inside = RelativeTo(path, above);
  if (!inside.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not inside of ", above));
  }
  absl::StatusOr<File> opened = OpenFolderBeneath(folder.descriptor(), *inside);
  if (!absl::IsPermissionDenied(opened.status())) return opened;
  // A link with an absolute target can also lead to a place inside, which then has a path without
  // links.
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error);
  const std::optional<std::string> by_itself =
      RelativeTo(real, RealPath(folder.descriptor(), above));
  if (error) return opened;
  if (!by_itself.has_value()) {
    return absl::PermissionDeniedError(absl::StrCat(path, " leads out of ", above));
  }
  return OpenFolderBeneath(folder.descriptor(), *by_itself);
}

absl::StatusOr<File> Open(const FolderWay& way) {
  const std::string& first = way.front();
  if (!absl::StartsWith(first, "/")) {
    return absl::InvalidArgumentError(absl::StrCat(first, " is not an absolute path"));
  }
  File folder(open(first.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return absl::ErrnoToStatus(errno, first);
  for (size_t i = 1; i < way.size(); ++i) {
    absl::StatusOr<File> next = OpenBelow(folder, way[i - 1], way[i]);
    if (absl::IsNotFound(next.status())) {
      return absl::NotFoundError(absl::StrCat(way[i], " is not there"));
    }
    if (!next.ok()) return next;
    folder = *std::move(next);
  }
  return folder;
}

absl::Status TooLarge(absl::string_view path) {
  return absl::OutOfRangeError(
      absl::StrCat(path, " is too large: a file may have ", FileAccess::kMaxBytes >> 20, " MiB"));
}

// At most `limit` lines from line `first` on, with their line ends.
absl::string_view Lines(absl::string_view text, int64_t first, std::optional<int64_t> limit) {
  const auto behind_line = [&](size_t at) {
    const size_t end = text.find('\n', at);
    return end == absl::string_view::npos ? text.size() : end + 1;
  };
  size_t begin = 0;
  for (int64_t line = 1; line < first && begin < text.size(); ++line) begin = behind_line(begin);
  size_t end = limit.has_value() ? begin : text.size();
  for (int64_t line = 0; line < limit.value_or(0) && end < text.size(); ++line) {
    end = behind_line(end);
  }
  return text.substr(begin, end - begin);
}

FileAccess::Done Failed(const absl::Status& status) { return {.answer = ErrorAnswer(status)}; }

}  // namespace

absl::StatusOr<FileAccess> FileAccess::Of(const std::vector<FolderWay>& folders) {
  if (folders.empty()) return absl::InvalidArgumentError("a session has a working directory");
  FileAccess access;
  for (const FolderWay& way : folders) {
    absl::StatusOr<File> opened = Open(way);
    if (!opened.ok() && access.roots_.empty()) return opened.status();
    if (!opened.ok()) {
      access.left_out_.emplace_back(opened.status().message());
      continue;
    }
    std::string real = RealPath(opened->descriptor(), way.back());
    access.roots_.push_back(
        {way.back(), std::move(real), std::make_shared<const File>(*std::move(opened))});
  }
  return access;
}

absl::StatusOr<FileAccess::Inside> FileAccess::Find(absl::string_view path) const {
  if (!absl::StartsWith(path, "/")) {
    return absl::InvalidArgumentError(absl::StrCat("\"", path, "\" is not an absolute path"));
  }
  if (path.size() >= PATH_MAX || absl::StrContains(path, '\0')) {
    return absl::InvalidArgumentError("`path` is too long, or has a NUL in it");
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  if (absl::c_linear_search(parts, "..")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has \"..\" in it: write where that leads to"));
  }
  for (const Root& root : roots_) {
    for (const std::string* folder : {&root.path, &root.real}) {
      if (std::optional<std::string> inside = RelativeTo(path, *folder); inside.has_value()) {
        return Inside{root.folder->descriptor(), *std::move(inside)};
      }
    }
  }
  return absl::PermissionDeniedError(absl::StrCat(
      path, " is outside of the session's directories (",
      absl::StrJoin(roots_, ", ",
                    [](std::string* out, const Root& root) { absl::StrAppend(out, root.path); }),
      ")"));
}

absl::StatusOr<std::shared_ptr<const File>> FileAccess::OpenFolder(absl::string_view path) const {
  ASSIGN_OR_RETURN(const Inside inside, Find(path));
  ASSIGN_OR_RETURN(File folder, OpenFolderBeneath(inside.folder, inside.path));
  return std::make_shared<const File>(std::move(folder));
}

absl::StatusOr<std::string> FileAccess::Read(absl::string_view path) const {
  ASSIGN_OR_RETURN(const Inside inside, Find(path));
  absl::StatusOr<std::string> content = ReadBeneath(inside.folder, inside.path, kMaxBytes);
  if (absl::IsOutOfRange(content.status())) return TooLarge(path);
  RETURN_IF_ERROR(content.status());
  if (!IsUtf8(*content)) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not UTF-8 text"));
  }
  return content;
}

absl::Status FileAccess::Write(absl::string_view path, absl::string_view content,
                               const std::atomic<bool>& is_wanted) const {
  if (content.size() > kMaxBytes) return TooLarge(path);
  if (!IsUtf8(content)) return absl::InvalidArgumentError("`content` is not UTF-8");
  ASSIGN_OR_RETURN(const Inside inside, Find(path));
  return WriteBeneath(inside.folder, inside.path, content, is_wanted);
}

FileAccess::Done FileAccess::ReadTextFile(const Json& params) const {
  const auto path = TextParam(params, "path");
  if (!path.ok()) return Failed(path.status());
  const auto line = NumberParam(params, "line", 1);
  if (!line.ok()) return Failed(line.status());
  const auto limit = NumberParam(params, "limit", 0);
  if (!limit.ok()) return Failed(limit.status());
  const auto content = Read(*path);
  if (!content.ok()) return Failed(content.status());
  const absl::string_view lines = Lines(*content, line->value_or(1), *limit);
  return {Json{{"content", std::string(lines)}}, *path, static_cast<int64_t>(content->size())};
}

FileAccess::Done FileAccess::WriteTextFile(const Json& params,
                                           const std::atomic<bool>& is_wanted) const {
  const auto path = TextParam(params, "path");
  if (!path.ok()) return Failed(path.status());
  const auto content = TextParam(params, "content");
  if (!content.ok()) return Failed(content.status());
  if (absl::Status written = Write(*path, *content, is_wanted); !written.ok())
    return Failed(written);
  return {Json(), *path, static_cast<int64_t>(content->size())};
}

}  // namespace callslip::runner
