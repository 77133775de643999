#include "runner/agent/agent_environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace callslip::runner {
namespace {

constexpr absl::string_view kHandedOn[] = {"HOME",  "PATH", "USER", "LOGNAME",
                                           "SHELL", "LANG", "TZ",   "TMPDIR"};
constexpr char kPath[] = "/usr/local/bin:/usr/bin:/bin";

bool IsHandedOn(absl::string_view name) {
  return absl::StartsWith(name, "LC_") || absl::c_linear_search(kHandedOn, name);
}

bool IsProgram(const std::string& path) {
  struct stat about = {};
  return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

}  // namespace

Environment ParseEnvironment(const char* const* variables) {
  Environment environment;
  for (; *variables != nullptr; ++variables) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(*variables, absl::MaxSplits('=', 1));
    environment.insert(parts);
  }
  return environment;
}

std::vector<std::string> FormatEnvironment(const Environment& environment) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(absl::StrCat(name, "=", value));
  }
  return variables;
}

Environment AgentEnvironment(const Environment& runner, const AgentVariables& variables) {
  Environment environment = {{"PATH", kPath}, {"TERM", "dumb"}};
  for (const auto& [name, value] : runner) {
    if (IsHandedOn(name)) environment[name] = value;
  }
  for (const std::string& name : variables.env_from) {
    if (const auto found = runner.find(name); found != runner.end()) {
      environment[name] = found->second;
    }
  }
  for (const auto& [name, value] : variables.env) environment[name] = value;
  const auto set_own = [&](const char* name, const std::string& value) {
    environment.erase(name);
    if (!value.empty()) environment[name] = value;
  };
  set_own("CALLSLIP_SESSION_ID", variables.session_id);
  set_own("CALLSLIP_AGENT_ID", variables.agent_id);
  return environment;
}

std::optional<std::string> FindProgram(absl::string_view command, const Environment& environment,
                                       absl::string_view directory) {
  if (command.empty()) return std::nullopt;
  if (absl::StrContains(command, '/')) {
    std::string path =
        command.front() == '/' ? std::string(command) : absl::StrCat(directory, "/", command);
    if (!IsProgram(path)) return std::nullopt;
    return path;
  }
  const auto paths = environment.find("PATH");
  if (paths == environment.end()) return std::nullopt;
  for (const absl::string_view folder : absl::StrSplit(paths->second, ':', absl::SkipEmpty())) {
    std::string path = absl::StrCat(folder, "/", command);
    if (IsProgram(path)) return path;
  }
  return std::nullopt;
}

std::vector<std::string> Wrapped(const std::vector<std::string>& wrapper,
                                 const std::vector<std::string>& command) {
  std::vector<std::string> all = wrapper;
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

}  // namespace callslip::runner
