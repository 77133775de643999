#include "bridge/service/autostart_plan.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/address.h"
#include "common/status_macros.h"

namespace callslip::bridge {
namespace {

std::string FolderPath() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return absl::StrCat(runtime, "/callslip");
  return absl::StrCat("/tmp/callslip-", geteuid());
}

// Empty if there is none.
std::string DataFolderPath() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') return absl::StrCat(data, "/callslip");
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return absl::StrCat(home, "/.local/share/callslip");
  return "";
}

// The data directory of the tracker for `name`, in an existing folder; empty if it cannot be
// created.
std::string DataDirectory(const std::string& name) {
  const std::filesystem::path folder = DataFolderPath();
  if (folder.empty()) return "";
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  // Private, because it holds the conversations of agents and users.
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return "";
  return (folder / name).string();
}

// Other users must not be able to place files there that we would lock, log to or connect to.
absl::Status MakePrivateFolder(const std::string& path) {
  struct stat found;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::FailedPreconditionError(
        absl::StrCat("--autostart cannot make the folder ", path, ": ", std::strerror(errno)));
  }
  if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("--autostart needs ", path,
                     " to be your own folder with mode 700: remove what is there now"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AutostartPlan> PlanAutostart(const GatewayUrl& gateway,
                                            const std::string& token_file) {
  absl::string_view host_port = gateway.origin;
  const bool is_http = absl::ConsumePrefix(&host_port, "http://");
  const absl::StatusOr<Address> address = ParseAddress(host_port);
  if (!is_http || !address.ok() || !address->IsLoopback() || gateway.path != "/mcp") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--autostart starts a gateway on this machine: --gateway must be http://127.0.0.1:PORT, "
        "and is ",
        gateway.ToString()));
  }
  const std::string folder = FolderPath();
  const std::string name =
      absl::StrReplaceAll(address->ToString(), {{":", "-"}, {"[", ""}, {"]", ""}});
  std::error_code ignored;
  AutostartPlan plan = {.gateway_address = address->ToString(),
                        .gateway_url = gateway.origin,
                        .token_file = token_file.empty()
                                          ? ""
                                          : std::filesystem::absolute(token_file, ignored).string(),
                        .base = absl::StrCat(folder, "/", name)};
  if (plan.gateway_socket_file().size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::FailedPreconditionError(
        absl::StrCat("--autostart has a socket at ", plan.gateway_socket_file(),
                     ", which is too long for one: unset XDG_RUNTIME_DIR, or name a shorter one"));
  }
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  plan.data_dir = DataDirectory(name);
  return plan;
}

std::string ProgramFolder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

}  // namespace callslip::bridge
