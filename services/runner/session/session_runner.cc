#include "runner/session/session_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "common/log.h"
#include "runner/session/session_calls.h"

namespace callslip::runner {
namespace {

// Well below the 8 s that the tracker waits for the answer to a control.
constexpr absl::Duration kControlTime = absl::Seconds(5);

AgentEnd KindOf(const AgentError& error) {
  if (error.reason == "command_missing") return AgentEnd::kCommandMissing;
  if (error.reason == "not_executable") return AgentEnd::kNotExecutable;
  if (error.reason == "auth_required") return AgentEnd::kLoginNeeded;
  if (error.reason == "unsupported_version") return AgentEnd::kOtherVersion;
  if (error.reason == "protocol_error") return AgentEnd::kProtocolError;
  return error.reason == "agent_crashed" ? AgentEnd::kCrashed : AgentEnd::kHung;
}

v1::SessionEvent ContextLost(const AgentError& why) {
  v1::SessionEvent event;
  event.mutable_other()->set_type("context_lost");
  event.mutable_other()->set_data(Dump({{"reason", why.reason}, {"message", why.message}}));
  return event;
}

// What a plan is made of.
v1::Session SessionOf(const v1::Assignment& assignment) {
  v1::Session session;
  session.set_session_id(assignment.session().session_id());
  session.set_acp_server(assignment.session().acp_server());
  session.set_working_dir(assignment.session().working_dir());
  session.set_parent_session_id(assignment.session().parent_session_id());
  return session;
}

}  // namespace

SessionRunner::SessionRunner(SessionHost* host, AgentScheduler* scheduler, SessionPlan plan,
                             const v1::Assignment& assignment)
    : host_(host),
      scheduler_(scheduler),
      plan_(std::move(plan)),
      session_(SessionOf(assignment)),
      name_{assignment.session().client_id(), assignment.session().session_id(),
            assignment.lease()},
      recorder_(std::make_shared<Recorder>(host->executor, host->tracker, host->timers, name_,
                                           assignment.session().max_seq())),
      questions_(std::make_shared<SessionQuestions>(host->executor, host->tracker, host->timers,
                                                    name_, recorder_)),
      agent_session_id_(assignment.session().agent().agent_session_id()),
      details_(AgentDetails::Parse(assignment.session().agent().details())),
      spans_(plan_.want.agent, assignment.session().session_id(),
             absl::FromUnixSeconds(assignment.session().create_time().seconds())),
      said_(For<v1::SetAgentStateRequest>()) {}

// The agent's life.

void SessionRunner::Need() {
  is_to_stop_ = false;
  switch (state_) {
    case State::kAsleep:
      return Want();
    case State::kStopping:
      // What its failed start comes to is decided already.
      if (!failing_start_) wanted_again_ = true;
      return;
    case State::kWanted:
    case State::kStarting:
    case State::kRunning:
      return;
  }
}

void SessionRunner::Want() {
  if (host_->is_stopping) return;
  const absl::Duration left = start_at_ - host_->timers->Now();
  if (left > absl::ZeroDuration()) {
    if (start_timer_ != nullptr) return;
    start_timer_ = host_->timers->After(left, [this] {
      const auto self = shared_from_this();
      start_timer_.reset();
      if (!released_ && state_ == State::kAsleep) Want();
    });
    return;
  }
  start_timer_.reset();
  state_ = State::kWanted;
  // Somebody has looked.
  if (std::exchange(gave_up_, std::nullopt).has_value()) restarts_.Clear();
  scheduler_->Want(plan_.want);
}

void SessionRunner::TellWaiting() {
  if (state_ != State::kWanted || said_.status() == v1::AGENT_STATUS_WAITING) return;
  Say(v1::AGENT_STATUS_WAITING,
      {"too_many_agents", "as many agents run as may; it starts when another one has stopped"});
  AnswerControls({});
}

std::optional<AgentSettings> SessionRunner::Prepare(const MakePlan& plan_of) {
  // What was wrong may have been put right.
  if (plan_.problem.has_value()) plan_ = plan_of(session_).value_or(plan_);
  std::optional<AgentError> error = plan_.problem;
  absl::StatusOr<FileAccess> files = FileAccess::Of(plan_.folders);
  if (!error.has_value() && !files.ok()) {
    error = AgentError{
        "directory_unusable",
        absl::StrCat("the session can't work in its directory: ", files.status().message())};
  }
  if (error.has_value()) {
    LogNoStart(*error);
    gave_up_ = error;
    Failed(*error, std::nullopt);
    return std::nullopt;
  }
  files_ = std::make_shared<const FileAccess>(*std::move(files));
  for (const std::string& why : files_->left_out()) {
    Log(LogLevel::kWarning, "an additional directory is left out",
        {{"session", id()}, {"workspace", plan_.want.workspace}, {"error", why}});
  }
  disk_ = std::make_unique<DiskThread>(host_->executor, host_->timers);
  terminals_ = std::make_unique<Terminals>(plan_.commands, files_, disk_.get());
  AgentSettings settings = plan_.settings;
  settings.command.directory = files_->PathForProcesses();
  return settings;
}

void SessionRunner::LogNoStart(const AgentError& error) const {
  Log(LogLevel::kWarning, "an agent could not be started",
      {{"session", id()},
       {"agent", plan_.want.agent},
       {"reason", error.reason},
       {"message", error.message}});
}

void SessionRunner::Begin(std::shared_ptr<RunningAgent> agent) {
  state_ = State::kStarting;
  ++life_;
  running_ = agent;
  // Why the one before it has ended, until this one is ready.
  Say(v1::AGENT_STATUS_STARTING, last_end_);
  Spawn(Open(std::move(agent)));
}

boost::asio::awaitable<void> SessionRunner::Open(std::shared_ptr<RunningAgent> agent) {
  const auto self = shared_from_this();
  const int64_t life = life_;
  const auto goes_on = [&] { return life == life_ && state_ == State::kStarting; };
  const Later<std::optional<AgentError>> ready(host_->executor);
  agent->Enter(id(), [ready](const std::optional<AgentError>& error) { ready.Set(error); });
  std::optional<AgentError> error = co_await ready.Get();
  if (goes_on() && !error.has_value()) error = co_await OpenSession(agent, life);
  if (goes_on() && !error.has_value()) error = co_await RestoreChoices(life);
  if (life != life_) co_return;
  if (state_ == State::kStopping) {
    // One that was opened is told of its end, unless the process goes on with others.
    if (agent_ == nullptr && !agent->is_over() && !agent->has_sessions()) {
      agent->WhenOver([this, self] { OnEnd({}); });
    } else if (agent_ == nullptr) {
      OnEnd(error.value_or(AgentError{}));
    } else if (agent->has_sessions()) {
      agent_->Close();
      OnEnd({});
    }
    co_return;
  }
  start_deadline_.reset();
  if (error.has_value()) co_return Fail(*error);
  state_ = State::kRunning;
  Changed();
  last_end_ = {};
  Say(v1::AGENT_STATUS_IDLE);
  AnswerControls({});
  BeginReceiving();
  scheduler_->Started(id());
  NoteIdleLater();
}

void SessionRunner::StartWithin(absl::Duration wait) {
  start_deadline_ = host_->timers->After(wait, [this, wait] {
    // Its answer may be there, unread.
    if (running_->agent().is_held()) return StartWithin(wait);
    running_->agent().GiveUp({"start_timeout", absl::StrCat("the agent was not ready within ",
                                                            absl::FormatDuration(wait))},
                             this);
  });
}

boost::asio::awaitable<std::optional<AgentError>> SessionRunner::OpenSession(
    std::shared_ptr<RunningAgent> running, int64_t life) {
  using Opened = std::variant<std::shared_ptr<AgentSession>, AgentError>;
  const acp::SessionSetup setup = co_await Setup(running);
  if (running->is_over()) co_return running->end();
  if (life != life_ || state_ != State::kStarting) co_return std::nullopt;
  StartWithin(plan_.settings.patience.start);
  bool is_new = agent_session_id_.empty() || fresh_;
  const bool had_one = !agent_session_id_.empty();
  std::optional<Later<Opened>> opened(host_->executor);
  const auto take = [](const Later<Opened>& later) {
    return [later](Opened result) { later.Set(std::move(result)); };
  };
  if (is_new) {
    running->agent().NewSession(setup, this, take(*opened));
  } else {
    running->agent().RestoreSession(agent_session_id_, setup, this, take(*opened));
  }
  Opened result = co_await opened->Get();
  if (life != life_) co_return std::nullopt;
  const auto* error = std::get_if<AgentError>(&result);
  AgentError why = {"fresh", "a new context was asked for"};
  if (error != nullptr && error->reason == "cannot_restore") {
    why = *error;
    if (!plan_.allow_fresh || running->is_over() || state_ != State::kStarting) {
      // However often it is tried.
      if (!std::exchange(told_lost_, true)) RecordContextLost(why);
      co_return why;
    }
    is_new = true;
    opened.emplace(host_->executor);
    running->agent().NewSession(setup, this, take(*opened));
    result = co_await opened->Get();
    if (life != life_) co_return std::nullopt;
    error = std::get_if<AgentError>(&result);
  }
  if (error != nullptr) co_return *error;
  if (is_new && had_one && !told_lost_) RecordContextLost(why);
  told_lost_ = false;
  if (is_new) fresh_ = false;
  agent_ = std::get<std::shared_ptr<AgentSession>>(result);
  prompted_ = agent_->id() == agent_session_id_;
  if (!prompted_) agent_session_id_.clear();
  co_return std::nullopt;
}

boost::asio::awaitable<std::optional<AgentError>> SessionRunner::RestoreChoices(int64_t life) {
  StartWithin(plan_.settings.patience.initialize);
  const std::shared_ptr<AgentSession> agent = agent_;
  const std::shared_ptr<RunningAgent> running = running_;
  const AgentDetails before = std::exchange(details_, {});
  to_restore_ = before;
  details_.SetAgentInfo(running->agent().capabilities().agent_info);
  details_.SetModes(agent->modes());
  details_.SetConfigOptions(agent->config_options());
  const auto goes_on = [&] {
    return life == life_ && state_ == State::kStarting && !running->is_over();
  };
  const auto await = [&](auto set) -> boost::asio::awaitable<bool> {
    const Later<bool> done(host_->executor);
    set([done](const RpcAnswer& answer) { done.Set(std::holds_alternative<Json>(answer)); });
    co_return co_await done.Get();
  };
  if (const std::string mode = details_.ModeToRestore(before); !mode.empty()) {
    const bool is_set = co_await await([&](auto done) { agent->SetMode(mode, std::move(done)); });
    if (!goes_on()) co_return running->end();
    if (is_set) details_.Take(CurrentMode{mode});
  }
  for (const auto& [option, value] : details_.OptionsToRestore(before)) {
    co_await await([&, &id = option, &to = value](auto done) {
      agent->SetConfigOption(id, to, std::move(done));
    });
    if (!goes_on()) co_return running->end();
  }
  if (!goes_on()) co_return running->end();
  to_restore_.reset();
  co_return std::nullopt;
}

boost::asio::awaitable<acp::SessionSetup> SessionRunner::Setup(
    std::shared_ptr<RunningAgent> running) {
  acp::SessionSetup setup = plan_.setup;
  if (plan_.mcp_url.empty()) co_return setup;
  auto request = For<v1::IssueSessionTokenRequest>();
  const auto issued = co_await Persistently(std::move(request));
  if (!issued.ok()) co_return setup;
  if (!running->agent().capabilities().http_mcp) co_return setup;
  Json headers = Json::array(
      {{{"name", "Authorization"}, {"value", absl::StrCat("Bearer ", issued->token())}}});
  // Few agents hand on the trace of a prompt: what they call is a part of the session's at least.
  if (const std::string trace = spans_.Traceparent(); !trace.empty()) {
    headers.push_back({{"name", "traceparent"}, {"value", trace}});
  }
  setup.mcp_servers.push_back({{"type", "http"},
                               {"name", "callslip"},
                               {"url", plan_.mcp_url},
                               {"headers", std::move(headers)}});
  co_return setup;
}

void SessionRunner::Fail(const AgentError& error) {
  const std::shared_ptr<RunningAgent> running = running_;
  LogNoStart(error);
  const std::optional<absl::Time> next =
      error.reason == "cannot_restore"
          ? std::nullopt
          : restarts_.After(KindOf(error), host_->timers->Now(), host_->chance());
  start_at_ = next.value_or(absl::InfinitePast());
  if (!next.has_value()) gave_up_ = error;
  if (!running->IsAlone(id()) || running->is_over()) {
    running->Leave(id());
    return Failed(error, next);
  }
  // Its place is another one's once the process is gone.
  state_ = State::kStopping;
  failing_start_ = true;
  running->WhenOver([this, self = shared_from_this(), error, next] {
    failing_start_ = false;
    Failed(error, next);
  });
  running->Leave(id());
}

void SessionRunner::Failed(const AgentError& error, std::optional<absl::Time> next) {
  last_end_ = error;
  // Somebody has wanted otherwise while the process ended.
  const bool is_wanted = wanted_again_;
  EndAgent();
  if (is_wanted || released_) return;
  AnswerControls(is_to_stop_ ? AgentError{} : error);
  if (is_to_stop_) return Say(v1::AGENT_STATUS_STOPPED);
  if (next.has_value()) {
    Say(v1::AGENT_STATUS_STARTING, error);
    return Need();
  }
  Say(v1::AGENT_STATUS_FAILED, error);
  // Nobody is to be asked for it again and again: the queue waits for a person.
  if (!turn_.has_value()) Spawn(PauseQueue(error));
}

boost::asio::awaitable<void> SessionRunner::PauseQueue(AgentError error) {
  const auto self = shared_from_this();
  auto request = For<v1::PauseQueueRequest>();
  request.set_reason(error.reason);
  request.set_message(error.message);
  co_await Persistently(std::move(request));
}

void SessionRunner::RecordContextLost(const AgentError& why) { recorder_->Add(ContextLost(why)); }

void SessionRunner::EndAgent() {
  ++life_;
  state_ = State::kAsleep;
  start_deadline_.reset();
  // The next one is to take them back.
  if (to_restore_.has_value()) details_ = *std::exchange(to_restore_, std::nullopt);
  questions_->WithdrawAll();
  agent_.reset();
  running_.reset();
  EndReceivingBetweenTurns();
  idle_timer_.reset();
  // What waits for it is answered, by terminals, too.
  disk_.reset();
  terminals_.reset();
  files_.reset();
  scheduler_->Ended(id());
  if (std::exchange(wanted_again_, false) && !released_) Want();
  Changed();
}

void SessionRunner::Stop() {
  if (host_->is_stopping) StopCommands("the runner was stopped");
  Changed();
  switch (state_) {
    case State::kAsleep:
      // It was to be started again later.
      if (std::exchange(start_timer_, nullptr) != nullptr) Say(v1::AGENT_STATUS_STOPPED);
      return;
    case State::kStopping:
      return;
    case State::kWanted:
      state_ = State::kAsleep;
      scheduler_->Drop(id());
      Say(v1::AGENT_STATUS_STOPPED);
      return;
    case State::kStarting:
    case State::kRunning:
      state_ = State::kStopping;
      // What hangs in a process that goes on with others has its deadline still.
      if (agent_ != nullptr || running_->IsAlone(id())) start_deadline_.reset();
      EndReceivingBetweenTurns();
      Say(v1::AGENT_STATUS_STOPPING);
      if (agent_ != nullptr && !running_->IsAlone(id())) {
        // The process goes on with others: nobody tells of an end.
        agent_->Close();
        running_->Leave(id());
        return OnEnd({});
      }
      running_->Leave(id());
      return;
  }
}

void SessionRunner::Release() {
  released_ = true;
  Changed();
  wanted_again_ = false;
  start_timer_.reset();
  questions_->Release();
  EndReceiving();
  StopCommands("the session is another runner's");
  Stop();
}

void SessionRunner::OnEnd(const AgentError& error) {
  const auto self = shared_from_this();
  const bool was_asked = state_ == State::kStopping;
  if (state_ != State::kStopping && state_ != State::kRunning) return;  // Open() tells of it.
  if (!was_asked) {
    const std::optional<absl::Time> next =
        restarts_.After(KindOf(error), host_->timers->Now(), host_->chance());
    start_at_ = next.value_or(absl::InfinitePast());
    Log(LogLevel::kWarning, "an agent has ended",
        {{"session", id()},
         {"traceparent", spans_.UnderWay()},
         {"agent", plan_.want.agent},
         {"reason", error.reason},
         {"message", error.message}});
    last_end_ = error;
    Say(next.has_value() ? v1::AGENT_STATUS_STOPPED : v1::AGENT_STATUS_FAILED, error);
    AnswerControls(error);
    if (!next.has_value()) gave_up_ = error;
    if (!next.has_value() && !turn_.has_value()) Spawn(PauseQueue(error));
  } else {
    Say(v1::AGENT_STATUS_STOPPED);
    if (!wanted_again_) AnswerControls({});
  }
  EndAgent();
}

void SessionRunner::Control(const v1::AgentControl& control) {
  TakeControl(control.control_id(), control);
}

void SessionRunner::TakeControl(const std::string& control_id, const v1::AgentControl& control) {
  const auto answer = [this, self = shared_from_this(), control_id](const RpcAnswer& set) {
    const auto* error = std::get_if<RpcError>(&set);
    Spawn(AnswerControl(
        control_id, error == nullptr ? AgentError{} : AgentError{"agent_error", error->message}));
  };
  if (control.has_mode_id() || control.has_config_option()) {
    if (state_ != State::kRunning) {
      return Spawn(AnswerControl(control_id,
                                 {"agent_not_running", "the agent does not run: start it first"}));
    }
    if (control.has_config_option()) {
      return agent_->SetConfigOption(control.config_option().id(), control.config_option().value(),
                                     answer);
    }
    return agent_->SetMode(control.mode_id(),
                           [this, answer, mode = control.mode_id()](const RpcAnswer& set) {
                             if (std::holds_alternative<Json>(set)) OnUpdate(CurrentMode{mode});
                             answer(set);
                           });
  }
  switch (control.action()) {
    case v1::AGENT_ACTION_STOP:
      is_to_stop_ = true;
      wanted_again_ = false;
      StopCommands("the agent was stopped");
      Stop();
      break;
    case v1::AGENT_ACTION_FRESH:
      fresh_ = true;
      [[fallthrough]];
    case v1::AGENT_ACTION_RESTART:
      Stop();
      [[fallthrough]];
    default:
      restarts_.Clear();
      start_at_ = absl::InfinitePast();
      start_timer_.reset();
      Need();
      wanted_again_ = wanted_again_ || state_ == State::kStopping;
  }
  const bool is_settled = state_ == State::kAsleep || state_ == State::kRunning;
  if (is_settled) return Spawn(AnswerControl(control_id, {}));
  controls_.push_back(control_id);
  if (control_timer_ != nullptr) return;
  // It may take as long as it takes; how it stands is told with the answer.
  control_timer_ = host_->timers->After(kControlTime, [this] { AnswerControls({}); });
}

void SessionRunner::AnswerControls(const AgentError& error) {
  control_timer_.reset();
  for (std::string& control : std::exchange(controls_, {})) {
    Spawn(AnswerControl(std::move(control), error));
  }
}

boost::asio::awaitable<void> SessionRunner::AnswerControl(std::string control_id,
                                                          AgentError error) {
  const auto self = shared_from_this();
  auto request = For<v1::AnswerControlRequest>();
  request.set_control_id(std::move(control_id));
  request.set_error_reason(error.reason);
  request.set_error_message(error.message);
  co_await Persistently(std::move(request));
}

void SessionRunner::Say(v1::AgentStatus status, const AgentError& why) {
  said_.set_status(status);
  said_.set_reason(why.reason);
  said_.set_message(why.message);
  if (std::exchange(publishing_, true)) {
    publish_again_ = true;
    return;
  }
  Spawn(Publish());
}

void SessionRunner::TellAgain() {
  if (released_ || said_.status() == v1::AGENT_STATUS_UNSPECIFIED) return;
  Say(said_.status(), {said_.reason(), said_.message()});
}

boost::asio::awaitable<void> SessionRunner::Publish() {
  const auto self = shared_from_this();
  do {
    publish_again_ = false;
    said_.set_agent_session_id(agent_session_id_);
    said_.set_details(to_restore_.value_or(details_).ToText());
    said_.set_title(std::exchange(title_, ""));
    v1::SetAgentStateRequest request = said_;
    const auto said = co_await Persistently(std::move(request));
    if (!said.ok()) {
      Log(LogLevel::kDebug, "the tracker did not take how an agent is",
          {{"session", id()}, {"error", std::string(said.status().message())}});
    }
  } while (publish_again_ && !released_);
  publishing_ = false;
  // It may be forgotten now, and another lease may wait for that.
  if (state_ == State::kAsleep) NoteBusy();
}

}  // namespace callslip::runner
