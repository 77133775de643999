#include "runner/session/session_questions.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/co_spawn.hpp"
#include "common/error_details.h"
#include "common/log.h"
#include "common/text_scan.h"
#include "runner/tracker/persistence.h"

namespace callslip::runner {
namespace {

// Below the 60 s at which intermediaries give up.
constexpr int kAskMs = 55'000;
// What the tracker takes of a question.
constexpr size_t kMaxDetails = size_t{64} << 10;
constexpr size_t kMostOptions = 16;
constexpr size_t kOptionNameBytes = size_t{1} << 10;
constexpr size_t kWordBytes = 64;
// Of a question that is told of in an error.
constexpr size_t kToldTitleBytes = 256;

// What the agent has said of what it asks for, within what a question may show: the largest members
// are left out of more, and named.
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

// What each option is called at the tracker: as the agent has it, where that means this one alone.
std::vector<std::string> OptionIds(const PermissionQuestion& question) {
  std::vector<std::string> ids;
  for (const PermissionOption& option : question.options) {
    std::string id = IdText(option.id);
    for (size_t number = ids.size() + 1; id.empty() || absl::c_linear_search(ids, id); ++number) {
      id = absl::StrCat("option-", number);
    }
    ids.push_back(std::move(id));
  }
  return ids;
}

// The tracker takes 16, with names of 1 KiB. One to reject with is among them, where there is one.
void AddOptions(const PermissionQuestion& question, v1::AskPermissionRequest& request) {
  const std::vector<PermissionOption>& options = question.options;
  std::vector<size_t> shown;
  for (size_t i = 0; i < options.size(); ++i) {
    if (shown.size() < kMostOptions) {
      shown.push_back(i);
    } else if (IsRejection(options[i]) &&
               absl::c_none_of(shown, [&](size_t each) { return IsRejection(options[each]); })) {
      shown.back() = i;
    }
  }
  const std::vector<std::string> ids = OptionIds(question);
  for (const size_t i : shown) {
    v1::Permission::Option& to = *request.add_options();
    to.set_option_id(ids[i]);
    to.set_name(std::string(CutText(options[i].name, kOptionNameBytes)));
    to.set_kind(std::string(CutText(options[i].kind, kWordBytes)));
  }
}

// The agent's own id of what was selected.
PermissionChoice ChoiceOf(const PermissionQuestion& question, const std::string& selected) {
  const std::vector<std::string> ids = OptionIds(question);
  const auto found = absl::c_find(ids, selected);
  return found == ids.end() ? selected : question.options[found - ids.begin()].id;
}

// What is picked where nobody could be asked: `cancelled` would end the whole turn.
PermissionChoice Rejection(const PermissionQuestion& question) {
  for (const char* kind : {"reject_once", "reject_always"}) {
    const auto option = absl::c_find_if(
        question.options, [&](const PermissionOption& offered) { return offered.kind == kind; });
    if (option != question.options.end()) return option->id;
  }
  return std::nullopt;
}

v1::SessionEvent CouldNotAsk(const PermissionQuestion& question, const absl::Status& why) {
  v1::SessionEvent event;
  event.mutable_error()->set_message(absl::StrCat("nobody could be asked for permission for \"",
                                                  CutText(TitleOf(question), kToldTitleBytes),
                                                  "\", so it was not given: ", why.message()));
  return event;
}

}  // namespace

std::string TitleOf(const PermissionQuestion& question) {
  return std::string(CutText(question.tool_call.title.value_or(""), kMaxTitleBytes));
}

// They hold it until they have ended.
template <typename Coroutine>
void SessionQuestions::Spawn(Coroutine coroutine) {
  boost::asio::co_spawn(executor_, std::move(coroutine),
                        [self = shared_from_this()](const std::exception_ptr&) {});
}

void SessionQuestions::Ask(PermissionQuestion question, const std::string& permission_id,
                           bool parent_may_allow, ActiveSpan span,
                           std::function<void(PermissionChoice)> answer) {
  open_[question.number] = permission_id;
  Spawn(AskTracker(std::move(question), permission_id, parent_may_allow, std::move(span),
                   std::move(answer)));
}

void SessionQuestions::Withdraw(int64_t number) {
  const auto question = open_.extract(number);
  if (!question.empty()) Spawn(WithdrawAtTracker(question.mapped()));
}

void SessionQuestions::WithdrawAll() {
  for (auto& [number, permission_id] : std::exchange(open_, {})) {
    Spawn(WithdrawAtTracker(std::move(permission_id)));
  }
}

void SessionQuestions::Release() {
  is_released_ = true;
  open_.clear();
}

boost::asio::awaitable<void> SessionQuestions::WithdrawAtTracker(std::string permission_id) {
  auto request = RequestAbout<v1::CancelPermissionsRequest>(session_);
  request.set_permission_id(std::move(permission_id));
  // Refused, the session has ended, and the question with it.
  co_await Persist(*tracker_, *timers_, std::move(request), [this] { return is_released_; });
}

boost::asio::awaitable<void> SessionQuestions::AskTracker(
    PermissionQuestion question, std::string permission_id, bool parent_may_allow, ActiveSpan span,
    std::function<void(PermissionChoice)> answer) {
  const auto is_open = [&] {
    const auto open = open_.find(question.number);
    return open != open_.end() && open->second == permission_id;
  };
  // What the agent has said before is seen before.
  co_await recorder_->Flush();
  auto request = RequestAbout<v1::AskPermissionRequest>(session_);
  request.set_permission_id(permission_id);
  const std::string title = TitleOf(question);
  request.set_title(title.empty() ? "The agent asks for permission" : title);
  request.set_tool_call_id(IdText(question.tool_call.id));
  request.set_kind(std::string(CutText(question.tool_call.kind.value_or(""), kWordBytes)));
  request.set_details(DetailsOf(question));
  AddOptions(question, request);
  request.set_parent_may_allow(parent_may_allow);
  request.set_max_wait_ms(kAskMs);
  PermissionChoice choice;
  TryAgain again;
  while (is_open()) {
    const auto asked = co_await tracker_->Call(request);
    if (asked.ok() && asked->answered()) {
      choice = ChoiceOf(question, asked->selected_option());
      break;
    }
    if (asked.ok() && asked->cancelled()) break;
    if (asked.ok()) {
      again.Reset();
      continue;
    }
    const std::string reason = callslip::DetailsOf(asked.status()).reason;
    // Those that there are too many of end some time.
    const bool may_pass = again.MayPass(asked.status()) || reason == "too_many_waits" ||
                          reason == "too_many_permissions" || reason == "too_many_askers";
    if (!may_pass) {
      Log(LogLevel::kWarning, "a permission could not be asked for",
          {{"session", session_.session_id},
           {"traceparent", span.context().ToString()},
           {"error", std::string(asked.status().message())}});
      recorder_->Add(CouldNotAsk(question, asked.status()));
      choice = Rejection(question);
      break;
    }
    co_await Pause(*timers_, again.Next());
  }
  if (!is_open()) co_return;
  open_.erase(question.number);
  answer(choice);
}

}  // namespace callslip::runner
