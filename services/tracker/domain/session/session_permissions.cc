// Permission requests of the session's agent, and their answers.

#include <memory>
#include <utility>
#include <vector>

#include "common/status_macros.h"
#include "tracker/domain/command/command_validation.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {

absl::StatusOr<PermissionRequest> Session::AskPermission(PermissionRequest request,
                                                         std::shared_ptr<PermissionAsker> asker,
                                                         absl::Time now) {
  RETURN_IF_ERROR(CheckActive());
  RETURN_IF_ERROR(record_->CheckObject("details", request.details));
  ASSIGN_OR_RETURN(Permissions::Asked asked, permissions_.Ask(std::move(request), asker, now));
  if (asked.opened) Tell(PermissionChange{asked.request, std::nullopt});
  if (asked.answer.has_value()) {
    AfterCommit([asker, answer = *asked.answer](const absl::Status& status) {
      asker->OnAnswer(status.ok() ? absl::StatusOr<PermissionAnswer>(answer) : status);
    });
  }
  return asked.request;
}

absl::Status Session::AnswerPermission(PermissionAnswer answer, absl::Time now) {
  ASSIGN_OR_RETURN(Permissions::Closed closed, permissions_.Answer(std::move(answer)));
  return ClosePermission(std::move(closed), now);
}

absl::StatusOr<size_t> Session::CancelPermissions(absl::Time now) {
  std::vector<Permissions::Closed> all = permissions_.CancelAll();
  for (Permissions::Closed& closed : all) {
    RETURN_IF_ERROR(ClosePermission(std::move(closed), now));
  }
  return all.size();
}

absl::Status Session::CancelPermission(const std::string& id, absl::Time now) {
  RETURN_IF_ERROR(CheckClientId("permission_id", id));
  std::optional<Permissions::Closed> closed = permissions_.Cancel(id);
  if (!closed.has_value()) return absl::OkStatus();
  return ClosePermission(*std::move(closed), now);
}

absl::Status Session::ClosePermission(Permissions::Closed closed, absl::Time now) {
  const PermissionRecord event{.title = closed.request.title,
                               .selected_option = closed.answer.option_id,
                               .outcome = closed.answer.cancelled() ? "cancelled" : "selected",
                               .permission_id = closed.request.id,
                               .tool_call_id = closed.request.tool_call_id,
                               .decided_by = closed.answer.decided_by};
  AfterCommit(
      [askers = std::move(closed.askers), answer = closed.answer](const absl::Status& status) {
        for (const auto& asker : askers) {
          asker->OnAnswer(status.ok() ? absl::StatusOr<PermissionAnswer>(answer) : status);
        }
      });
  Tell(PermissionChange{std::move(closed.request), std::move(closed.answer)});
  return Append(event, now).status();
}

void Session::Tell(PermissionChange change) {
  NotifyAll(change);
  change.request.options.clear();
  change.request.details.clear();
  Cut(change.request.title, kMaxNoticeTitleBytes);
  AnnounceChange(SessionAction::kPermission, std::move(change));
}

}  // namespace callslip::tracker
