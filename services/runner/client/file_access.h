#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/file.h"
#include "runner/acp/message.h"
#include "runner/acp/peer.h"

namespace callslip::runner {

// How a folder is reached: the first element by its path, each of the others, which is inside the
// one before it, beneath that one: no link leads out of it, whenever and by whom it was created.
// All paths are absolute.
using FolderWay = std::vector<std::string>;

// File access of an agent through the runner: text files in the folders of its session, and nothing
// else. The kernel enforces this (openat2, RESOLVE_BENEATH, from a descriptor of the folder):
// whatever is swapped meanwhile, no path leads out, be it through `..`, a symbolic link or a mount
// of /proc. A hard link to a file elsewhere counts as a file inside: the kernel decides who can
// create one, and writing replaces the file, so that the other one is unchanged. Opens only regular
// files. Not a protection against the agent, which may be able to open files itself: see `wrapper`
// in the configuration.
//
// Reads and writes synchronously, for as long as the file system takes: see DiskThread. Immutable
// and thread-safe.
class FileAccess {
 public:
  static constexpr int64_t kMaxBytes = 10 << 20;
  static inline const std::atomic<bool> kAlways = true;

  // `folders`: the session's working directory and the additional ones; at least one. They are
  // opened here, once: later renames and replacements have no effect. Returns an error if the first
  // cannot be opened; omits others that cannot be opened.
  static absl::StatusOr<FileAccess> Of(const std::vector<FolderWay>& folders);

  // The result of a call, for the session's log.
  struct Done {
    RpcAnswer answer;
    std::string path;   // As sent by the agent; empty if the call failed.
    int64_t bytes = 0;  // Size of the file.
  };

  // `fs/read_text_file`: {path, line?, limit?} → {content}. Lines count from 1; a line past the end
  // is not an error.
  Done ReadTextFile(const Json& params) const;
  // `fs/write_text_file`: {path, content} → null. Replaces the file atomically: readers see the old
  // or the new content; the mode is kept. Creates missing folders. Leaves the file unchanged if the
  // call is not `is_wanted` any more.
  Done WriteTextFile(const Json& params, const std::atomic<bool>& is_wanted = kAlways) const;

  // Opens a folder as the working directory of a command. Errors are meant for agents.
  absl::StatusOr<std::shared_ptr<const File>> OpenFolder(absl::string_view path) const;

  // Why additional folders were omitted.
  const std::vector<std::string>& left_out() const { return left_out_; }

  // The session's working directory: the first folder.
  const std::string& working_directory() const { return roots_.front().path; }
  // The same, open: another folder may have taken its path.
  const std::shared_ptr<const File>& working_folder() const { return roots_.front().folder; }

 private:
  struct Root {
    std::string path;  // The configured path.
    std::string real;  // The kernel's path, which agents get from getcwd().
    std::shared_ptr<const File> folder;
  };
  // A path inside one of the folders.
  struct Inside {
    int folder = -1;
    std::string path;  // Relative to `folder`; "." for the folder itself.
  };

  absl::StatusOr<Inside> Find(absl::string_view path) const;
  absl::StatusOr<std::string> Read(absl::string_view path) const;
  absl::Status Write(absl::string_view path, absl::string_view content,
                     const std::atomic<bool>& is_wanted) const;

  std::vector<Root> roots_;
  std::vector<std::string> left_out_;
};

}  // namespace callslip::runner
