#ifndef CALLSLIP_RUNNER_CLIENT_FILE_ACCESS_H_
#define CALLSLIP_RUNNER_CLIENT_FILE_ACCESS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/beneath.h"
#include "runner/acp/message.h"
#include "runner/acp/peer.h"

namespace callslip::runner {

// How a folder is reached: the first by its path, each of the others, which is inside of the one
// before it, beneath that: no link leads out of it, whoever has made that link, and whenever. All
// absolute.
using FolderWay = std::vector<std::string>;

// What an agent reads and writes through the runner: text files in the folders of its session, and
// nothing else. The kernel sees to that (openat2, RESOLVE_BENEATH, from a descriptor of the
// folder): whatever is swapped meanwhile, no path leads out, be it by `..`, a symbolic link or a
// mount of /proc. A hard link to a file elsewhere is a file here: who may make one is the kernel's
// affair, and a file that is written is a new one, so that the other stays as it is. Only regular
// files are opened at all. Not a guard against the agent, which may open files by itself: for that
// there is `wrapper` in the configuration.
//
// Reads and writes where it is called, as long as the file system takes for it: see DiskThread.
// Never changes, and may be used on any thread.
class FileAccess {
 public:
  static constexpr int64_t kMostBytes = 10 << 20;
  static inline const std::atomic<bool> kAlways = true;

  // `folders`: the session's working directory and its additional ones; one at least. They are
  // opened here, once: what is renamed or replaced later is not followed. An error where the first
  // can't be; others that can't be are left out.
  static absl::StatusOr<FileAccess> Of(const std::vector<FolderWay>& folders);

  // What was done, for the log of the session.
  struct Done {
    RpcAnswer answer;
    std::string path;   // As the agent has it; empty where it failed.
    int64_t bytes = 0;  // Of the file.
  };

  // `fs/read_text_file`: {path, line?, limit?} → {content}. Lines count from 1; there is no error
  // where there are none so far down.
  Done ReadTextFile(const Json& params) const;
  // `fs/write_text_file`: {path, content} → null. The file is as it was or as it shall be, never in
  // between, for whoever opens it; it keeps its mode. Folders on the way to it are made.
  // It stays as it is, too, where the call is not `is_wanted` any more.
  Done WriteTextFile(const Json& params, const std::atomic<bool>& is_wanted = kAlways) const;

  // A descriptor of a folder inside, for a command to begin in. An error as agents are told it.
  absl::StatusOr<OpenFile> OpenFolder(absl::string_view path) const;

  // Why some of the additional ones were left out.
  const std::vector<std::string>& left_out() const { return left_out_; }

  // Where the session works: the first of them.
  const std::string& working_directory() const { return roots_.front().path; }
  // The same for a process to begin in, as long as this is there.
  std::string PathForProcesses() const { return roots_.front().folder.PathForOthers(); }

 private:
  struct Root {
    std::string path;  // As configured,
    std::string real;  // and as the kernel has it, which is what agents get from getcwd().
    OpenFile folder;
  };
  // A path inside one of them.
  struct Inside {
    int folder = -1;
    std::string path;  // Relative to it; "." for itself.
  };

  absl::StatusOr<Inside> Find(absl::string_view path) const;
  absl::StatusOr<std::string> Read(absl::string_view path) const;
  absl::Status Write(absl::string_view path, absl::string_view content,
                     const std::atomic<bool>& is_wanted) const;

  std::vector<Root> roots_;
  std::vector<std::string> left_out_;
};

}  // namespace callslip::runner

#endif  // CALLSLIP_RUNNER_CLIENT_FILE_ACCESS_H_
