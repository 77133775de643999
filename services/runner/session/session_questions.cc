#include "runner/session/session_questions.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/text_scan.h"
#include "rpc_client/traced_executor.h"
#include "runner/session/session_host.h"
#include "runner/tracker/call_with_retry.h"

namespace callslip::runner {
namespace {

// The tracker's limits for a question.
constexpr size_t kMaxDetails = size_t{64} << 10;
constexpr size_t kMaxOptions = 16;
constexpr size_t kOptionNameBytes = size_t{1} << 10;
// Limit of the agent's option ids: a longer one cannot be picked.
constexpr size_t kOptionIdBytes = size_t{4} << 10;
constexpr size_t kWordBytes = 64;
// Limit of a title in an error message.
constexpr size_t kToldTitleBytes = 256;

// What the agent has sent about the request, within the limit for questions: omits members that can
// be large, and names them.
std::string DetailsOf(const PermissionQuestion& question) {
  if (!question.details.is_object()) return "";
  Json details = question.details;
  std::string text = Dump(details);
  for (const char* member : {"rawOutput", "content", "rawInput", "locations"}) {
    if (text.size() <= kMaxDetails) return text;
    if (details.erase(member) == 0) continue;
    details["left_out"].push_back(member);
    text = Dump(details);
  }
  return text.size() <= kMaxDetails ? text : R"({"left_out":["all"]})";
}

bool IsRejection(const PermissionOption& option) {
  return option.kind == "reject_once" || option.kind == "reject_always";
}

// The ids that the agent may take for those of other options: empty ones, and those of several
// options.
std::set<absl::string_view> UnclearIds(const PermissionQuestion& question) {
  std::set<absl::string_view> seen;
  std::set<absl::string_view> unclear = {""};
  for (const PermissionOption& option : question.options) {
    if (!seen.insert(option.id).second) unclear.insert(option.id);
  }
  return unclear;
}

// The options to show, at most 16, with at least one that rejects if there is any.
std::vector<const PermissionOption*> ShownOptions(const PermissionQuestion& question,
                                                  const std::set<absl::string_view>& unclear) {
  const auto rejects = [&](const PermissionOption& option) {
    return IsRejection(option) && !unclear.contains(option.id);
  };
  std::vector<const PermissionOption*> shown;
  for (const PermissionOption& option : question.options) {
    if (option.id.size() > kOptionIdBytes) continue;
    if (shown.size() < kMaxOptions) {
      shown.push_back(&option);
    } else if (rejects(option) &&
               absl::c_none_of(shown, [&](const auto* each) { return rejects(*each); })) {
      shown.back() = &option;
    }
  }
  return shown;
}

// Adds the options to show, each with a unique id: the agent's own id if that is unique. Returns
// the agent's ids by these ids.
std::map<std::string, std::string> AddOptions(const PermissionQuestion& question,
                                              v1::AskPermissionRequest& request) {
  const std::set<absl::string_view> unclear = UnclearIds(question);
  std::map<std::string, std::string> own_ids;
  for (const PermissionOption* option : ShownOptions(question, unclear)) {
    std::string id = IdText(option->id);
    for (size_t number = own_ids.size() + 1; id.empty() || own_ids.contains(id); ++number) {
      id = absl::StrCat("option-", number);
    }
    own_ids[id] = option->id;
    v1::Permission::Option& to = *request.add_options();
    to.set_option_id(std::move(id));
    to.set_name(std::string(CutText(option->name, kOptionNameBytes)));
    // Without a kind it is no rejection to the tracker, so a parent that may only reject cannot
    // pick it: the agent might take it for an allowance.
    if (IsRejection(*option) && unclear.contains(option->id)) continue;
    to.set_kind(std::string(CutText(option->kind, kWordBytes)));
  }
  return own_ids;
}

// Picked if no person could be asked: `cancelled` would end the whole turn.
PermissionChoice Rejection(const PermissionQuestion& question) {
  const std::set<absl::string_view> unclear = UnclearIds(question);
  for (const char* kind : {"reject_once", "reject_always"}) {
    const auto option = absl::c_find_if(question.options, [&](const PermissionOption& offered) {
      return offered.kind == kind && offered.id.size() <= kOptionIdBytes &&
             !unclear.contains(offered.id);
    });
    if (option != question.options.end()) return option->id;
  }
  return std::nullopt;
}

NewEvent CouldNotAsk(absl::string_view title, absl::string_view why) {
  return ErrorEvent(absl::StrCat("no one could be asked for permission for \"",
                                 CutText(title, kToldTitleBytes),
                                 "\", so it was not given: ", why));
}

}  // namespace

std::string TitleOf(const PermissionQuestion& question) {
  return std::string(CutText(question.tool_call.title.value_or(""), kMaxTitleBytes));
}

void SessionQuestions::Ask(const PermissionQuestion& question, const std::string& permission_id,
                           bool parent_may_allow, ActiveSpan span,
                           std::function<void(PermissionChoice)> answer) {
  if (open_.size() >= kMaxOpenQuestions) {
    recorder_->Add(CouldNotAsk(
        TitleOf(question), absl::StrCat(kMaxOpenQuestions, " questions of the agent are open")));
    return answer(Rejection(question));
  }
  open_[question.number] = permission_id;
  auto request = RequestAbout<v1::AskPermissionRequest>(session_);
  request.set_permission_id(permission_id);
  const std::string title = TitleOf(question);
  request.set_title(title.empty() ? "The agent asks for permission" : title);
  request.set_tool_call_id(IdText(question.tool_call.id));
  request.set_kind(std::string(CutText(question.tool_call.kind.value_or(""), kWordBytes)));
  request.set_details(DetailsOf(question));
  Asked asked{.number = question.number,
              .own_ids = AddOptions(question, request),
              .rejection = Rejection(question)};
  request.set_parent_may_allow(parent_may_allow);
  request.set_max_wait_ms(static_cast<int32_t>(absl::ToInt64Milliseconds(kMaxWait)));
  asked.request = std::move(request);
  boost::asio::any_io_executor executor = executor_;
  if (span) {
    executor = TracedExecutor(executor_, std::make_shared<const TraceContext>(span.context()));
  }
  SpawnFor(shared_from_this(), executor,
           AskTracker(std::move(asked), std::move(span), std::move(answer)));
}

void SessionQuestions::Withdraw(int64_t number) {
  const auto question = open_.extract(number);
  if (!question.empty())
    SpawnFor(shared_from_this(), executor_, WithdrawAtTracker(question.mapped()));
}

void SessionQuestions::WithdrawAll() {
  for (auto& [number, permission_id] : std::exchange(open_, {})) {
    SpawnFor(shared_from_this(), executor_, WithdrawAtTracker(std::move(permission_id)));
  }
}

void SessionQuestions::Release() {
  is_released_ = true;
  open_.clear();
}

boost::asio::awaitable<void> SessionQuestions::WithdrawAtTracker(std::string permission_id) {
  auto request = RequestAbout<v1::CancelPermissionsRequest>(session_);
  request.set_permission_id(std::move(permission_id));
  // If the tracker rejects this, the session has ended, and the question with it.
  co_await CallWithRetry(*tracker_, *timers_, std::move(request), [this] { return is_released_; });
}

boost::asio::awaitable<void> SessionQuestions::AskTracker(
    Asked question, ActiveSpan span, std::function<void(PermissionChoice)> answer) {
  const auto is_open = [&] {
    const auto open = open_.find(question.number);
    return open != open_.end() && open->second == question.request.permission_id();
  };
  // What the agent sent earlier must be visible first.
  co_await recorder_->Flush();
  PermissionChoice choice;
  Backoff again;
  while (is_open()) {
    const auto asked = co_await tracker_->Call(question.request);
    if (asked.ok() && asked->answered()) {
      const auto own_id = question.own_ids.find(asked->selected_option());
      choice = own_id == question.own_ids.end() ? asked->selected_option() : own_id->second;
      break;
    }
    if (asked.ok() && asked->cancelled()) break;
    if (asked.ok()) {
      again.Reset();
      continue;
    }
    const std::string reason = callslip::DetailsOf(asked.status()).reason;
    // A limit that was reached is temporary.
    const bool may_pass = again.MayPass(asked.status()) || reason == "too_many_waits" ||
                          reason == "too_many_permissions";
    if (!may_pass) {
      Log(LogLevel::kWarning, "a permission could not be asked for",
          {{"session", session_.session_id},
           {"traceparent", span.context().ToString()},
           {"error", std::string(asked.status().message())}});
      recorder_->Add(CouldNotAsk(question.request.title(), asked.status().message()));
      choice = question.rejection;
      break;
    }
    co_await Pause(*timers_, again.Next());
  }
  if (!is_open()) co_return;
  open_.erase(question.number);
  answer(choice);
}

}  // namespace callslip::runner
