#pragma once

#include <memory>
#include <utility>

#include "callslip/tracker/v1/session_service.pb.h"
#include "common/clock.h"
#include "tracker/domain/journal/output_gate.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/runner/session_runners.h"
#include "tracker/domain/session/player_table.h"
#include "tracker/domain/session/session_caller.h"
#include "tracker/domain/session/shell_commands.h"
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
                 std::shared_ptr<TimerThread> timers, OutputGate* gate, SessionRunners* runners)
      : clock_(clock),
        commands_(commands),
        sessions_(sessions),
        gate_(gate),
        runners_(runners),
        shell_commands_(clock, commands, sessions, std::move(timers), gate, kShellJson) {}

  // Call before the server is started.
  static void AddTo(AsyncServer& server) { server.AddService(kName); }
  // Call after the server was started.
  void ServeOn(AsyncServer& server);

  // Records the outcomes of the commands in agents' answers. Call it once the command table is
  // drained and no worker reports any more.
  void SettleCommands() { shell_commands_.Settle(); }

 private:
  template <typename Response>
  using Reply = std::shared_ptr<DeferredReply<Response>>;
  template <typename Response>
  using Stream = std::shared_ptr<ServerStream<Response>>;

  absl::Status List(const CallContext& caller, const v1::ListSessionsRequest& request,
                    v1::ListSessionsResponse& response);
  absl::Status OpenPlayer(const CallContext& caller, const v1::OpenPlayerRequest& request,
                          v1::Player& response);
  absl::Status ClosePlayer(const CallContext& caller, const v1::ClosePlayerRequest& request,
                           v1::ClosePlayerResponse& response);

  void Get(const CallContext& caller, const v1::GetSessionRequest& request,
           const Reply<v1::Session>& reply);
  void Create(const CallContext& caller, const v1::CreateSessionRequest& request,
              const Reply<v1::Session>& reply);
  void Update(const CallContext& caller, const v1::UpdateSessionRequest& request,
              const Reply<v1::Session>& reply);
  void EndSession(const CallContext& caller, const v1::EndSessionRequest& request,
                  const Reply<v1::Session>& reply);
  void Resume(const CallContext& caller, const v1::ResumeSessionRequest& request,
              const Reply<v1::Session>& reply);
  void Delete(const CallContext& caller, const v1::DeleteSessionRequest& request,
              const Reply<v1::DeleteSessionResponse>& reply);
  // For calls that callers other than runners can also make.
  absl::Status CheckLease(Session& session, int64_t lease);
  void Append(const CallContext& caller, const v1::AppendEventsRequest& request,
              const Reply<v1::AppendEventsResponse>& reply);
  void Read(const CallContext& caller, const v1::ReadEventsRequest& request,
            const Reply<v1::ReadEventsResponse>& reply);
  void Move(const CallContext& caller, const v1::MovePlayerRequest& request,
            const Reply<v1::MovePlayerResponse>& reply);
  void AddText(const CallContext& caller, const v1::AddAgentTextRequest& request,
               const Reply<v1::AddAgentTextResponse>& reply);
  void AnswerText(const std::string& client_id, const SessionMetadata& session,
                  const AddedAgentText& text, const Reply<v1::AddAgentTextResponse>& reply);
  void Ask(const CallContext& caller, const v1::AskPermissionRequest& request,
           const Reply<v1::Permission>& reply);
  void AnswerPermission(const CallContext& caller, const v1::AnswerPermissionRequest& request,
                        const Reply<v1::Permission>& reply);
  void ListPermissions(const CallContext& caller, const v1::ListPermissionsRequest& request,
                       const Reply<v1::ListPermissionsResponse>& reply);
  void CancelPermissions(const CallContext& caller, const v1::CancelPermissionsRequest& request,
                         const Reply<v1::ListPermissionsResponse>& reply);

  void PutImage(const CallContext& caller, const v1::PutImageRequest& request,
                const Reply<v1::ImageRef>& reply);
  void GetImage(const CallContext& caller, const v1::GetImageRequest& request,
                const Reply<v1::GetImageResponse>& reply);

  void Watch(const CallContext& caller, const v1::WatchSessionRequest& request,
             const Stream<v1::SessionUpdate>& stream);
  void WatchAll(const CallContext& caller, const v1::WatchSessionsRequest& request,
                const Stream<v1::SessionNotice>& stream);
  void Play(const CallContext& caller, const v1::PlayRequest& request,
            const Stream<v1::SessionEvent>& stream);

  // Changes a session's metadata and answers with the stored result.
  void Change(const ClientScope& clients, const std::string& session_id,
              const Reply<v1::Session>& reply,
              std::function<absl::Status(Session&, absl::Time now)> change);

  Clock* const clock_;
  CommandTable* const commands_;
  SessionCaller* const sessions_;
  OutputGate* const gate_;
  SessionRunners* const runners_;
  ShellCommands shell_commands_;
  PlayerTable players_;
};

}  // namespace callslip::tracker
