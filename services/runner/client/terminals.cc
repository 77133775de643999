#include "runner/client/terminals.h"

#include <string.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "runner/client/client_params.h"

namespace callslip::runner {
namespace {

constexpr absl::string_view kCreate = "terminal/create";
constexpr absl::string_view kOutput = "terminal/output";
constexpr absl::string_view kWait = "terminal/wait_for_exit";
constexpr absl::string_view kKill = "terminal/kill";
constexpr absl::string_view kRelease = "terminal/release";

bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

absl::StatusOr<std::vector<std::string>> WordsIn(const Json& params) {
  std::vector<std::string> words;
  ASSIGN_OR_RETURN(std::string command, TextParam(params, "command"));
  words.push_back(std::move(command));
  const Json arguments = params.value("args", Json());
  if (!arguments.is_null() && !arguments.is_array()) {
    return absl::InvalidArgumentError("`args` has to be a list of texts");
  }
  for (const Json& argument : arguments) {
    if (!argument.is_string()) {
      return absl::InvalidArgumentError("`args` has to be a list of texts");
    }
    words.push_back(argument.get<std::string>());
  }
  for (const std::string& word : words) {
    if (HasNul(word)) return absl::InvalidArgumentError("a command can't have a NUL in it");
  }
  return words;
}

absl::StatusOr<Environment> EnvironmentIn(const Json& params) {
  Environment environment;
  const Json variables = params.value("env", Json());
  if (!variables.is_null() && !variables.is_array()) {
    return absl::InvalidArgumentError("`env` has to be a list of {name, value}");
  }
  for (const Json& variable : variables) {
    if (!variable.is_object()) {
      return absl::InvalidArgumentError("`env` has to be a list of {name, value}");
    }
    ASSIGN_OR_RETURN(std::string name, TextParam(variable, "name"));
    ASSIGN_OR_RETURN(std::string value, TextParam(variable, "value"));
    if (name.empty() || name.find('=') != std::string::npos || HasNul(name) || HasNul(value)) {
      return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" can't be set in `env`"));
    }
    environment[std::move(name)] = std::move(value);
  }
  return environment;
}

// {exitCode, signal}, one of them null; null while the command runs.
Json ExitStatus(const CommandProcess& process) {
  const std::optional<AgentExit>& exit = process.exit();
  if (!exit.has_value()) return nullptr;
  if (exit->kind != AgentExit::Kind::kSignalled && exit->kind != AgentExit::Kind::kLost) {
    return {{"exitCode", process.exit_code()}, {"signal", nullptr}};
  }
  constexpr int kSignalled = 128;
  const char* name = sigabbrev_np(process.exit_code() - kSignalled);
  return {{"exitCode", nullptr}, {"signal", absl::StrCat("SIG", name == nullptr ? "?" : name)}};
}

// Omits `exitStatus` while the command runs.
Json OutputOf(const CommandProcess& process) {
  CommandOutput output = process.output();
  Json shown = {{"output", std::move(output.text)}, {"truncated", output.truncated}};
  if (Json status = ExitStatus(process); !status.is_null()) {
    shown["exitStatus"] = std::move(status);
  }
  return shown;
}

}  // namespace

Terminals::~Terminals() {
  for (auto& [id, terminal] : terminals_) {
    terminal.process->Forget();
    terminal.process->Kill();
  }
}

bool Terminals::Has(absl::string_view method) {
  return method == kCreate || method == kOutput || method == kWait || method == kKill ||
         method == kRelease;
}

void Terminals::Call(absl::string_view method, const Json& params, Peer::Respond respond) {
  if (method == kCreate) return Create(params, std::move(respond));
  const absl::StatusOr<Terminal*> found = Find(params);
  if (!found.ok()) return respond(ErrorAnswer(found.status()));
  Terminal& terminal = **found;
  if (method == kOutput) return respond(OutputOf(*terminal.process));
  if (method == kWait) {
    if (Json status = ExitStatus(*terminal.process); !status.is_null()) return respond(status);
    terminal.waiting.push_back(std::move(respond));
    return;
  }
  if (method == kKill) {
    terminal.process->Kill();
    return respond(Json::object());
  }
  Release(*TextParam(params, "terminalId"));
  respond(Json::object());
}

absl::StatusOr<Command> Terminals::CommandIn(const Json& params) const {
  ASSIGN_OR_RETURN(std::vector<std::string> words, WordsIn(params));
  ASSIGN_OR_RETURN(Environment environment, EnvironmentIn(params));
  ASSIGN_OR_RETURN(const std::optional<int64_t> limit, NumberParam(params, "outputByteLimit", 0));
  std::string cwd = files_->working_directory();
  if (const auto named = params.find("cwd"); named != params.end() && !named->is_null()) {
    ASSIGN_OR_RETURN(cwd, TextParam(params, "cwd"));
  }
  return Command{.words = std::move(words),
                 .environment = std::move(environment),
                 .directory = std::move(cwd),
                 .output_limit = static_cast<size_t>(limit.value_or(CommandProcess::kMaxOutput)),
                 // A server started in the background stays available to later commands.
                 .lingers = true};
}

void Terminals::Create(const Json& params, Peer::Respond respond) {
  if (terminals_.size() + starting_ >= kMaxTerminals) {
    return respond(ErrorAnswer(absl::ResourceExhaustedError(
        absl::StrCat("a session has ", kMaxTerminals, " terminals at most: release one"))));
  }
  absl::StatusOr<Command> command = CommandIn(params);
  if (!command.ok()) return respond(ErrorAnswer(command.status()));
  ++starting_;
  const std::string cwd = command->directory;
  size_t bytes = 0;
  for (const std::string& word : command->words) bytes += word.size();
  for (const auto& [name, value] : command->environment) bytes += name.size() + value.size();
  using Opened = absl::StatusOr<std::shared_ptr<const File>>;
  const auto folder = std::make_shared<Opened>(absl::UnknownError(""));
  disk_->Do(
      bytes,
      [files = files_, cwd, folder](const std::atomic<bool>&) { *folder = files->OpenFolder(cwd); },
      [this, folder, command = *std::move(command),
       respond = std::move(respond)](const absl::Status& looked_up) {
        --starting_;
        const absl::Status found = looked_up.ok() ? folder->status() : looked_up;
        const absl::StatusOr<std::string> id = found.ok() ? Start(command, **folder) : found;
        respond(id.ok() ? RpcAnswer(Json{{"terminalId", *id}}) : ErrorAnswer(id.status()));
      });
}

absl::StatusOr<std::string> Terminals::Start(Command command, std::shared_ptr<const File> folder) {
  command.folder = std::move(folder);
  const std::string id = absl::StrCat("terminal-", last_id_ + 1);
  ASSIGN_OR_RETURN(std::shared_ptr<CommandProcess> process,
                   CommandProcess::Start(host_, command, [this, id] { OnEnd(id); }));
  ++last_id_;
  terminals_[id].process = std::move(process);
  return id;
}

absl::StatusOr<Terminals::Terminal*> Terminals::Find(const Json& params) {
  ASSIGN_OR_RETURN(const std::string id, TextParam(params, "terminalId"));
  const auto found = terminals_.find(id);
  if (found == terminals_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no terminal \"", id, "\""));
  }
  return &found->second;
}

void Terminals::Release(const std::string& id) {
  const auto found = terminals_.find(id);
  const Terminal terminal = std::move(found->second);
  terminals_.erase(found);
  terminal.process->Forget();
  terminal.process->Kill();
  for (const Peer::Respond& respond : terminal.waiting) {
    respond(RpcError{.code = kResourceNotFound, .message = "the terminal was released"});
  }
}

void Terminals::OnEnd(const std::string& id) {
  Terminal& terminal = terminals_.find(id)->second;
  const Json status = ExitStatus(*terminal.process);
  for (const Peer::Respond& respond : std::exchange(terminal.waiting, {})) respond(status);
}

}  // namespace callslip::runner
