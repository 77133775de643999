#pragma once

#include <memory>
#include <utility>

#include "callslip/tracker/v1/session_service.pb.h"
#include "common/clock.h"
#include "tracker/domain/journal/output_gate.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/session/player_table.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/domain/session/shell_commands.h"
#include "tracker/rpc/runner_service.h"
#include "tracker/server/async_server.h"
#include "tracker/server/call_context.h"
#include "tracker/server/server_stream.h"
#include "tracker/storage/shell_json.h"

namespace callslip::tracker {

// SessionService over a SessionTable: converts, calls the session, converts back. The contract is
// in session_service.proto. Must outlive the server that it serves on and the calls of `sessions`.
class SessionService {
 public:
  static constexpr char kName[] = "callslip.tracker.v1.SessionService";

  // `commands` runs the commands in agents' answers; their changes become known when `gate`, which
  // may be null, releases them. All must outlive this.
  SessionService(Clock* clock, CommandTable* commands, SessionCaller* sessions,
                 std::shared_ptr<TimerThread> timers, OutputGate* gate, RunnerService* runners)
      : clock_(clock),
        commands_(commands),
        sessions_(sessions),
        gate_(gate),
        runners_(runners),
        shell_commands_(clock, commands, sessions, std::move(timers), gate, kShellJson) {}

  // Call after the server was started with the service kName added to it.
  void ServeOn(AsyncServer& server);

  // Records the outcomes of the commands in agents' answers. Call it once the command table is
  // drained and no worker reports any more.
  void SettleCommands() { shell_commands_.Settle(); }

 private:
  template <typename Response>
  using Stream = std::shared_ptr<ServerStream<Response>>;

  UnaryMethod<v1::ListSessionsRequest, v1::ListSessionsResponse> List;
  UnaryMethod<v1::OpenPlayerRequest, v1::Player> OpenPlayer;
  UnaryMethod<v1::ClosePlayerRequest, v1::ClosePlayerResponse> ClosePlayer;

  HeldMethod<v1::GetSessionRequest, v1::Session> Get;
  HeldMethod<v1::CreateSessionRequest, v1::Session> Create;
  HeldMethod<v1::UpdateSessionRequest, v1::Session> Update;
  HeldMethod<v1::EndSessionRequest, v1::Session> EndSession;
  HeldMethod<v1::ResumeSessionRequest, v1::Session> Resume;
  HeldMethod<v1::DeleteSessionRequest, v1::DeleteSessionResponse> Delete;
  // For calls that callers other than runners can also make.
  absl::Status CheckLease(Session& session, int64_t lease);
  HeldMethod<v1::AppendEventsRequest, v1::AppendEventsResponse> Append;
  HeldMethod<v1::ReadEventsRequest, v1::ReadEventsResponse> Read;
  HeldMethod<v1::MovePlayerRequest, v1::MovePlayerResponse> Move;
  HeldMethod<v1::AddAgentTextRequest, v1::AddAgentTextResponse> AddText;
  void AnswerText(const std::string& client_id, const SessionMetadata& session,
                  const AddedAgentText& text, const Reply<v1::AddAgentTextResponse>& reply);
  HeldMethod<v1::AskPermissionRequest, v1::Permission> Ask;
  HeldMethod<v1::AnswerPermissionRequest, v1::Permission> AnswerPermission;
  HeldMethod<v1::ListPermissionsRequest, v1::ListPermissionsResponse> ListPermissions;
  HeldMethod<v1::CancelPermissionsRequest, v1::ListPermissionsResponse> CancelPermissions;

  HeldMethod<v1::PutImageRequest, v1::ImageRef> PutImage;
  HeldMethod<v1::GetImageRequest, v1::GetImageResponse> GetImage;

  StreamMethod<v1::WatchSessionRequest, v1::SessionUpdate> Watch;
  StreamMethod<v1::WatchSessionsRequest, v1::SessionNotice> WatchAll;
  StreamMethod<v1::PlayRequest, v1::SessionEvent> Play;

  // Changes a session's metadata and answers with the stored result.
  void Change(const ClientScope& clients, const std::string& session_id,
              const Reply<v1::Session>& reply,
              std::function<absl::Status(Session&, absl::Time now)> change);

  Clock* const clock_;
  CommandTable* const commands_;
  SessionCaller* const sessions_;
  OutputGate* const gate_;
  RunnerService* const runners_;
  ShellCommands shell_commands_;
  PlayerTable players_;
};

}  // namespace callslip::tracker
