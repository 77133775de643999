#include "tracker/rpc/session_service.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/limits.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/agent_rights.h"
#include "tracker/domain/session/permission_wait.h"
#include "tracker/rpc/session_answer.h"
#include "tracker/rpc/session_convert.h"
#include "tracker/rpc/session_span.h"
#include "tracker/rpc/session_stream.h"

namespace callslip::tracker {
namespace {

// What moving a player gave.
struct Moved {
  PlayerPlace place;
  std::vector<EventPtr> events;
};

// The maximum number of events in one call.
constexpr int kMaxAppendedEvents = 1000;

void Fill(const PlayerPlace& place, v1::Player& message) {
  message.set_player_id(place.player_id);
  message.set_session_id(place.session_id);
  message.set_position(place.position);
  message.set_length(place.length);
}

void Fill(const Moved& moved, v1::MovePlayerResponse& message) {
  Fill(moved.place, *message.mutable_player());
  for (const EventPtr& event : moved.events) tracker::Fill(*event, *message.add_events());
}

absl::StatusOr<std::vector<NewEvent>> EventsFrom(const v1::AppendEventsRequest& request) {
  if (request.events().empty() || request.events_size() > kMaxAppendedEvents) {
    return InvalidField("events", absl::StrCat("has to hold 1 to ", kMaxAppendedEvents));
  }
  std::vector<NewEvent> events;
  events.reserve(static_cast<size_t>(request.events_size()));
  for (const v1::SessionEvent& message : request.events()) {
    ASSIGN_OR_RETURN(ClientEvent event, EventFrom(message));
    events.emplace_back(std::move(event));
  }
  return events;
}

absl::StatusOr<PlayerMove> MoveFrom(const v1::MovePlayerRequest& request) {
  PlayerMove move{.type = request.type()};
  switch (request.move_case()) {
    case v1::MovePlayerRequest::kNext: move.value = request.next(); return move;
    case v1::MovePlayerRequest::kPeek:
      move.kind = PlayerMove::Kind::kPeek;
      move.value = request.peek();
      return move;
    case v1::MovePlayerRequest::kSeek:
      move.kind = PlayerMove::Kind::kSeek;
      move.value = request.seek();
      return move;
    case v1::MovePlayerRequest::kReset:
      move.kind = PlayerMove::Kind::kSeek;
      move.value = 0;
      return move;
    case v1::MovePlayerRequest::MOVE_NOT_SET: break;
  }
  return InvalidField("move", "is required: next, peek, seek or reset");
}

// The open question with that id, or null.
const PermissionRequest* Find(const std::vector<PermissionRequest>& open, const std::string& id) {
  const auto found = std::find_if(open.begin(), open.end(),
                                  [&](const PermissionRequest& one) { return one.id == id; });
  return found == open.end() ? nullptr : &*found;
}

}  // namespace

// Answers of sessions are on disk before they are sent; only answers that create commands wait for
// the gate.
void SessionService::ServeOn(AsyncServer& server) {
  server.ServeUnary("ListSessions", this, &SessionService::List, Outputs::kFree);
  server.ServeUnary("OpenPlayer", this, &SessionService::OpenPlayer, Outputs::kFree);
  server.ServeUnary("ClosePlayer", this, &SessionService::ClosePlayer, Outputs::kFree);
  server.ServeHeld("GetSession", this, &SessionService::Get, Outputs::kFree);
  server.ServeHeld("CreateSession", this, &SessionService::Create, Outputs::kFree);
  server.ServeHeld("UpdateSession", this, &SessionService::Update, Outputs::kFree);
  server.ServeHeld("EndSession", this, &SessionService::EndSession, Outputs::kFree);
  server.ServeHeld("ResumeSession", this, &SessionService::Resume, Outputs::kFree);
  server.ServeHeld("DeleteSession", this, &SessionService::Delete, Outputs::kFree);
  server.ServeHeld("AppendEvents", this, &SessionService::Append, Outputs::kFree);
  server.ServeHeld("ReadEvents", this, &SessionService::Read, Outputs::kFree);
  server.ServeHeld("MovePlayer", this, &SessionService::Move, Outputs::kFree);
  server.ServeHeld("AddAgentText", this, &SessionService::AddText, Outputs::kFree);
  server.ServeHeld("AskPermission", this, &SessionService::Ask, Outputs::kFree);
  server.ServeHeld("AnswerPermission", this, &SessionService::AnswerPermission, Outputs::kFree);
  server.ServeHeld("ListPermissions", this, &SessionService::ListPermissions, Outputs::kFree);
  server.ServeHeld("CancelPermissions", this, &SessionService::CancelPermissions, Outputs::kFree);
  server.ServeHeld("PutImage", this, &SessionService::PutImage, Outputs::kFree);
  server.ServeHeld("GetImage", this, &SessionService::GetImage, Outputs::kFree);
  server.ServeStream("WatchSession", this, &SessionService::Watch, Outputs::kFree);
  server.ServeStream("WatchSessions", this, &SessionService::WatchAll, Outputs::kFree);
  server.ServeStream("Play", this, &SessionService::Play, Outputs::kFree);
}

void SessionService::Get(const CallContext& caller, const v1::GetSessionRequest& request,
                         const Reply<v1::Session>& reply) {
  const absl::StatusOr<SessionMetadata> known = sessions_->Get(caller.scope, request.session_id());
  if (!known.ok()) return reply->Fail(known.status());
  // Details reported by the agent are not kept in memory; a session without them needs no disk
  // access.
  if (known->agent.runner_id.empty() || !known->damage.empty()) {
    v1::Session response;
    tracker::Fill(*known, response);
    return reply->Finish(std::move(response), [] {});
  }
  AnswerFrom(*sessions_, caller, request, reply,
             [](Session& session, absl::Time) -> absl::StatusOr<SessionMetadata> {
               return session.metadata();
             });
}

absl::Status SessionService::List(const CallContext& caller, const v1::ListSessionsRequest& request,
                                  v1::ListSessionsResponse& response) {
  ASSIGN_OR_RETURN(SessionFilter filter, FilterFrom(request));
  ASSIGN_OR_RETURN(filter.clients, caller.ScopeOf(request.owner()));
  ASSIGN_OR_RETURN(const SessionPage page,
                   sessions_->table().List(filter, request.page_size(), request.page_token()));
  for (const SessionMetadata& session : page.sessions) {
    tracker::Fill(session, *response.add_sessions());
  }
  response.set_next_page_token(page.next_page_token);
  return absl::OkStatus();
}

void SessionService::Create(const CallContext& caller, const v1::CreateSessionRequest& request,
                            const Reply<v1::Session>& reply) {
  const auto by = sessions_->GetActing(caller.scope, request.by_session_id());
  if (!by.ok()) return reply->Fail(by.status());
  std::optional<SessionMetadata> parent = *by;
  std::optional<Maker> maker;
  if (parent.has_value()) {
    maker = runners_->MakerOf(*parent);
    const absl::Status may = runners_->CheckChild(
        *maker, {"", parent->owner, {request.acp_server(), request.working_dir()}});
    if (!may.ok()) return reply->Fail(may);
  } else if (!request.parent_session_id().empty()) {
    // Sessions of other clients are unknown.
    absl::StatusOr<SessionMetadata> known =
        sessions_->Get(caller.scope, request.parent_session_id());
    if (!known.ok()) return reply->Fail(known.status());
    parent = *std::move(known);
  }
  sessions_->table().Create(
      {.session_id = request.session_id(),
       .name = request.name(),
       .owner = caller.client_id,
       .acp_server = request.acp_server(),
       .working_dir = request.working_dir(),
       .parent_session_id = parent.has_value() ? parent->session_id : "",
       .detached = request.detached(),
       .maker = std::move(maker),
       .only_runner = runners_->OnlyRunnerOf(request.session_id(), caller.client_id)},
      [this, reply, parent](const absl::StatusOr<SessionMetadata>& session) {
        if (!session.ok()) return reply->Fail(session.status());
        if (!session->only_runner.empty()) runners_->Reserve(*session);
        RecordSession(*session, parent);
        v1::Session response;
        tracker::Fill(*session, response);
        reply->Finish(response, [] {});
      });
}

void SessionService::Change(const ClientScope& clients, const std::string& session_id,
                            const Reply<v1::Session>& reply,
                            std::function<absl::Status(Session&, absl::Time now)> change) {
  AnswerFrom(*sessions_, clients, session_id, reply,
             [change = std::move(change)](Session& session,
                                          absl::Time now) -> absl::StatusOr<SessionMetadata> {
               RETURN_IF_ERROR(change(session, now));
               return session.Snapshot().metadata;
             });
}

void SessionService::Update(const CallContext& caller, const v1::UpdateSessionRequest& request,
                            const Reply<v1::Session>& reply) {
  Change(caller.scope, request.session_id(), reply, [request](Session& session, absl::Time now) {
    const bool keeps_name = request.if_unnamed() && !session.metadata().name.empty();
    if (request.has_name() && !keeps_name) RETURN_IF_ERROR(session.Rename(request.name(), now));
    if (request.has_archived()) RETURN_IF_ERROR(session.Archive(request.archived(), now));
    return absl::OkStatus();
  });
}

void SessionService::EndSession(const CallContext& caller, const v1::EndSessionRequest& request,
                                const Reply<v1::Session>& reply) {
  const auto by = sessions_->GetActing(caller.scope, request.by_session_id());
  if (!by.ok()) return reply->Fail(by.status());
  Change(caller.scope, request.session_id(), reply,
         [this, reason = request.reason(), by = *by, lease = request.lease()](
             Session& session, absl::Time now) -> absl::Status {
           if (by.has_value()) RETURN_IF_ERROR(CheckControls(*by, session.metadata()));
           // An ended session stays ended, with any lease.
           const bool is_active = session.metadata().state == SessionState::kActive;
           if (is_active) RETURN_IF_ERROR(CheckLease(session, lease));
           return session.End(reason, now);
         });
}

void SessionService::Resume(const CallContext& caller, const v1::ResumeSessionRequest& request,
                            const Reply<v1::Session>& reply) {
  Change(caller.scope, request.session_id(), reply,
         [](Session& session, absl::Time now) { return session.Resume(now); });
}

void SessionService::Delete(const CallContext& caller, const v1::DeleteSessionRequest& request,
                            const Reply<v1::DeleteSessionResponse>& reply) {
  const absl::Status known = sessions_->Get(caller.scope, request.session_id()).status();
  if (!known.ok()) return reply->Fail(known);
  sessions_->table().Delete(request.session_id(), [reply](const absl::Status& deleted) {
    if (!deleted.ok()) return reply->Fail(deleted);
    reply->Finish(v1::DeleteSessionResponse(), [] {});
  });
}

absl::Status SessionService::CheckLease(Session& session, int64_t lease) {
  // Other callers may also make this call.
  if (lease == 0) return absl::OkStatus();
  return runners_->CheckLease(session, lease);
}

void SessionService::Append(const CallContext& caller, const v1::AppendEventsRequest& request,
                            const Reply<v1::AppendEventsResponse>& reply) {
  absl::StatusOr<std::vector<NewEvent>> events = EventsFrom(request);
  if (!events.ok()) return reply->Fail(events.status());
  const absl::Status room = sessions_->CheckRoom(caller.scope, request.session_id());
  if (!room.ok()) return reply->Fail(room);
  AnswerFrom(*sessions_, caller, request, reply,
             [this, events = *std::move(events), lease = request.lease()](
                 Session& session, absl::Time now) -> absl::StatusOr<v1::AppendEventsResponse> {
               RETURN_IF_ERROR(CheckLease(session, lease));
               ASSIGN_OR_RETURN(const std::vector<EventPtr> recorded,
                                session.RecordAll(events, now));
               v1::AppendEventsResponse response;
               response.set_first_seq(recorded.front()->seq);
               response.set_last_seq(recorded.back()->seq);
               return response;
             });
}

void SessionService::Read(const CallContext& caller, const v1::ReadEventsRequest& request,
                          const Reply<v1::ReadEventsResponse>& reply) {
  AnswerFrom(
      *sessions_, caller, request, reply,
      [query = QueryFrom(request)](Session& session, absl::Time) { return session.Read(query); });
}

absl::Status SessionService::OpenPlayer(const CallContext& caller,
                                        const v1::OpenPlayerRequest& request,
                                        v1::Player& response) {
  ASSIGN_OR_RETURN(const SessionMetadata session,
                   sessions_->Get(caller.scope, request.session_id()));
  ASSIGN_OR_RETURN(const PlayerPlace place,
                   players_.Open(caller.client_id, session, clock_->Now()));
  Fill(place, response);
  return absl::OkStatus();
}

absl::Status SessionService::ClosePlayer(const CallContext& caller,
                                         const v1::ClosePlayerRequest& request,
                                         v1::ClosePlayerResponse&) {
  return players_.Close(caller.client_id, request.player_id(), clock_->Now());
}

void SessionService::Move(const CallContext& caller, const v1::MovePlayerRequest& request,
                          const Reply<v1::MovePlayerResponse>& reply) {
  const std::string client_id = caller.client_id;
  const absl::StatusOr<PlayerMove> move = MoveFrom(request);
  if (!move.ok()) return reply->Fail(move.status());
  const absl::StatusOr<PlayerPlace> known =
      players_.Get(client_id, request.player_id(), clock_->Now());
  if (!known.ok()) return reply->Fail(known.status());
  AnswerFrom(*sessions_, caller.scope, known->session_id, reply,
             [this, client_id, player_id = request.player_id(), move = *move](
                 Session& session, absl::Time now) -> absl::StatusOr<Moved> {
               // Read its position again: the steps of one player run one after another here.
               Moved moved;
               ASSIGN_OR_RETURN(moved.place, players_.Get(client_id, player_id, now));
               ASSIGN_OR_RETURN(moved.events, MovePlayer(session, move, moved.place));
               players_.SetPosition(player_id, moved.place.position, now);
               return moved;
             });
}

void SessionService::PutImage(const CallContext& caller, const v1::PutImageRequest& request,
                              const Reply<v1::ImageRef>& reply) {
  const absl::Status room = sessions_->CheckRoom(caller.scope, request.session_id());
  if (!room.ok()) return reply->Fail(room);
  AnswerFrom(
      *sessions_, caller, request, reply,
      [image = std::make_shared<const v1::PutImageRequest>(request)](Session& session, absl::Time) {
        return session.PutImage(image->data(), image->name());
      });
}

void SessionService::GetImage(const CallContext& caller, const v1::GetImageRequest& request,
                              const Reply<v1::GetImageResponse>& reply) {
  AnswerFrom(
      *sessions_, caller, request, reply,
      [id = request.image_id()](Session& session, absl::Time) { return session.GetImage(id); });
}

void SessionService::Watch(const CallContext& caller, const v1::WatchSessionRequest& request,
                           const Stream<v1::SessionUpdate>& stream) {
  const std::string session_id = request.session_id();
  const int64_t after_seq = request.after_seq();
  const auto watch = std::make_shared<WatchSessionStream>(after_seq, stream);
  stream->SetSource([watch] { return watch->Next(); });
  if (!sessions_->Hold(watch)) return;
  sessions_->With<std::monostate>(
      caller.scope, session_id,
      [after_seq, watch](Session& session, absl::Time) -> absl::StatusOr<std::monostate> {
        RETURN_IF_ERROR(session.Subscribe(after_seq, watch));
        return std::monostate();
      },
      [watch](const absl::StatusOr<std::monostate>& subscribed) {
        if (!subscribed.ok()) watch->End(subscribed.status());
      });
  stream->OnCallerLeft([this, session_id, watch] {
    watch->OnCallerLeft();
    sessions_->Leave(session_id, [watch](Session& session) { session.Unsubscribe(watch.get()); });
  });
}

void SessionService::WatchAll(const CallContext& caller, const v1::WatchSessionsRequest& request,
                              const Stream<v1::SessionNotice>& stream) {
  const absl::StatusOr<ClientScope> clients = caller.ScopeOf(request.owner());
  if (!clients.ok()) return stream->Finish(clients.status());
  SessionNotices& notices = sessions_->table().notices();
  const auto watch = std::make_shared<WatchSessionsStream>(stream);
  stream->SetSource([watch] { return watch->Next(); });
  if (!sessions_->Hold(watch)) return;
  if (const absl::Status subscribed = notices.Subscribe(*clients, watch); !subscribed.ok()) {
    return watch->End(subscribed);
  }
  watch->Begin();
  stream->OnCallerLeft([clients = *clients, &notices, watch] {
    watch->OnCallerLeft();
    notices.Unsubscribe(clients, watch.get());
  });
}

void SessionService::Play(const CallContext& caller, const v1::PlayRequest& request,
                          const Stream<v1::SessionEvent>& stream) {
  const double speed = request.speed() == 0 ? 1 : request.speed();
  if (!(speed >= kMinPlaySpeed && speed <= kMaxPlaySpeed)) {
    return stream->Finish(
        InvalidField("speed", absl::StrCat("has to be ", kMinPlaySpeed, " to ", kMaxPlaySpeed)));
  }
  const std::string client_id = caller.client_id;
  const absl::StatusOr<PlayerPlace> place =
      players_.Get(client_id, request.player_id(), clock_->Now());
  if (!place.ok()) return stream->Finish(place.status());
  const auto play = std::make_shared<PlayStream>(
      [this, place = *place](const SessionEvent& event) mutable {
        if (event.seq > place.max_seq) return false;
        players_.SetPosition(place.player_id, ++place.position, clock_->Now());
        return true;
      },
      stream);
  stream->SetSource([play] { return play->Next(); });
  if (!sessions_->Hold(play)) return;
  sessions_->With<std::monostate>(
      caller.scope, place->session_id,
      [play, from = PlayRequest{.position = place->position, .speed = speed}](
          Session& session, absl::Time now) -> absl::StatusOr<std::monostate> {
        RETURN_IF_ERROR(session.Play(from, play, now));
        return std::monostate();
      },
      [play](const absl::StatusOr<std::monostate>& playing) {
        if (!playing.ok()) play->End(playing.status());
      });
  stream->OnCallerLeft([this, session_id = place->session_id, play] {
    play->OnCallerLeft();
    sessions_->Leave(session_id, [play](Session& session) { session.Unsubscribe(play.get()); });
  });
}

void SessionService::AddText(const CallContext& caller, const v1::AddAgentTextRequest& request,
                             const Reply<v1::AddAgentTextResponse>& reply) {
  const std::string session_id = request.session_id();
  // The commands belong to the session's owner, not to the caller that runs its agent.
  const absl::StatusOr<SessionMetadata> known = sessions_->Get(caller.scope, session_id);
  if (!known.ok()) return reply->Fail(known.status());
  const absl::Status room = sessions_->CheckRoom(caller.scope, session_id);
  if (!room.ok()) return reply->Fail(room);
  const std::string client_id = ClientScope(known->owner).client_id();
  AgentText piece{.iteration = request.iteration(), .text = request.text(), .end = request.end()};
  if (request.has_offset()) piece.offset = request.offset();
  sessions_->With<AddedAgentText>(
      caller.scope, session_id,
      [this, piece = std::move(piece), lease = request.lease()](
          Session& session, absl::Time now) -> absl::StatusOr<AddedAgentText> {
        RETURN_IF_ERROR(runners_->CheckLease(session, lease));
        return session.AddAgentText(piece, now);
      },
      [this, client_id, session = *known, reply](const absl::StatusOr<AddedAgentText>& added) {
        if (!added.ok()) return reply->Fail(added.status());
        AnswerText(client_id, session, *added, reply);
      });
}

// Registers commands once they are recorded, so that none becomes known before that; answers the
// caller once they are also stored.
void SessionService::AnswerText(const std::string& client_id, const SessionMetadata& session,
                                const AddedAgentText& text,
                                const Reply<v1::AddAgentTextResponse>& reply) {
  v1::AddAgentTextResponse response;
  response.set_length(text.length);
  bool has_new = false;
  for (const AgentCommand& command : text.commands) {
    v1::AddAgentTextResponse::Command& added = *response.add_commands();
    added.set_id(command.command.id);
    added.set_command(command.command.command);
    added.set_command_id(command.is_new ? shell_commands_.Start(client_id, session, command)
                                        : shell_commands_.Find(session, command));
    has_new = has_new || command.is_new;
  }
  if (!has_new || gate_ == nullptr) return reply->Finish(std::move(response), [] {});
  gate_->Pass([reply, response = std::move(response)](const absl::Status& kept) {
    if (!kept.ok()) return reply->Fail(kept);
    reply->Finish(response, [] {});
  });
}

void SessionService::Ask(const CallContext& caller, const v1::AskPermissionRequest& request,
                         const Reply<v1::Permission>& reply) {
  const int64_t kMaxValue = absl::ToInt64Milliseconds(kMaxWait);
  if (request.max_wait_ms() < 0 || request.max_wait_ms() > kMaxValue) {
    return reply->Fail(InvalidField("max_wait_ms", absl::StrCat("must be 0 to ", kMaxValue)));
  }
  const absl::Time until = clock_->Now() + absl::Milliseconds(request.max_wait_ms());
  std::shared_ptr<void> place;
  if (request.max_wait_ms() > 0) {
    auto held = commands_->HoldWait(caller.client_id);
    if (!held.ok()) return reply->Fail(held.status());
    place = *std::move(held);
  }
  const auto wait = std::make_shared<PermissionWait>(
      sessions_, caller.scope, request.session_id(),
      [reply](const absl::StatusOr<PermissionStanding>& standing) {
        if (!standing.ok()) return reply->Fail(standing.status());
        v1::Permission permission;
        tracker::Fill(standing->request, permission);
        if (standing->answer.has_value()) tracker::Fill(*standing->answer, permission);
        reply->Finish(std::move(permission), [] {});
      },
      std::move(place));
  wait->Begin(RequestFrom(request), until, [this, lease = request.lease()](Session& session) {
    return CheckLease(session, lease);
  });
  sessions_->Hold(wait);
  reply->OnCallerLeft([wait] { wait->OnCallerLeft(); });
}

void SessionService::AnswerPermission(const CallContext& caller,
                                      const v1::AnswerPermissionRequest& request,
                                      const Reply<v1::Permission>& reply) {
  const auto by = sessions_->GetActing(caller.scope, request.by_session_id());
  if (!by.ok()) return reply->Fail(by.status());
  PermissionAnswer answer{.request_id = request.permission_id(),
                          .option_id = request.option_id(),
                          .answered_by = caller.client_id,
                          .decided_by = by->has_value() ? kByAgent : request.decided_by()};
  AnswerFrom(*sessions_, caller, request, reply,
             [answer = std::move(answer), by = *by](
                 Session& session, absl::Time now) -> absl::StatusOr<v1::Permission> {
               if (by.has_value()) RETURN_IF_ERROR(CheckControls(*by, session.metadata()));
               const std::vector<PermissionRequest> open = session.Snapshot().permissions;
               RETURN_IF_ERROR(session.AnswerPermission(answer, now));
               v1::Permission permission;
               const PermissionRequest* asked = Find(open, answer.request_id);
               if (asked != nullptr) tracker::Fill(*asked, permission);
               tracker::Fill(answer, permission);
               return permission;
             });
}

void SessionService::ListPermissions(const CallContext& caller,
                                     const v1::ListPermissionsRequest& request,
                                     const Reply<v1::ListPermissionsResponse>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [](Session& session, absl::Time) -> absl::StatusOr<v1::ListPermissionsResponse> {
               v1::ListPermissionsResponse response;
               for (const PermissionRequest& open : session.Snapshot().permissions) {
                 tracker::Fill(open, *response.add_permissions());
               }
               return response;
             });
}

void SessionService::CancelPermissions(const CallContext& caller,
                                       const v1::CancelPermissionsRequest& request,
                                       const Reply<v1::ListPermissionsResponse>& reply) {
  AnswerFrom(*sessions_, caller, request, reply,
             [this, id = request.permission_id(), lease = request.lease()](
                 Session& session, absl::Time now) -> absl::StatusOr<v1::ListPermissionsResponse> {
               RETURN_IF_ERROR(CheckLease(session, lease));
               v1::ListPermissionsResponse response;
               for (const PermissionRequest& open : session.Snapshot().permissions) {
                 if (!id.empty() && open.id != id) continue;
                 v1::Permission& permission = *response.add_permissions();
                 tracker::Fill(open, permission);
                 permission.set_cancelled(true);
               }
               RETURN_IF_ERROR(id.empty() ? session.CancelPermissions(now).status()
                                          : session.CancelPermission(id, now));
               return response;
             });
}

}  // namespace callslip::tracker
