// What the agent of a session asks for, for SessionRunner.
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/error_details.h"
#include "common/log.h"
#include "common/random.h"
#include "common/text_scan.h"
#include "runner/session/session_calls.h"
#include "runner/session/session_runner.h"

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

std::string TitleOf(const PermissionQuestion& question) {
  return std::string(CutText(question.tool_call.title.value_or(""), kMaxTitleBytes));
}

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

v1::SessionEvent DecidedByPolicy(const PermissionQuestion& question, const std::string& id,
                                 const std::string& option) {
  v1::SessionEvent event;
  v1::PermissionEvent& permission = *event.mutable_permission();
  permission.set_title(TitleOf(question));
  permission.set_selected_option(IdText(option));
  permission.set_outcome("selected");
  permission.set_permission_id(id);
  permission.set_tool_call_id(IdText(question.tool_call.id));
  permission.set_decided_by("policy");
  return event;
}

}  // namespace

void SessionRunner::OnPermission(PermissionQuestion question,
                                 std::function<void(PermissionChoice)> answer) {
  // Nobody can answer it before it is asked.
  const std::string permission_id = absl::StrCat("acp-", RandomHex128());
  if (tool_calls_.has_value()) tool_calls_->Complete(question);
  const std::optional<std::string> decided =
      plan_.permissions.Decide(question.tool_call.kind.value_or(""), question.options);
  if (decided.has_value()) {
    recorder_->Add(DecidedByPolicy(question, permission_id, *decided));
    return answer(decided);
  }
  questions_[question.number] = permission_id;
  NoteBusy();
  Spawn(Ask(std::move(question), permission_id, std::move(answer)));
}

void SessionRunner::OnPermissionOver(int64_t number) {
  const auto question = questions_.extract(number);
  if (!question.empty()) Spawn(Withdraw(question.mapped()));
  NoteBusy();
}

void SessionRunner::WithdrawQuestions() {
  for (auto& [number, permission_id] : std::exchange(questions_, {})) {
    Spawn(Withdraw(std::move(permission_id)));
  }
}

boost::asio::awaitable<void> SessionRunner::Withdraw(std::string permission_id) {
  const auto self = shared_from_this();
  auto request = For<v1::CancelPermissionsRequest>();
  request.set_permission_id(std::move(permission_id));
  // Refused, the session has ended, and the question with it.
  co_await Persistently(std::move(request));
}

boost::asio::awaitable<void> SessionRunner::Ask(PermissionQuestion question,
                                                std::string permission_id,
                                                std::function<void(PermissionChoice)> answer) {
  const auto self = shared_from_this();
  const ActiveSpan span = spans_.BeginQuestion();
  const auto is_open = [&] {
    const auto open = questions_.find(question.number);
    return open != questions_.end() && open->second == permission_id && !released_;
  };
  // What the agent has said before is seen before.
  co_await recorder_->Flush();
  auto request = For<v1::AskPermissionRequest>();
  request.set_permission_id(permission_id);
  const std::string title = TitleOf(question);
  request.set_title(title.empty() ? "The agent asks for permission" : title);
  request.set_tool_call_id(IdText(question.tool_call.id));
  request.set_kind(std::string(CutText(question.tool_call.kind.value_or(""), kWordBytes)));
  request.set_details(DetailsOf(question));
  AddOptions(question, request);
  request.set_parent_may_allow(plan_.parents_allow);
  request.set_max_wait_ms(kAskMs);
  PermissionChoice choice;
  TryAgain again;
  while (is_open()) {
    const auto asked = co_await host_->tracker->Call(request);
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
          {{"session", id()},
           {"traceparent", span.context().ToString()},
           {"error", std::string(asked.status().message())}});
      recorder_->Add(CouldNotAsk(question, asked.status()));
      choice = Rejection(question);
      break;
    }
    co_await Pause(*host_->timers, again.Next());
  }
  if (!is_open()) co_return;
  questions_.erase(question.number);
  answer(choice);
  NoteBusy();
}

}  // namespace callslip::runner
