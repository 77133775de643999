#include "tracker/domain/session/permissions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

bool IsRejection(const PermissionOption& option) {
  return option.kind == "reject_once" || option.kind == "reject_always";
}

absl::Status Check(const PermissionRequest& request) {
  RETURN_IF_ERROR(CheckClientId("permission_id", request.id));
  RETURN_IF_ERROR(CheckClientId("tool_call_id", request.tool_call_id));
  RETURN_IF_ERROR(CheckSize("kind", request.kind, kMaxReasonBytes));
  RETURN_IF_ERROR(CheckSize("details", request.details, kMaxPermissionDetailsBytes));
  RETURN_IF_ERROR(CheckSize("title", request.title, kMaxPermissionTitleBytes));
  if (request.options.empty() || request.options.size() > kMaxPermissionOptions) {
    return InvalidField("options", absl::StrCat("has to name 1 to ", kMaxPermissionOptions));
  }
  for (const PermissionOption& option : request.options) {
    if (option.id.empty()) return InvalidField("options", "holds one without an id");
    RETURN_IF_ERROR(CheckClientId("option_id", option.id));
    RETURN_IF_ERROR(CheckSize("name", option.name, kMaxOptionNameBytes));
    RETURN_IF_ERROR(CheckSize("kind", option.kind, kMaxReasonBytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Permissions::Asked> Permissions::Ask(PermissionRequest request,
                                                    std::shared_ptr<PermissionAsker> asker,
                                                    absl::Time now) {
  const bool joins = !request.id.empty() && request.options.empty();
  if (!joins) RETURN_IF_ERROR(Check(request));
  if (request.id.empty()) request.id = absl::StrFormat("perm-%016x", Random64());
  for (Open& open : open_) {
    if (open.request.id != request.id) continue;
    if (open.askers.size() >= kMaxAskers) return TooManyAskers(kMaxAskers);
    open.askers.push_back(std::move(asker));
    return Asked{open.request, false, std::nullopt};
  }
  if (const PermissionAnswer* answer = FindAnswer(request.id); answer != nullptr) {
    return Asked{std::move(request), false, *answer};
  }
  if (joins) return PermissionNotFound(request.id);
  if (open_.size() >= kMaxOpenPermissions) return TooManyPermissions(kMaxOpenPermissions);
  request.asked_at = now;
  open_.push_back({std::move(request), {std::move(asker)}});
  return Asked{open_.back().request, true, std::nullopt};
}

void Permissions::Remove(const PermissionAsker* asker) {
  for (Open& open : open_) {
    std::erase_if(open.askers, [&](const auto& one) { return one.get() == asker; });
  }
}

absl::StatusOr<Permissions::Closed> Permissions::Answer(PermissionAnswer answer) {
  if (answer.decided_by.empty()) answer.decided_by = kByPerson;
  if (answer.decided_by != kByPerson && answer.decided_by != kByAgent) {
    return InvalidField("decided_by", "has to be \"person\" or \"agent\"");
  }
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const Open& open) {
    return open.request.id == answer.request_id;
  });
  if (found == open_.end()) {
    return FindAnswer(answer.request_id) != nullptr ? PermissionAnswered(answer.request_id)
                                                    : PermissionNotFound(answer.request_id);
  }
  const PermissionOption* chosen = nullptr;
  for (const PermissionOption& option : found->request.options) {
    if (option.id != answer.option_id) continue;
    chosen = &option;
    // If two options have the same id, the asker can take either.
    if (!IsRejection(option)) break;
  }
  if (chosen == nullptr) {
    return InvalidField("option_id", "is not one of the options of the request");
  }
  if (answer.decided_by == kByAgent && !found->request.parent_may_allow && !IsRejection(*chosen)) {
    return PersonDecides();
  }
  Open open = std::move(*found);
  open_.erase(found);
  return Close(std::move(open), std::move(answer));
}

std::vector<Permissions::Closed> Permissions::CancelAll() {
  std::vector<Closed> closed;
  for (Open& open : std::exchange(open_, {})) {
    PermissionAnswer answer{.request_id = open.request.id};
    closed.push_back(Close(std::move(open), std::move(answer)));
  }
  return closed;
}

std::optional<Permissions::Closed> Permissions::Cancel(const std::string& id) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const Open& open) { return open.request.id == id; });
  if (found == open_.end()) {
    if (FindAnswer(id) == nullptr) Remember({.request_id = id});
    return std::nullopt;
  }
  Open open = std::move(*found);
  open_.erase(found);
  return Close(std::move(open), {.request_id = id});
}

std::vector<PermissionRequest> Permissions::open() const {
  std::vector<PermissionRequest> requests;
  requests.reserve(open_.size());
  for (const Open& open : open_) requests.push_back(open.request);
  return requests;
}

std::vector<std::shared_ptr<PermissionAsker>> Permissions::TakeAskers() {
  std::vector<std::shared_ptr<PermissionAsker>> taken;
  for (Open& open : open_) {
    for (auto& asker : std::exchange(open.askers, {})) taken.push_back(std::move(asker));
  }
  return taken;
}

const PermissionAnswer* Permissions::FindAnswer(absl::string_view id) const {
  for (const PermissionAnswer& answer : answers_) {
    if (answer.request_id == id) return &answer;
  }
  return nullptr;
}

void Permissions::Remember(PermissionAnswer answer) {
  answers_.push_back(std::move(answer));
  if (answers_.size() > kRememberedAnswers) answers_.pop_front();
}

Permissions::Closed Permissions::Close(Open open, PermissionAnswer answer) {
  Remember(answer);
  return {std::move(open.request), std::move(answer), std::move(open.askers)};
}

}  // namespace callslip::tracker
