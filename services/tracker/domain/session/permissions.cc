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

// Callers that wait for one answer: a runner and its retries.
constexpr size_t kMaxCallbacks = 8;

absl::Status Check(const PermissionRequest& request) {
  if (request.id.size() > kMaxClientIdBytes) {
    return InvalidField("request_id", absl::StrCat("is longer than ", kMaxClientIdBytes, " bytes"));
  }
  if (request.title.size() > kMaxMessageBytes) {
    return InvalidField("title", absl::StrCat("is longer than ", kMaxMessageBytes, " bytes"));
  }
  if (request.options.empty() || request.options.size() > kMaxPermissionOptions) {
    return InvalidField("options", absl::StrCat("has to name 1 to ", kMaxPermissionOptions));
  }
  for (const PermissionOption& option : request.options) {
    if (option.id.empty()) return InvalidField("options", "holds one without an id");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Permissions::Asked> Permissions::Ask(PermissionRequest request,
                                                    PermissionCallback callback, absl::Time now) {
  RETURN_IF_ERROR(Check(request));
  if (request.id.empty()) request.id = absl::StrFormat("perm-%016x", Random64());
  for (Open& open : open_) {
    if (open.request.id != request.id) continue;
    // The oldest of them waits in vain: its connection is gone.
    if (open.callbacks.size() == kMaxCallbacks) open.callbacks.erase(open.callbacks.begin());
    open.callbacks.push_back(std::move(callback));
    return Asked{open.request, false, std::nullopt};
  }
  if (const PermissionAnswer* answer = FindAnswer(request.id); answer != nullptr) {
    return Asked{std::move(request), false, *answer};
  }
  if (open_.size() >= kMaxOpenPermissions) return TooManyPermissions(kMaxOpenPermissions);
  request.asked_at = now;
  open_.push_back({std::move(request), {std::move(callback)}});
  return Asked{open_.back().request, true, std::nullopt};
}

absl::StatusOr<Permissions::Closed> Permissions::Answer(PermissionAnswer answer) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const Open& open) {
    return open.request.id == answer.request_id;
  });
  if (found == open_.end()) {
    return FindAnswer(answer.request_id) != nullptr ? PermissionAnswered(answer.request_id)
                                                    : PermissionNotFound(answer.request_id);
  }
  const auto& options = found->request.options;
  if (std::none_of(options.begin(), options.end(),
                   [&](const PermissionOption& option) { return option.id == answer.option_id; })) {
    return InvalidField("option_id", "is none of those that the request offers");
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

std::vector<PermissionRequest> Permissions::open() const {
  std::vector<PermissionRequest> requests;
  requests.reserve(open_.size());
  for (const Open& open : open_) requests.push_back(open.request);
  return requests;
}

std::vector<PermissionCallback> Permissions::TakeCallbacks() {
  std::vector<PermissionCallback> taken;
  for (Open& open : open_) {
    for (PermissionCallback& callback : open.callbacks) taken.push_back(std::move(callback));
    open.callbacks.clear();
  }
  return taken;
}

const PermissionAnswer* Permissions::FindAnswer(absl::string_view id) const {
  for (const PermissionAnswer& answer : answers_) {
    if (answer.request_id == id) return &answer;
  }
  return nullptr;
}

Permissions::Closed Permissions::Close(Open open, PermissionAnswer answer) {
  answers_.push_back(answer);
  if (answers_.size() > kRememberedAnswers) answers_.pop_front();
  return {std::move(open.request), std::move(answer), std::move(open.callbacks)};
}

}  // namespace callslip::tracker
