#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runner/acp/message.h"
#include "runner/acp/peer.h"
#include "runner/client/command_process.h"
#include "runner/client/disk_thread.h"
#include "runner/client/file_access.h"

namespace callslip::runner {

// The commands that an agent runs through the runner in one session: `terminal/create`, `output`,
// `wait_for_exit`, `kill` and `release`. Processes that a command leaves behind live until its
// terminal is killed or released. All of them end with this.
class Terminals {
 public:
  static constexpr size_t kMaxTerminals = 16;

  // `files` has the session's folders, which are looked up on `disk`; `disk` must be destroyed
  // before this.
  Terminals(CommandHost host, std::shared_ptr<const FileAccess> files, DiskThread* disk)
      : host_(std::move(host)), files_(std::move(files)), disk_(disk) {}
  // Kills all commands; pending calls are not answered.
  ~Terminals();
  Terminals(const Terminals&) = delete;
  Terminals& operator=(const Terminals&) = delete;

  // Whether `method` is one of the methods above.
  static bool Has(absl::string_view method);
  // Answers one of them: `create` once its folder is found, `wait_for_exit` once the command has
  // ended or was released.
  void Call(absl::string_view method, const Json& params, Peer::Respond respond);

  size_t size() const { return terminals_.size(); }

 private:
  struct Terminal {
    std::shared_ptr<CommandProcess> process;
    std::vector<Peer::Respond> waiting;
  };

  absl::StatusOr<Command> CommandIn(const Json& params) const;
  void Create(const Json& params, Peer::Respond respond);
  // Starts the command in this folder, even if the folder's path has been replaced meanwhile.
  absl::StatusOr<std::string> Start(Command command, std::shared_ptr<const File> folder);
  // INVALID_ARGUMENT or NOT_FOUND.
  absl::StatusOr<Terminal*> Find(const Json& params);
  void Release(const std::string& id);
  void OnEnd(const std::string& id);

  const CommandHost host_;
  const std::shared_ptr<const FileAccess> files_;
  DiskThread* const disk_;
  std::map<std::string, Terminal, std::less<>> terminals_;
  size_t starting_ = 0;  // Terminals that are being created.
  int64_t last_id_ = 0;
};

}  // namespace callslip::runner
