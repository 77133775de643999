#include "gateway/mcp/tools/session_control.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/directories.h"
#include "common/error_details.h"
#include "gateway/json/json_members.h"
#include "gateway/json/runner_json.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {
namespace {

// More than the ancestors that a session can have.
constexpr int kMaxGenerations = 8;

absl::Status Refused(absl::string_view reason, absl::string_view message, absl::string_view hint) {
  return ErrorWithDetails(absl::StatusCode::kFailedPrecondition, message,
                          {.reason = std::string(reason), .hint = std::string(hint)});
}

std::string NamesIn(const Json& entries) {
  const auto name = [](std::string* out, const Json& entry) { *out += TextOf(entry, "name"); };
  return entries.empty() ? "none, for no runner is connected" : absl::StrJoin(entries, ", ", name);
}

const Json* Named(const Json& entries, const std::string& name) {
  const auto found =
      absl::c_find_if(entries, [&](const Json& entry) { return TextOf(entry, "name") == name; });
  return found == entries.end() ? nullptr : &*found;
}

absl::Status Unknown(absl::string_view what, const std::string& name, const Json& entries) {
  const std::string message =
      name.empty() ? absl::StrCat("Say which ", what, " is meant.")
                   : absl::StrCat("There is no ", what, " \"", name, "\" that could be used.");
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument, message,
      {.reason = absl::StrCat("unknown_", what),
       .hint = absl::StrCat("Name one of these as `", what, "`: ", NamesIn(entries), ".")});
}

// The name of the innermost workspace that contains the session; empty if none does.
std::string WorkspaceOf(const v1::Session& session, const Json& workspaces) {
  const Json* best = nullptr;
  for (const Json& each : workspaces) {
    if (!IsInside(session.working_dir(), TextOf(each, "dir"))) continue;
    if (best == nullptr || DepthOf(TextOf(each, "dir")) > DepthOf(TextOf(*best, "dir"))) {
      best = &each;
    }
  }
  return best == nullptr ? "" : TextOf(*best, "name");
}

// Fills the empty members of `wish`, and returns the directory. In its parent's workspace a child
// works in its parent's directory.
absl::StatusOr<std::string> Complete(const v1::Session& parent, const Json& offers,
                                     SessionControl::Wish& wish) {
  const Json& agents = offers["agents"];
  const Json& workspaces = offers["workspaces"];
  if (wish.agent.empty()) wish.agent = parent.acp_server();
  if (wish.agent.empty() && agents.size() == 1) wish.agent = TextOf(agents[0], "name");
  const Json* const agent = Named(agents, wish.agent);
  if (agent == nullptr) return Unknown("agent", wish.agent, agents);
  if (agent->contains("problem")) {
    return Refused("unknown_agent",
                   absl::StrCat("The agent \"", wish.agent,
                                "\" cannot be started: ", TextOf(*agent, "problem")),
                   absl::StrCat("The agents are: ", NamesIn(agents), "."));
  }
  if (wish.workspace.empty() && !parent.working_dir().empty()) return parent.working_dir();
  if (wish.workspace.empty() && workspaces.size() == 1) {
    wish.workspace = TextOf(workspaces[0], "name");
  }
  const Json* const workspace = Named(workspaces, wish.workspace);
  if (workspace == nullptr) return Unknown("workspace", wish.workspace, workspaces);
  if (WorkspaceOf(parent, workspaces) == wish.workspace) return parent.working_dir();
  return TextOf(*workspace, "dir");
}

}  // namespace

SessionControl::Result<Json> SessionControl::Agents() const {
  v1::ListRunnersRequest request;
  const auto runners = co_await sessions_->Call(std::move(request));
  if (!runners.ok()) co_return runners.status();
  Json offers = AgentsJson(*runners);
  offers.update(WorkspacesJson(*runners));
  for (Json& list : offers) {
    for (Json& entry : list) entry.erase("runner_ids");
  }
  co_return offers;
}

SessionControl::Result<v1::Session> SessionControl::Make(Caller caller, Wish wish) const {
  v1::Session parent;
  if (!caller.session.empty()) {
    auto get = RequestAbout<v1::GetSessionRequest>(caller.client, caller.session);
    auto found = co_await sessions_->Call(std::move(get));
    if (!found.ok()) co_return found.status();
    parent = *std::move(found);
  }
  const auto offers = co_await Agents();
  if (!offers.ok()) co_return offers.status();
  const auto dir = Complete(parent, *offers, wish);
  if (!dir.ok()) co_return dir.status();

  v1::CreateSessionRequest create;
  create.set_client_id(caller.client);
  create.set_name(wish.name);
  create.set_acp_server(wish.agent);
  create.set_working_dir(*dir);
  create.set_parent_session_id(caller.session);
  create.set_by_session_id(caller.session);
  create.set_detached(wish.detach);
  const auto session = co_await sessions_->Call(std::move(create));
  if (!session.ok()) co_return session.status();

  auto add = RequestAbout<v1::AddMessageRequest>(caller.client, session->session_id());
  add.set_message(wish.message);
  add.set_by_session_id(caller.session);
  const auto queued = co_await sessions_->Call(std::move(add));
  if (!queued.ok()) {
    // A session without its message is useless.
    auto remove = RequestAbout<v1::DeleteSessionRequest>(caller.client, session->session_id());
    (void)co_await sessions_->Call(std::move(remove));
    co_return queued.status();
  }
  co_return *session;
}

SessionControl::Result<v1::QueueStatus> SessionControl::Stop(Caller caller,
                                                             std::string session_id) const {
  auto request = RequestAbout<v1::StopTurnRequest>(caller.client, session_id);
  request.set_by_session_id(caller.session);
  co_return co_await sessions_->Call(std::move(request));
}

SessionControl::Result<v1::Session> SessionControl::End(Caller caller,
                                                        std::string session_id) const {
  auto request = RequestAbout<v1::EndSessionRequest>(caller.client, session_id);
  request.set_by_session_id(caller.session);
  request.set_reason("ended_by_agent");
  co_return co_await sessions_->Call(std::move(request));
}

SessionControl::Result<v1::Permission> SessionControl::Permit(Caller caller, std::string session_id,
                                                              std::string permission_id,
                                                              std::string option_id) const {
  auto request = RequestAbout<v1::AnswerPermissionRequest>(caller.client, session_id);
  request.set_by_session_id(caller.session);
  request.set_permission_id(permission_id);
  request.set_option_id(option_id);
  request.set_decided_by("agent");
  co_return co_await sessions_->Call(std::move(request));
}

boost::asio::awaitable<absl::Status> SessionControl::MayWait(Caller caller,
                                                             std::vector<std::string> ids) const {
  std::string session = caller.session;
  for (int i = 0; i < kMaxGenerations && !session.empty(); ++i) {
    if (absl::c_linear_search(ids, session)) {
      co_return Refused(
          "waits_for_itself",
          absl::StrCat("Session ", session,
                       session == caller.session ? " is your own" : " waits for yours",
                       ": its turn does not end before yours."),
          "Wait for sessions that you have made; end your turn with your answer.");
    }
    auto get = RequestAbout<v1::GetSessionRequest>(caller.client, session);
    const auto found = co_await sessions_->Call(std::move(get));
    // A deleted parent does not wait.
    if (absl::IsNotFound(found.status())) break;
    if (!found.ok()) co_return found.status();
    session = found->parent_session_id();
  }
  co_return absl::OkStatus();
}

}  // namespace callslip::gateway
