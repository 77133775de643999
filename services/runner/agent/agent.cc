#include "runner/agent/agent.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text_scan.h"

namespace callslip::runner {
namespace {

constexpr size_t kToldBytes = 4 << 10;

AgentError EndOf(const AgentSettings& settings, const AgentExit& exit) {
  const auto command = [&] { return settings.command.arguments.front(); };
  std::string words = WithoutBadUtf8(
      absl::string_view(exit.last_words)
          .substr(exit.last_words.size() - std::min(exit.last_words.size(), kToldBytes)));
  absl::StripAsciiWhitespace(&words);
  if (!words.empty()) words = absl::StrCat("; it said: ", words);
  switch (exit.kind) {
    case AgentExit::Kind::kNotStarted:
      if (exit.code == ENOENT) {
        return {"command_missing", absl::StrCat("there is no command ", command(), ": install it, ",
                                                "or correct `command` of agent ", settings.name)};
      }
      return {"not_executable", absl::StrCat(command(), ": ", std::strerror(exit.code))};
    case AgentExit::Kind::kNoDirectory:
      return {"directory_unusable", absl::StrCat("cannot work in ", settings.command.directory,
                                                 ": ", std::strerror(exit.code))};
    case AgentExit::Kind::kExited:
      return {"agent_crashed", absl::StrCat("the agent has ended with code ", exit.code, words)};
    case AgentExit::Kind::kSignalled:
      return {"agent_crashed", absl::StrCat("the agent was ended by signal ", exit.code, words)};
    case AgentExit::Kind::kLost:
      return {"agent_crashed", absl::StrCat("the agent was killed with its keeper", words)};
  }
  return {"agent_crashed", "the agent has ended"};
}

// Whether `text` contains `number` as a separate number.
bool HasNumber(absl::string_view text, absl::string_view number) {
  const auto is_digit = [&](size_t at) {
    return at < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[at]));
  };
  for (size_t at = text.find(number); at != text.npos; at = text.find(number, at + 1)) {
    if (!is_digit(at - 1) && !is_digit(at + number.size())) return true;
  }
  return false;
}

bool IsRateLimit(const RpcError& error) {
  std::string text = error.message;
  if (!error.data.is_null()) {
    absl::StrAppend(&text, " ", Dump(error.data));
  }
  absl::AsciiStrToLower(&text);
  return error.code == 429 || HasNumber(text, "429") || absl::StrContains(text, "rate limit") ||
         absl::StrContains(text, "rate_limit") || absl::StrContains(text, "quota");
}

}  // namespace

Agent::Agent(Timers* timers, AgentSettings settings, Listener* listener)
    : timers_(timers),
      settings_(std::move(settings)),
      listener_(listener),
      peer_(this, [this](std::string line) { Write(std::move(line)); }) {}

Agent::~Agent() = default;

std::shared_ptr<Agent> Agent::Start(boost::asio::io_context& context, Timers* timers,
                                    const std::string& keeper, AgentSettings settings,
                                    Listener* listener) {
  std::shared_ptr<Agent> agent(new Agent(timers, std::move(settings), listener));
  auto process = AgentProcess::Start(context, keeper, agent->settings_.command, agent.get(),
                                     agent->settings_.stop);
  if (!process.ok()) {
    agent->start_timer_ = timers->After(absl::ZeroDuration(), [agent, status = process.status()] {
      agent->over_ = true;
      agent->listener_->OnEnd({"not_executable", std::string(status.message())});
    });
    return agent;
  }
  agent->process_ = *std::move(process);
  agent->Begin();
  return agent;
}

void Agent::Begin() {
  heard_time_ = timers_->Now();
  start_timer_ = timers_->After(settings_.patience.initialize, [this] {
    KillFor({"start_timeout", absl::StrCat("the agent did not answer `initialize` within ",
                                           absl::FormatDuration(settings_.patience.initialize))});
  });
  Request("initialize", acp::InitializeParams(settings_.offer),
          [this](RpcAnswer answer) { TakeInitialized(std::move(answer)); });
}

void Agent::Write(std::string line) {
  if (process_ == nullptr) return;
  process_->Write(std::move(line), std::exchange(written_, nullptr));
  if (process_->unwritten_bytes() > kMaxUnwrittenBytes) {
    KillFor({"protocol_error", "the agent does not read what it is sent"});
  }
}

void Agent::TakeInitialized(RpcAnswer answer) {
  if (over_ || why_.has_value()) return;
  if (const auto* error = std::get_if<RpcError>(&answer)) {
    AgentError why = ErrorFrom(*error);
    // A retry would give the same answer.
    if (why.reason == "agent_error") why.reason = "initialize_refused";
    return KillFor(std::move(why));
  }
  capabilities_ = acp::ParseCapabilities(std::get<Json>(answer));
  if (capabilities_.version != acp::kProtocolVersion) {
    return KillFor(
        {"unsupported_version", absl::StrCat("the agent speaks version ", capabilities_.version,
                                             " of the protocol; version ", acp::kProtocolVersion,
                                             " is needed. Update the agent")});
  }
  const bool is_terminal =
      std::any_of(capabilities_.auth_methods.begin(), capabilities_.auth_methods.end(),
                  [this](const acp::AuthMethod& method) {
                    return method.is_terminal && method.id == settings_.auth_method;
                  });
  if (settings_.auth_method.empty() || is_terminal) return Ready();
  Request("authenticate", {{"methodId", settings_.auth_method}}, [this](RpcAnswer authenticated) {
    if (over_ || why_.has_value()) return;
    if (const auto* error = std::get_if<RpcError>(&authenticated))
      return KillFor(ErrorFrom(*error));
    Ready();
  });
}

void Agent::Ready() {
  start_timer_.reset();
  listener_->OnReady();
}

void Agent::Request(absl::string_view method, Json params, std::function<void(RpcAnswer)> done,
                    std::function<void(bool)> written) {
  written_ = std::move(written);
  peer_.Request(method, std::move(params), std::move(done));
  written_ = nullptr;
}

AgentError Agent::ErrorFrom(const RpcError& error) const {
  if (error.code == kAuthRequired) {
    const std::string methods = absl::StrJoin(
        capabilities_.auth_methods, ", ",
        [](std::string* out, const acp::AuthMethod& method) { absl::StrAppend(out, method.id); });
    return {"auth_required",
            absl::StrCat("the agent requires a login",
                         methods.empty() ? "" : absl::StrCat(" (", methods, ")"),
                         ". On the runner's machine, as its user: ", settings_.login)};
  }
  std::string all = error.message;
  // The protocol's SDK puts the cause there.
  const std::string details = TextOf(error.data, "details");
  if (!details.empty()) absl::StrAppend(&all, ": ", details);
  const std::string said = WithoutBadUtf8(CutText(all, kToldBytes));
  if (IsRateLimit(error)) return {"rate_limited", said};
  return {"agent_error", absl::StrCat(said, " (", error.code, ")")};
}

void Agent::NewSession(const acp::SessionSetup& setup, AgentSession::Listener* listener,
                       Opened opened) {
  const auto opening = std::make_shared<Opening>();
  opening->session.reset(new AgentSession(this, listener));
  opening->since = timers_->Now();
  openings_.push_back(opening);
  Await(*opening, settings_.patience.new_session,
        {"new_session_timeout", "the agent said nothing while it was to begin a session"});
  Request("session/new", acp::NewSessionParams(setup, capabilities_),
          [this, opening, opened = std::move(opened)](RpcAnswer answer) {
            std::vector<Json> early;
            if (const auto* result = std::get_if<Json>(&answer)) {
              const auto found = early_.find(TextOf(*result, "sessionId"));
              if (found != early_.end()) early = std::move(found->second);
            }
            EndOpening(opening);
            if (over_ || why_.has_value()) {
              return opened(why_.value_or(AgentError{"agent_crashed", "the agent has ended"}));
            }
            if (const auto* error = std::get_if<RpcError>(&answer))
              return opened(ErrorFrom(*error));
            const Json& result = std::get<Json>(answer);
            const std::string id = TextOf(result, "sessionId");
            if (id.empty() || sessions_.contains(id)) {
              return opened(
                  AgentError{"agent_error", "the agent has given its session no id of its own"});
            }
            sessions_.emplace(id, opening->session);
            opening->session->Begin(id, result);
            opened(opening->session);
            for (const Json& update : early) {
              if (!opening->session->end_.has_value()) opening->session->TakeUpdate(update);
            }
          });
}

void Agent::RestoreSession(const std::string& id, const acp::SessionSetup& setup,
                           AgentSession::Listener* listener, Opened opened) {
  if (sessions_.contains(id)) {
    return opened(AgentError{"cannot_restore", "the session is open already"});
  }
  const auto session = std::shared_ptr<AgentSession>(new AgentSession(this, listener));
  if (capabilities_.resume) return Restore("session/resume", id, setup, session, opened);
  if (capabilities_.load) return Restore("session/load", id, setup, session, opened);
  opened(AgentError{"cannot_restore", "the agent keeps no sessions: its context is lost"});
}

void Agent::Restore(const std::string& method, const std::string& id,
                    const acp::SessionSetup& setup, const std::shared_ptr<AgentSession>& session,
                    const Opened& opened) {
  const auto opening = std::make_shared<Opening>();
  opening->session = session;
  opening->drops_updates = true;
  session->id_ = id;
  opening->since = timers_->Now();
  openings_.push_back(opening);
  Await(*opening, settings_.patience.restore,
        {"load_timeout", "the agent said nothing while it was to restore the session"});
  Request(method, acp::RestoreParams(id, setup, capabilities_),
          [this, opening, opened, id, setup, method, session](RpcAnswer answer) {
            EndOpening(opening);
            if (over_ || why_.has_value()) {
              return opened(why_.value_or(AgentError{"agent_crashed", "the agent has ended"}));
            }
            if (const auto* error = std::get_if<RpcError>(&answer)) {
              AgentError why = ErrorFrom(*error);
              if (why.reason == "agent_error") {
                if (method == "session/resume" && capabilities_.load) {
                  return Restore("session/load", id, setup, session, opened);
                }
                why = {"cannot_restore",
                       absl::StrCat("the agent could not restore the session: ", why.message)};
              }
              session->EndQuestions();
              return opened(why);
            }
            sessions_[id] = session;
            session->Begin(id, std::get<Json>(answer));
            if (method != "session/load") return opened(session);
            session->AwaitReplay([opened, session](const std::optional<AgentError>& ended) {
              if (ended.has_value()) return opened(*ended);
              opened(session);
            });
          });
}

void Agent::Await(Opening& opening, absl::Duration silence, const AgentError& error) {
  const absl::Duration left = std::max(heard_time_, opening.since) + silence - timers_->Now();
  if (left <= absl::ZeroDuration()) return KillFor(error, opening.session.get());
  opening.timer =
      timers_->After(left, [this, &opening, silence, error] { Await(opening, silence, error); });
}

void Agent::EndOpening(const std::shared_ptr<Opening>& opening) {
  opening->timer.reset();
  std::erase(openings_, opening);
  if (!openings_.empty()) return;
  // The remaining early updates belong to no session.
  early_.clear();
  early_updates_ = early_bytes_ = 0;
}

void Agent::KillFor(AgentError error, const AgentSession* session) {
  if (!why_.has_value()) {
    why_ = std::move(error);
    blamed_ = session;
  }
  if (process_ == nullptr) return;
  process_->Kill();
  // Ignores further output.
  is_killed_ = true;
  HoldOutput();
}

void Agent::GiveUp(AgentError error, const AgentSession::Listener* whose) {
  const AgentSession* blamed = nullptr;
  for (const auto& opening : openings_) {
    if (opening->session->listener_ == whose) blamed = opening->session.get();
  }
  for (const auto& [id, session] : sessions_) {
    if (session->listener_ == whose) blamed = session.get();
  }
  KillFor(std::move(error), blamed);
}

bool Agent::is_held() const {
  return absl::c_any_of(sessions_, [](const auto& session) { return session.second->is_held_; });
}

void Agent::HoldOutput() {
  if (process_ == nullptr) return;
  process_->HoldOutput(is_killed_ || is_held());
  heard_time_ = timers_->Now();
}

void Agent::Stop() {
  if (!why_.has_value()) why_ = AgentError{"agent_stopped", "the agent was stopped"};
  // Without a process, the timer set by Start() calls OnEnd().
  if (process_ == nullptr) return;
  start_timer_.reset();
  process_->Stop();
}

void Agent::Kill() { KillFor({"agent_stopped", "the agent was stopped"}); }

void Agent::OnPipeEnd(absl::string_view which) {
  // An agent that is exiting closes its pipes, too.
  pipe_timer_ = timers_->After(settings_.patience.pipe_end, [this, which = std::string(which)] {
    KillFor({"protocol_error", absl::StrCat("the agent has closed its ", which, " and runs on")});
  });
}

AgentSession* Agent::Find(const Json& params) {
  const auto found = sessions_.find(TextOf(params, "sessionId"));
  return found == sessions_.end() ? nullptr : found->second.get();
}

AgentSession* Agent::FindForRequest(const Json& params) {
  const auto opening = absl::c_find_if(openings_, [&](const auto& each) {
    return each->drops_updates && each->session->id() == TextOf(params, "sessionId");
  });
  return opening == openings_.end() ? Find(params) : (*opening)->session.get();
}

void Agent::KeepEarly(const std::string& id, const Json& update) {
  const bool is_restored = std::any_of(openings_.begin(), openings_.end(), [&](const auto& each) {
    return each->drops_updates && each->session->id() == id;
  });
  if (is_restored || openings_.empty()) return;
  const size_t bytes = Dump(update).size();
  if (early_updates_ >= kMaxEarlyUpdates || early_bytes_ + bytes > kMaxEarlyBytes) return;
  ++early_updates_;
  early_bytes_ += bytes;
  early_[id].push_back(update);
}

void Agent::OnOutput(absl::string_view bytes) {
  heard_time_ = timers_->Now();
  if (peer_.Feed(bytes)) return;
  KillFor({"protocol_error", "the agent has written a line of more than 32 MiB"});
}

void Agent::OnEnd(const AgentExit& exit) {
  const std::shared_ptr<Agent> self = shared_from_this();
  over_ = true;
  start_timer_.reset();
  pipe_timer_.reset();
  if (!why_.has_value()) why_ = EndOf(settings_, exit);
  process_.reset();
  for (const auto& opening : openings_) opening->timer.reset();
  peer_.Close({.message = why_->message});
  while (!sessions_.empty()) {
    const auto session = std::move(sessions_.extract(sessions_.begin()).mapped());
    session->End(WhyOver(session.get()));
  }
  listener_->OnEnd(*why_);
}

AgentError Agent::WhyOver(const AgentSession* session) const {
  const AgentError why = why_.value_or(AgentError{"agent_crashed", "the agent has ended"});
  if (blamed_ == nullptr || blamed_ == session) return why;
  return {"agent_crashed",
          absl::StrCat("its process was ended over another of its sessions: ", why.message)};
}

void Agent::OnRequest(const Json& id, const std::string& method, const Json& params,
                      Peer::Respond respond) {
  if (method == "session/update" || method == "$/cancel_request") {
    // Sent with an id, possibly null, although no answer is expected.
    OnNotification(method, params);
    return respond(Json());
  }
  const bool is_question = method == "session/request_permission";
  if (!is_question && !absl::StartsWith(method, "fs/") && !absl::StartsWith(method, "terminal/")) {
    return respond(RpcError{kMethodNotFound, absl::StrCat("there is no method ", method)});
  }
  AgentSession* session = FindForRequest(params);
  if (session == nullptr) {
    return respond(RpcError{kInvalidParams, "there is no session of that sessionId"});
  }
  if (is_question) return session->TakeQuestion(id, params, std::move(respond));
  session->TakeCall(method, params, respond);
}

void Agent::OnNotification(const std::string& method, const Json& params) {
  if (method == "$/cancel_request") {
    // The notification names no session.
    const Json& request = MemberOf(params, "requestId");
    for (const auto& [id, session] : sessions_) session->TakeWithdrawal(request);
    for (const auto& opening : openings_) opening->session->TakeWithdrawal(request);
  }
  if (method != "session/update") return;
  const Json& update = MemberOf(params, "update");
  if (AgentSession* session = Find(params)) return session->TakeUpdate(update);
  KeepEarly(TextOf(params, "sessionId"), update);
}

void Agent::OnNoise(absl::string_view line) {
  const absl::Time now = timers_->Now();
  if (now - noise_time_ < absl::Seconds(1)) return;
  noise_time_ = now;
  listener_->OnNoise(line);
}

}  // namespace callslip::runner
