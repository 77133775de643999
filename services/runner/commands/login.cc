#include "runner/commands/login.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runner/commands/terminal_text.h"
#include "runner/config_check.h"
#include "runner/config_keys.h"

namespace callslip::runner {
namespace {

using acp::AuthMethod;

Environment EnvironmentOf(const AgentConfig& agent, const LoginRequest& login) {
  Environment environment = AgentEnvironment(
      login.place.environment,
      {.env = agent.env, .env_from = agent.env_from, .session_id = "", .agent_id = login.agent});
  // Unlike at work, the agent gets a terminal.
  const auto term = login.place.environment.find("TERM");
  if (term != login.place.environment.end() && !agent.env.contains("TERM")) {
    environment["TERM"] = term->second;
  }
  return environment;
}

// Agents report their own program without its path.
std::string PathOf(const std::string& program, const AgentConfig& agent) {
  const std::string& own = agent.command.front();
  return std::filesystem::path(own).filename() == program ? own : program;
}

// Returns the command of a method, and adds the method's variables to `environment`. If the agent
// is confined, everything that the agent sent comes behind the wrapper, so that none of it becomes
// an option or a variable of the wrapper.
std::vector<std::string> CommandOf(const AuthMethod& method, const AgentConfig& agent,
                                   Environment& environment) {
  std::vector<std::string> words = agent.command;
  if (!method.program.empty()) words = {PathOf(method.program, agent)};
  words.insert(words.end(), method.arguments.begin(), method.arguments.end());
  if (agent.wrapper.empty()) {
    for (const auto& [name, value] : method.environment) environment[name] = value;
    return words;
  }
  std::vector<std::string> behind = {"env", "--"};
  for (const auto& [name, value] : method.environment) {
    behind.push_back(absl::StrCat(name, "=", value));
  }
  behind.insert(behind.end(), words.begin(), words.end());
  return Wrapped(agent.wrapper, behind);
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs a command on this process's terminal; keyboard signals affect only the command. Returns an
// empty string if it exited with 0, else how it ended.
std::string RunOnTerminal(std::vector<std::string> command, const Environment& environment,
                          const std::string& directory) {
  const std::optional<std::string> program = FindProgram(command.front(), environment, directory);
  if (!program.has_value()) return absl::StrCat(command.front(), " is not installed");
  std::vector<std::string> variables = FormatEnvironment(environment);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup done = [&] {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  };
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t usual;
  sigemptyset(&usual);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &usual);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  sigset_t keyboard;
  sigemptyset(&keyboard);
  sigaddset(&keyboard, SIGINT);
  sigaddset(&keyboard, SIGQUIT);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &keyboard, &before);
  const absl::Cleanup restore = [&] { pthread_sigmask(SIG_SETMASK, &before, nullptr); };

  pid_t child = -1;
  const int error = posix_spawn(&child, program->c_str(), &actions, &attributes,
                                Pointers(command).data(), Pointers(variables).data());
  if (error != 0) return absl::StrCat(*program, ": ", std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return absl::StrCat("it was ended by signal ", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return absl::StrCat("it ended with code ", WEXITSTATUS(status));
  return "";
}

void List(const std::vector<AuthMethod>& methods, std::ostream& out) {
  for (const AuthMethod& method : methods) {
    out << "  " << TerminalLine(method.id) << ": " << TerminalLine(method.name);
    if (!method.description.empty()) out << " (" << TerminalLine(method.description) << ")";
    out << "\n";
  }
}

int Refuse(std::ostream& out, const std::string& why) {
  out << TerminalText(why) << "\n";
  return 1;
}

// Returns the method to run; nullopt if none fits, after printing why and setting the exit code in
// `code`.
std::optional<AuthMethod> Choose(const std::vector<AuthMethod>& methods, const LoginRequest& login,
                                 std::ostream& out, int& code) {
  std::vector<AuthMethod> fit;
  for (const AuthMethod& method : methods) {
    if (method.has_terminal() && (login.method.empty() || login.method == method.id)) {
      fit.push_back(method);
    }
  }
  if (fit.size() == 1) return fit.front();
  code = 1;
  if (methods.empty()) {
    out << "agent " << login.agent << " has no ways to log in: it needs none, or has a program of "
        << "its own for that, or wants a key in `env` or `env_from`\n";
  } else if (fit.empty()) {
    out << "agent " << login.agent << " has no "
        << (login.method.empty() ? "" : login.method + ", ")
        << "way to log in on a terminal. It has:\n";
    List(methods, out);
    out << "Use its own program, or set `auth_method` of agent " << login.agent
        << " to one of these\n";
  } else {
    code = 2;
    out << "agent " << login.agent << " has several ways to log in: add one to `login "
        << login.agent << "`\n";
    List(fit, out);
  }
  return std::nullopt;
}

}  // namespace

int RunLogin(const RunnerConfig& config, const LoginRequest& login, std::ostream& out) {
  const auto found = config.agents.find(login.agent);
  if (found == config.agents.end()) {
    std::vector<std::string> names;
    for (const auto& [name, agent] : config.agents) names.push_back(name);
    return Refuse(
        out, absl::StrCat("there is no agent \"", login.agent, "\"", Suggestion(login.agent, names),
                          "; there are: ", names.empty() ? "none" : absl::StrJoin(names, ", ")));
  }
  AgentConfig agent = found->second;
  if (agent.command.empty()) {
    return Refuse(out, absl::StrCat("agent ", login.agent, " has no `command`"));
  }
  auto confined = Confined(AgentDirectories(config), agent, login.place.environment);
  if (!confined.ok()) return Refuse(out, std::string(confined.status().message()));
  agent = *std::move(confined);
  const auto told = Inquire(login.agent, agent, login.place);
  if (const auto* error = std::get_if<AgentError>(&told)) {
    return Refuse(out, absl::StrCat(error->reason, ": ", error->message));
  }
  const std::vector<AuthMethod>& methods = std::get<acp::Capabilities>(told).auth_methods;
  const bool has_authenticated =
      !agent.auth_method.empty() && absl::c_none_of(methods, [&](const AuthMethod& method) {
        return method.is_terminal && method.id == agent.auth_method;
      });
  if (has_authenticated && login.method.empty()) {
    out << "agent " << login.agent << " has taken `auth_method` " << agent.auth_method << "\n";
    return 0;
  }
  int code = 0;
  const std::optional<AuthMethod> method = Choose(methods, login, out, code);
  if (!method.has_value()) return code;
  Environment environment = EnvironmentOf(agent, login);
  std::vector<std::string> command = CommandOf(*method, agent, environment);
  out << "agent " << login.agent << ": " << TerminalLine(method->name) << std::endl;
  if (const std::string bad = RunOnTerminal(std::move(command), environment, login.place.directory);
      !bad.empty()) {
    return Refuse(out, absl::StrCat("no user is logged in to agent ", login.agent, ": ", bad));
  }
  out << "agent " << login.agent << " says that you are logged in. Sessions that have failed for "
      << "want of a login continue when their queue is resumed\n";
  return 0;
}

}  // namespace callslip::runner
