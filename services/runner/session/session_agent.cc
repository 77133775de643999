#include "runner/session/session_agent.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "common/log.h"
#include "runner/agent/agent_environment.h"
#include "runner/client/client_params.h"
#include "runner/tracker/call_with_retry.h"

namespace callslip::runner {
namespace {

// The parameters of a file call that are used.
Json FileParams(const Json& params) {
  Json used = Json::object();
  for (const char* name : {"path", "line", "limit", "content"}) {
    if (const auto member = params.find(name); member != params.end()) used[name] = *member;
  }
  return used;
}

size_t TextBytes(const Json& params) {
  size_t bytes = 0;
  for (const Json& member : params) {
    if (member.is_string()) bytes += member.get_ref<const std::string&>().size();
  }
  return bytes;
}

NewEvent FileEventOf(const std::string& method, const FileAccess::Done& done) {
  NewEvent event(method == "fs/read_text_file" ? "file_read" : "file_write");
  event.Set("path", done.path).Set("size", done.bytes);
  return event;
}

}  // namespace

SessionAgent::SessionAgent(SessionHost* host, Owner* owner, SessionName session, SessionPlan plan,
                           std::shared_ptr<Recorder> recorder, Before before)
    : host_(host),
      owner_(owner),
      name_(std::move(session)),
      plan_(std::move(plan)),
      recorder_(std::move(recorder)),
      before_(std::move(before)),
      commands_(plan_.commands),
      disk_(std::make_unique<DiskThread>(
          host->executor, host->timers,
          DiskUser{plan_.want.workspace, absl::StrCat(name_.client_id, "/", name_.session_id)})),
      entered_(host->executor),
      end_(host->executor) {}

void SessionAgent::Begin(Process process) {
  if (const auto* running = std::get_if<std::shared_ptr<RunningAgent>>(&process)) {
    Enter(*running);
  }
  SpawnFor(shared_from_this(), host_->executor, Run(std::move(process)));
}

void SessionAgent::Enter(std::shared_ptr<RunningAgent> process) {
  process_ = std::move(process);
  process_->Enter(
      id(), [entered = entered_](const std::optional<AgentError>& error) { entered.Set(error); });
}

boost::asio::awaitable<void> SessionAgent::Run(Process process) {
  std::optional<AgentError> why = co_await Open(std::move(process));
  deadline_.reset();
  if (!why.has_value() && !is_stopping_) {
    is_ready_ = true;
    owner_->OnReady();
    why = co_await end_.Get();
  } else {
    has_failed_ = !is_stopping_;
  }
  if (is_stopping_) why.reset();
  co_await LeaveProcess();
  // Answers the waiting calls, including those of terminals.
  disk_.reset();
  terminals_.reset();
  owner_->OnOver(why.value_or(AgentError{}));
}

SessionAgent::Result SessionAgent::Open(Process process) {
  if (is_stopping_) co_return std::nullopt;
  if (auto error = co_await OpenWorkplace(); error.has_value()) co_return error;
  if (is_stopping_) co_return std::nullopt;
  if (const auto* start = std::get_if<StartProcess>(&process)) {
    AgentSettings settings = plan_.settings;
    settings.command.arguments = Wrapped(commands_.wrapper, settings.command.arguments);
    settings.command.environment = FormatEnvironment(commands_.environment);
    settings.command.folder = files_->working_folder();
    settings.command.directory = files_->working_directory();  // For errors.
    Enter((*start)(std::move(settings)));
  }
  std::optional<AgentError> error = co_await entered_.Get();
  if (!error.has_value() && !is_stopping_) error = co_await OpenSession();
  if (!error.has_value() && !is_stopping_) error = co_await RestoreChoices();
  co_return error;
}

// Runs before there is an agent that could replace the folders.
SessionAgent::Result SessionAgent::OpenWorkplace() {
  struct Found {
    Workplace place;
    absl::StatusOr<FileAccess> files = absl::UnknownError("not opened");
  };
  const auto found = std::make_shared<Found>();
  const Promise<absl::Status> looked(host_->executor);
  disk_->Do(
      0,
      [found, find = plan_.find_workplace](const std::atomic<bool>&) {
        found->place = find();
        if (!found->place.problem.has_value()) found->files = FileAccess::Of(found->place.folders);
      },
      [looked](const absl::Status& status) { looked.Set(status); });
  if (const absl::Status status = co_await looked.Get(); !status.ok()) {
    const bool hangs = status.code() == absl::StatusCode::kDeadlineExceeded;
    co_return AgentError{
        hangs ? "directory_unusable" : "start_timeout",
        absl::StrCat("the session's directory can't be opened: ", status.message())};
  }
  Workplace& place = found->place;
  if (place.problem.has_value()) co_return place.problem;
  if (!found->files.ok()) {
    co_return AgentError{
        "directory_unusable",
        absl::StrCat("the session can't work in its directory: ", found->files.status().message())};
  }
  commands_.wrapper = std::move(place.wrapper);
  if (!place.path.empty()) commands_.environment["PATH"] = std::move(place.path);
  for (const std::string& name : place.kept_back) commands_.environment.erase(name);
  files_ = std::make_shared<const FileAccess>(*std::move(found->files));
  for (const auto& left_out : {place.left_out, files_->left_out()}) {
    for (const std::string& why : left_out) {
      Log(LogLevel::kWarning, "an additional directory is omitted",
          {{"session", id()}, {"workspace", plan_.want.workspace}, {"error", why}});
    }
  }
  terminals_ = std::make_unique<Terminals>(commands_, files_, disk_.get());
  co_return std::nullopt;
}

SessionAgent::Result SessionAgent::OpenSession() {
  const absl::Duration patience = plan_.settings.patience.start;
  const absl::Time latest = host_->timers->Now() + patience;
  const absl::StatusOr<acp::SessionSetup> setup = co_await Setup(latest);
  if (process_->is_over()) co_return process_->end();
  if (is_stopping_) co_return std::nullopt;
  if (!setup.ok()) {
    // Not the fault of the process, which may have other sessions.
    co_return AgentError{"start_timeout", absl::StrCat("the session got no token within ",
                                                       absl::FormatDuration(patience), ": ",
                                                       setup.status().message())};
  }
  StartWithin(patience);
  Agent& agent = process_->agent();
  std::optional<Promise<Opened>> opened(host_->executor);
  const bool restores = !before_.agent_session_id.empty();
  if (restores) {
    agent.RestoreSession(before_.agent_session_id, *setup, this, TakeOpened(*opened));
  } else {
    agent.NewSession(*setup, this, TakeOpened(*opened));
  }
  Opened result = co_await opened->Get();
  const auto* error = std::get_if<AgentError>(&result);
  if (error != nullptr && error->reason == "cannot_restore" && plan_.allow_fresh &&
      !process_->is_over() && !is_stopping_) {
    context_lost_ = *error;
    opened.emplace(host_->executor);
    agent.NewSession(*setup, this, TakeOpened(*opened));
    result = co_await opened->Get();
    error = std::get_if<AgentError>(&result);
  }
  if (error != nullptr) co_return *error;
  session_ = std::get<std::shared_ptr<AgentSession>>(result);
  has_context_ = restores && !context_lost_.has_value();
  co_return std::nullopt;
}

// Sets the details at once, because updates can arrive before the waiting coroutine resumes.
Agent::Opened SessionAgent::TakeOpened(const Promise<Opened>& later) {
  return [self = shared_from_this(), later](Opened result) {
    if (const auto* session = std::get_if<std::shared_ptr<AgentSession>>(&result)) {
      self->details_.SetAgentInfo(self->capabilities().agent_info);
      self->details_.SetModes((*session)->modes());
      self->details_.SetConfigOptions((*session)->config_options());
    }
    later.Set(std::move(result));
  };
}

SessionAgent::Result SessionAgent::RestoreChoices() {
  StartWithin(plan_.settings.patience.initialize);
  if (const std::string mode = details_.ModeToRestore(before_.details); !mode.empty()) {
    const bool is_set =
        co_await Choose([&](AgentSession::Done done) { session_->SetMode(mode, std::move(done)); });
    if (is_set) details_.Take(CurrentMode{mode});
  }
  for (const auto& [option, value] : details_.OptionsToRestore(before_.details)) {
    if (process_->is_over() || is_stopping_) break;
    co_await Choose([&, &id = option, &to = value](AgentSession::Done done) {
      session_->SetConfigOption(id, to, std::move(done));
    });
  }
  co_return process_->end();
}

// Returns whether the agent accepted the choice.
boost::asio::awaitable<bool> SessionAgent::Choose(std::function<void(AgentSession::Done)> set) {
  choice_.emplace(host_->executor);
  set([choice = *choice_](const RpcAnswer& answer) {
    choice.Set(std::holds_alternative<Json>(answer));
  });
  co_return co_await choice_->Get();
}

boost::asio::awaitable<absl::StatusOr<acp::SessionSetup>> SessionAgent::Setup(absl::Time latest) {
  acp::SessionSetup setup = plan_.setup;
  if (plan_.mcp_url.empty()) co_return setup;
  if (!capabilities().http_mcp) {
    const char* const why =
        "the agent does not support MCP servers over HTTP: it does not get Callslip's tools";
    details_.SetNoTools(why);
    Log(LogLevel::kWarning, "an agent has no tools",
        {{"session", id()}, {"agent", plan_.want.agent}, {"error", why}});
    co_return setup;
  }
  const auto gives_up = [this, latest] {
    return is_stopping_ || process_->is_over() || host_->timers->Now() >= latest;
  };
  const auto issued = co_await CallWithRetry(
      *host_->tracker, *host_->timers, RequestAbout<v1::IssueSessionTokenRequest>(name_), gives_up);
  if (!issued.ok() && host_->timers->Now() >= latest) co_return issued.status();
  if (!issued.ok()) co_return setup;
  Json headers = Json::array(
      {{{"name", "Authorization"}, {"value", absl::StrCat("Bearer ", issued->token())}}});
  // Few agents propagate the trace of a prompt: this way their calls at least belong to the
  // session's trace.
  if (!before_.traceparent.empty()) {
    headers.push_back({{"name", "traceparent"}, {"value", before_.traceparent}});
  }
  setup.mcp_servers.push_back({{"type", "http"},
                               {"name", "callslip"},
                               {"url", plan_.mcp_url},
                               {"headers", std::move(headers)}});
  co_return setup;
}

void SessionAgent::StartWithin(absl::Duration wait) {
  deadline_ = host_->timers->After(wait, [this, wait] {
    // The agent's answer may be there, but unread.
    if (process_->agent().is_held()) return StartWithin(wait);
    process_->agent().GiveUp({"start_timeout", absl::StrCat("the agent was not ready within ",
                                                            absl::FormatDuration(wait))},
                             this);
  });
}

void SessionAgent::Stop() {
  if (std::exchange(is_stopping_, true)) return;
  if (files_ == nullptr) disk_.reset();  // Cancels the opening of the folders.
  if (process_ == nullptr) return;
  const bool is_alone = process_->IsAlone(id());
  process_->Leave(id());
  if (is_alone) return deadline_.reset();
  // The process continues with its other sessions for now. A session that is still being opened
  // keeps its deadline.
  if (session_ == nullptr) return;
  deadline_.reset();
  if (choice_.has_value()) choice_->Set(false);
  end_.Set({});
}

boost::asio::awaitable<void> SessionAgent::LeaveProcess() {
  if (process_ == nullptr) co_return;
  process_->Leave(id());
  if (process_->is_over()) co_return;
  if (process_->has_sessions()) {
    if (session_ != nullptr) session_->Close();
    co_return;
  }
  const Promise<bool> over(host_->executor);
  process_->WhenOver([over] { over.Set(true); });
  co_await over.Get();
}

void SessionAgent::OnUpdate(AgentUpdate update) {
  if (!is_ready_ && details_.Take(update)) return;
  owner_->OnUpdate(std::move(update));
  if (!recorder_->has_room()) Hold();
}

void SessionAgent::Hold() {
  if (session_ == nullptr || std::exchange(is_held_, true)) return;
  session_->Hold();
  boost::asio::co_spawn(
      host_->executor,
      [](std::shared_ptr<SessionAgent> self) -> boost::asio::awaitable<void> {
        co_await self->recorder_->WaitForRoom();
        self->is_held_ = false;
        self->session_->GoOn();
      }(shared_from_this()),
      [](const std::exception_ptr&) {});
}

void SessionAgent::OnPermission(PermissionQuestion question,
                                std::function<void(PermissionChoice)> answer) {
  owner_->OnPermission(std::move(question), std::move(answer));
}

void SessionAgent::OnClientCall(const std::string& method, const Json& params,
                                Peer::Respond respond) {
  if (terminals_ == nullptr) {
    return respond(RpcError{kInternalError, "the session is over", nullptr});
  }
  if (Terminals::Has(method) && plan_.settings.offer.terminals) {
    return terminals_->Call(method, params, std::move(respond));
  }
  const bool reads = method == "fs/read_text_file";
  if ((!reads && method != "fs/write_text_file") || !plan_.settings.offer.files) {
    return respond(RpcError{kMethodNotFound, absl::StrCat("there is no method ", method), nullptr});
  }
  const auto done = std::make_shared<FileAccess::Done>();
  Json used = FileParams(params);
  const size_t bytes = TextBytes(used);
  disk_->Do(
      bytes,
      [files = files_, used = std::move(used), reads, done](const std::atomic<bool>& is_wanted) {
        *done = reads ? files->ReadTextFile(used) : files->WriteTextFile(used, is_wanted);
      },
      [this, method, done, respond = std::move(respond)](const absl::Status& status) {
        if (!status.ok()) return respond(ErrorAnswer(status));
        if (!done->path.empty()) recorder_->Add(FileEventOf(method, *done));
        respond(std::move(done->answer));
      });
}

}  // namespace callslip::runner
