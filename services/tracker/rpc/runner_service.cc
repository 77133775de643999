#include "tracker/rpc/runner_service.h"

#include "absl/algorithm/container.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/runner/runner_errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/rpc/runner_convert.h"
#include "tracker/rpc/session_answer.h"
#include "tracker/rpc/session_convert.h"

namespace callslip::tracker {
namespace {

// The delay before retrying while the storage is busy or failing temporarily.
constexpr absl::Duration kRetryAfter = absl::Seconds(1);

}  // namespace

RunnerService::RunnerService(Clock* clock, SessionCaller* sessions,
                             std::shared_ptr<TimerThread> timers)
    : clock_(clock), sessions_(sessions), timers_(std::move(timers)), controls_(timers_) {
  SessionTable& all = sessions_->table();
  std::string page_token;
  MutexLock lock(&mutex_);
  do {
    const absl::StatusOr<SessionPage> page = all.List({.with_archived = true}, 0, page_token);
    if (!page.ok()) break;
    for (const SessionMetadata& session : page->sessions) {
      if (session.state != SessionState::kActive) continue;
      tokens_.Set(session.session_id, session.agent_token_hash);
      const std::string& runner_id =
          session.only_runner.empty() ? session.agent.runner_id : session.only_runner;
      if (!runner_id.empty()) table_.Keep(NeedOf(session), runner_id, clock_->Now());
    }
    page_token = page->next_page_token;
  } while (!page_token.empty());
  SetTimerLocked();
  all.agent_needs().SetListener(this);
}

void RunnerService::ServeOn(AsyncServer& server) {
  server.ServeStream("Serve", this, &RunnerService::Serve, Outputs::kFree);
  server.ServeHeld("SetAgentState", this, &RunnerService::SetState, Outputs::kFree);
  server.ServeUnary("ReleaseSession", this, &RunnerService::Release, Outputs::kFree);
  server.ServeHeld("IssueSessionToken", this, &RunnerService::IssueToken, Outputs::kFree);
  server.ServeUnary("FindSessionTokens", this, &RunnerService::FindTokens, Outputs::kFree);
  server.ServeUnary("ListRunners", this, &RunnerService::List, Outputs::kFree);
  server.ServeHeld("ControlAgent", this, &RunnerService::ControlAgent, Outputs::kFree);
  server.ServeHeld("AnswerControl", this, &RunnerService::AnswerControl, Outputs::kFree);
}

void RunnerService::Drain() {
  {
    MutexLock lock(&mutex_);
    draining_ = true;
  }
  controls_.EndAll(Draining());
}

std::vector<RunnerInfo> RunnerService::Runners() {
  MutexLock lock(&mutex_);
  return table_.List();
}

RunnerCounts RunnerService::Count() {
  MutexLock lock(&mutex_);
  return table_.CountRunners();
}

Maker RunnerService::MakerOf(const SessionMetadata& session) {
  MutexLock lock(&mutex_);
  return {PlaceOf(session), table_.RunnerOf(session.session_id), session.session_id};
}

std::string RunnerService::OnlyRunnerOf(const std::string& session_id, const std::string& owner) {
  MutexLock lock(&mutex_);
  return table_.OnlyRunnerOf(session_id, owner);
}

void RunnerService::Reserve(const SessionMetadata& session) {
  MutexLock lock(&mutex_);
  table_.Reserve(NeedOf(session), clock_->Now());
  SetTimerLocked();
}

absl::Status RunnerService::CheckChild(const Maker& maker, const SessionNeed& session) {
  MutexLock lock(&mutex_);
  return table_.CheckChild(maker, session);
}

absl::Status RunnerService::CheckWrites(const Maker& maker, const SessionNeed& session) {
  MutexLock lock(&mutex_);
  if (maker.runner_id.empty()) return RunnerAway();
  RETURN_IF_ERROR(table_.CheckChild(maker, session));
  const bool is_nobodys = table_.RunnerOf(session.session_id).empty();
  return is_nobodys && !table_.IsFor(session.makers, maker.runner_id)
             ? OtherRunner(session.session_id)
             : absl::OkStatus();
}

absl::Status RunnerService::CheckLease(Session& session, int64_t lease) {
  const std::string& session_id = session.metadata().session_id;
  MutexLock lock(&mutex_);
  return table_.CheckLease(session_id, lease);
}

// Needs of sessions.

void RunnerService::OnNeeded(const SessionMetadata& session) {
  ToTell to_tell;
  {
    MutexLock lock(&mutex_);
    AssignLocked(session, to_tell);
  }
  TellNeeded(to_tell);
}

void RunnerService::OnEnded(const SessionMetadata& session) {
  TakeAway(session.session_id, "session_ended", SessionEnded(session.session_id));
}

void RunnerService::OnDeleted(const std::string& session_id) {
  tokens_.Set(session_id, "");
  TakeAway(session_id, "session_deleted", SessionNotFound(session_id));
}

void RunnerService::TakeAway(const std::string& session_id, const char* reason,
                             const absl::Status& why) {
  std::string runner_id;
  int64_t lease = 0;
  RunnerStreamPtr stream;
  {
    MutexLock lock(&mutex_);
    lease = table_.LeaseOf(session_id);
    runner_id = table_.Unassign(session_id);
    stream = StreamLocked(runner_id);
  }
  controls_.Fail(session_id, why);
  if (stream != nullptr) stream->Release({session_id, lease}, reason);
  if (!runner_id.empty()) Forsake(session_id, Turn::kGoesOn);
}

void RunnerService::AssignLocked(const SessionMetadata& session, ToTell& to_tell) {
  const std::string& id = session.session_id;
  const bool was_nobodys = table_.RunnerOf(id).empty();
  const std::string runner_id = table_.Assign(NeedOf(session));
  to_tell.emplace_back(StreamLocked(runner_id), id);
  if (was_nobodys && !runner_id.empty()) AssignRelativesLocked(session, to_tell);
}

void RunnerService::AssignRelativesLocked(const SessionMetadata& session, ToTell& to_tell) {
  SessionTable& table = sessions_->table();
  std::vector<SessionMetadata> relatives = table.ChildrenThatNeedAgent(session.session_id);
  const auto parent = table.Get(session.parent_session_id);
  if (parent.ok() && parent->needs_agent) relatives.push_back(*parent);
  for (const SessionMetadata& each : relatives) {
    if (table_.RunnerOf(each.session_id).empty()) AssignLocked(each, to_tell);
  }
}

RunnerService::RunnerStreamPtr RunnerService::StreamLocked(const std::string& runner_id) {
  const auto found = streams_.find(runner_id);
  return found == streams_.end() ? nullptr : found->second;
}

void RunnerService::TellNeeded(const ToTell& to_tell) {
  for (const auto& [stream, session_id] : to_tell) {
    if (stream != nullptr) stream->Need(session_id);
  }
}

void RunnerService::Find(const std::string& runner_id, const std::string& session_id,
                         const RunnerStream::Found& found) {
  sessions_->With<SessionMetadata>(
      ClientScope::All(), session_id,
      [](Session& session, absl::Time) -> absl::StatusOr<SessionMetadata> {
        return session.metadata();
      },
      [this, runner_id, session_id, found](const absl::StatusOr<SessionMetadata>& session) {
        if (!session.ok()) return found(session.status());
        v1::Assignment assignment;
        {
          // The session may have been reassigned or released meanwhile.
          MutexLock lock(&mutex_);
          if (table_.RunnerOf(session_id) != runner_id) return found(NotAssigned(session_id));
          assignment.set_lease(table_.LeaseOf(session_id));
        }
        Fill(*session, *assignment.mutable_session());
        found(std::move(assignment));
      });
}

void RunnerService::Forsake(const std::string& session_id, Turn turn, bool again) {
  sessions_->With<std::string>(
      ClientScope::All(), session_id,
      [this, session_id, turn, again](Session& session,
                                      absl::Time now) -> absl::StatusOr<std::string> {
        std::string runner_id;
        {
          MutexLock lock(&mutex_);
          runner_id = table_.RunnerOf(session_id);
        }
        // A retry does nothing if the session has a new runner, which then updates the state.
        if (again && !runner_id.empty()) return runner_id;
        if (turn == Turn::kFails) RETURN_IF_ERROR(session.LoseRunner(now));
        RETURN_IF_ERROR(session.SetAgentState({.status = AgentStatus::kNone,
                                               .reason = "",
                                               .message = "",
                                               .runner_id = runner_id,
                                               .token_hash = ""},
                                              now));
        tokens_.Set(session_id, "");
        // No other runner may have it.
        if (turn == Turn::kFails && !session.metadata().only_runner.empty()) {
          RETURN_IF_ERROR(session.End("runner_lost", now));
        }
        return runner_id;
      },
      [this, session_id, turn](const absl::StatusOr<std::string>& done) {
        if (!RunnerStream::MayPass(done.status())) return;
        timers_->After(kRetryAfter,
                       [this, session_id, turn] { Forsake(session_id, turn, /*again=*/true); });
      });
}

// Runners.

void RunnerService::Serve(const CallContext& caller, const v1::ServeRequest& request,
                          const std::shared_ptr<RunnerStream::Stream>& stream) {
  const std::string runner_id = request.runner_id();
  const auto self = std::make_shared<std::weak_ptr<RunnerStream>>();
  const auto serve = std::make_shared<RunnerStream>(
      stream,
      [this, runner_id](const std::string& session_id, const RunnerStream::Found& found) {
        Find(runner_id, session_id, found);
      },
      [this](std::function<void()> again) { timers_->After(kRetryAfter, std::move(again)); },
      [this, runner_id, self] { Left(runner_id, *self); });
  *self = serve;
  stream->SetSource([serve] { return serve->Next(); });
  if (!sessions_->Hold(serve)) return;
  if (const absl::Status status = Connect(caller.Serves(), request, serve); !status.ok())
    return serve->End(status);
  stream->OnCallerLeft([serve] { serve->OnCallerLeft(); });
}

absl::Status RunnerService::Connect(const ClientScope& clients, const v1::ServeRequest& request,
                                    const RunnerStreamPtr& stream) {
  RunnerOffer offer = OfferFrom(request);
  offer.clients = clients;
  const std::string& runner_id = request.runner_id();
  RunnerStreamPtr replaced;
  std::vector<std::pair<HeldSession, const char*>> released;
  std::vector<std::string> lost;
  std::vector<std::string> mine;
  ToTell needed;
  {
    MutexLock lock(&mutex_);
    std::vector<HeldSession> held;
    for (const v1::HeldSession& each : request.held()) {
      HeldSession one{each.session_id(), each.lease()};
      const absl::StatusOr<SessionMetadata> session = sessions_->table().Get(one.session_id);
      if (!session.ok() || !clients.Covers(session->owner)) {
        released.emplace_back(std::move(one), "session_deleted");
      } else if (session->state != SessionState::kActive) {
        released.emplace_back(std::move(one), "session_ended");
      } else {
        held.push_back(std::move(one));
      }
    }
    ASSIGN_OR_RETURN(RunnerTable::Connected connected,
                     table_.Connect(std::move(offer), held, clock_->Now()));
    for (HeldSession& other : connected.others) {
      released.emplace_back(std::move(other), "runner_replaced");
    }
    lost = std::move(connected.lost);
    replaced = std::exchange(streams_[runner_id], stream);
    for (const std::string& session_id : table_.SessionsOf(runner_id)) mine.push_back(session_id);
    for (const SessionMetadata& session : sessions_->table().ThatNeedAgent()) {
      const bool is_new = table_.RunnerOf(session.session_id).empty();
      ToTell to_tell;
      AssignLocked(session, to_tell);
      for (auto& each : to_tell) {
        if (is_new || each.first == stream) needed.push_back(std::move(each));
      }
    }
    SetTimerLocked();
  }
  if (replaced != nullptr) replaced->End(RunnerReplaced(runner_id));
  // Before the new process is told about its sessions.
  for (const std::string& session_id : lost) Forsake(session_id, Turn::kFails);
  stream->Begin();
  for (const auto& [held, reason] : released) stream->Release(held, reason);
  TellNeeded(needed);
  for (const std::string& session_id : mine) {
    for (const v1::AgentControl& control : controls_.Unsent(session_id)) {
      stream->Control(session_id, control,
                      [this, id = control.control_id()] { controls_.SetSent(id); });
    }
  }
  return absl::OkStatus();
}

void RunnerService::Left(const std::string& runner_id, const std::weak_ptr<RunnerStream>& stream) {
  MutexLock lock(&mutex_);
  const auto present = streams_.find(runner_id);
  if (present == streams_.end() || present->second != stream.lock()) return;
  streams_.erase(present);
  table_.Disconnect(runner_id, clock_->Now());
  SetTimerLocked();
}

void RunnerService::SetTimerLocked() {
  const absl::Time next = table_.NextTime();
  if (next == timer_at_) return;
  if (timer_ != 0) timers_->Cancel(timer_);
  timer_at_ = next;
  timer_ = next == absl::InfiniteFuture() ? 0 : timers_->At(next, [this] { OnTime(); });
}

void RunnerService::OnTime() {
  std::vector<std::string> lost;
  ToTell needed;
  {
    MutexLock lock(&mutex_);
    timer_ = 0;
    timer_at_ = absl::InfiniteFuture();
    if (draining_) return;
    lost = table_.Expire(clock_->Now());
    for (const std::string& session_id : lost) {
      const absl::StatusOr<SessionMetadata> session = sessions_->table().Get(session_id);
      if (!session.ok() || !session->needs_agent) continue;
      AssignLocked(*session, needed);
    }
    SetTimerLocked();
  }
  // Before another runner attaches to it.
  for (const std::string& session_id : lost) {
    controls_.Fail(session_id, RunnerSilent());
    Forsake(session_id, Turn::kFails);
  }
  TellNeeded(needed);
}

absl::Status RunnerService::List(const CallContext&, const v1::ListRunnersRequest&,
                                 v1::ListRunnersResponse& response) {
  for (const RunnerInfo& runner : Runners()) Fill(runner, *response.add_runners());
  return absl::OkStatus();
}

// Sessions of runners.

absl::StatusOr<std::string> RunnerService::RunnerWith(const std::string& session_id,
                                                      int64_t lease) {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(table_.CheckLease(session_id, lease));
  std::string runner_id = table_.RunnerOf(session_id);
  if (runner_id.empty()) return NotAssigned(session_id);
  return runner_id;
}

void RunnerService::SetState(const CallContext& caller, const v1::SetAgentStateRequest& request,
                             const Reply<v1::AgentState>& reply) {
  const absl::StatusOr<AgentChange> change = ChangeFrom(request);
  if (!change.ok()) return reply->Fail(change.status());
  AnswerFrom(*sessions_, caller, request, reply,
             [this, id = request.session_id(), lease = request.lease(), change = *change,
              title = request.title()](Session& session,
                                       absl::Time now) mutable -> absl::StatusOr<AgentState> {
               ASSIGN_OR_RETURN(change.runner_id, RunnerWith(id, lease));
               if (!title.empty() && session.metadata().name.empty()) {
                 RETURN_IF_ERROR(session.Rename(title, now));
               }
               RETURN_IF_ERROR(session.SetAgentState(change, now));
               MutexLock lock(&mutex_);
               if (table_.RunnerOf(id) == *change.runner_id) table_.SetStatus(id, *change.status);
               return session.metadata().agent;
             });
}

absl::Status RunnerService::Release(const CallContext& caller,
                                    const v1::ReleaseSessionRequest& request,
                                    v1::ReleaseSessionResponse&) {
  const std::string& id = request.session_id();
  ASSIGN_OR_RETURN(const SessionMetadata session, sessions_->Get(caller.scope, id));
  ToTell needed;
  {
    MutexLock lock(&mutex_);
    const absl::Status checked = table_.CheckLease(id, request.lease());
    if (absl::IsUnavailable(checked)) return checked;
    if (!table_.GiveUp(id, request.lease())) return absl::OkStatus();
    if (session.needs_agent) AssignLocked(session, needed);
  }
  controls_.Fail(id, RunnerGaveUp());
  Forsake(id, Turn::kFails);
  TellNeeded(needed);
  return absl::OkStatus();
}

void RunnerService::IssueToken(const CallContext& caller,
                               const v1::IssueSessionTokenRequest& request,
                               const Reply<v1::IssueSessionTokenResponse>& reply) {
  AnswerFrom(
      *sessions_, caller, request, reply,
      [this, id = request.session_id(), lease = request.lease()](
          Session& session, absl::Time now) -> absl::StatusOr<v1::IssueSessionTokenResponse> {
        ASSIGN_OR_RETURN(const std::string runner_id, RunnerWith(id, lease));
        v1::IssueSessionTokenResponse response;
        response.set_token(NewSessionToken());
        const std::string hash = HashOfToken(response.token());
        RETURN_IF_ERROR(session.SetAgentState({.runner_id = runner_id, .token_hash = hash}, now));
        tokens_.Set(id, hash);
        return response;
      });
}

absl::Status RunnerService::FindTokens(const CallContext&,
                                       const v1::FindSessionTokensRequest& request,
                                       v1::FindSessionTokensResponse& response) {
  for (const std::string& token : request.tokens()) {
    v1::FindSessionTokensResponse::Found& found = *response.add_found();
    const std::string hash = HashOfToken(token);
    const std::string session_id = tokens_.SessionOf(hash);
    if (session_id.empty()) continue;
    const absl::StatusOr<SessionMetadata> session = sessions_->table().Get(session_id);
    // The index can be ahead of storage.
    if (!session.ok() || session->agent_token_hash != hash ||
        session->state != SessionState::kActive) {
      continue;
    }
    found.set_session_id(session_id);
    found.set_client_id(ClientScope(session->owner).client_id());
  }
  return absl::OkStatus();
}

// Controls.

void RunnerService::ControlAgent(const CallContext& caller, const v1::ControlAgentRequest& request,
                                 const Reply<v1::AgentState>& reply) {
  sessions_->With<SessionMetadata>(
      caller.scope, request.session_id(),
      [](Session& session, absl::Time) -> absl::StatusOr<SessionMetadata> {
        return session.metadata();
      },
      [this, control = request.control(), reply](const absl::StatusOr<SessionMetadata>& session) {
        if (!session.ok()) return reply->Fail(session.status());
        BeginControl(*session, control, reply);
      });
}

std::string RunnerService::RunnerAwayFor(const SessionNeed& session) {
  MutexLock lock(&mutex_);
  std::vector<std::string> needed = {session.only_runner};
  for (const Maker& maker : session.makers) needed.push_back(maker.runner_id);
  const auto away = absl::c_find_if(needed, [this](const std::string& runner_id) {
    return !runner_id.empty() && !table_.IsConnected(runner_id);
  });
  return away == needed.end() ? "" : *away;
}

void RunnerService::BeginControl(const SessionMetadata& session, const v1::AgentControl& asked,
                                 const Reply<v1::AgentState>& reply) {
  if (const absl::Status fits = CheckControl(asked); !fits.ok()) return reply->Fail(fits);
  const std::string& id = session.session_id;
  if (session.state != SessionState::kActive) return reply->Fail(SessionEnded(id));
  std::string runner_id;
  RunnerStreamPtr stream;
  ToTell relatives;
  const bool is_stop = asked.action() == v1::AGENT_ACTION_STOP;
  {
    MutexLock lock(&mutex_);
    runner_id = table_.RunnerOf(id);
    // A mode or a setting does not start an agent.
    if (runner_id.empty() && asked.has_action() && !is_stop) {
      runner_id = table_.Assign(NeedOf(session), /*anyway=*/true);
      if (!runner_id.empty()) AssignRelativesLocked(session, relatives);
    }
    stream = StreamLocked(runner_id);
  }
  TellNeeded(relatives);
  if (runner_id.empty() && is_stop) {
    v1::AgentState state;
    Fill(session.agent, state);
    return reply->Finish(std::move(state), [] {});
  }
  if (runner_id.empty() && !asked.has_action()) {
    return reply->Fail(
        ControlFailed("agent_not_running", "the agent does not run: start it first"));
  }
  if (runner_id.empty()) {
    const std::string away = RunnerAwayFor(NeedOf(session));
    return reply->Fail(away.empty() ? NoRunnerFor(session.acp_server, session.working_dir)
                                    : ItsRunnerAway(away));
  }
  v1::AgentControl control = asked;
  if (const absl::Status held = controls_.Add(id, control, reply); !held.ok()) {
    return reply->Fail(held);
  }
  if (stream == nullptr) return;  // Its runner gets the control when it reconnects.
  stream->Control(id, control,
                  [this, control_id = control.control_id()] { controls_.SetSent(control_id); });
}

void RunnerService::AnswerControl(const CallContext& caller,
                                  const v1::AnswerControlRequest& request,
                                  const Reply<v1::AnswerControlResponse>& reply) {
  const std::string& id = request.session_id();
  const absl::StatusOr<SessionMetadata> known = sessions_->Get(caller.scope, id);
  if (!known.ok()) return reply->Fail(known.status());
  const absl::Status may = RunnerWith(id, request.lease()).status();
  if (!may.ok()) return reply->Fail(may);
  const RunnerControls::Reply waiting = controls_.Take(id, request.control_id());
  reply->Finish({}, [] {});
  if (waiting == nullptr) return;
  if (!request.error_reason().empty() || !request.error_message().empty()) {
    return waiting->Fail(ControlFailed(request.error_reason(), request.error_message()));
  }
  AnswerFrom(*sessions_, ClientScope::All(), id, waiting,
             [](Session& session, absl::Time) -> absl::StatusOr<AgentState> {
               return session.metadata().agent;
             });
}

}  // namespace callslip::tracker
