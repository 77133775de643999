#include "gateway/extension/sync_command.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text_scan.h"
#include "gateway/json/command_json.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

// Reads as much text of a page as Callslip's own extension sends.
constexpr char kGetPage[] =
    "(() => { const text = document.body ? document.body.innerText : ''; "
    "return Object.assign({title: document.title, url: location.href, text: text.slice(0, "
    "100000)}, "
    "text.length > 100000 ? {truncated: true} : {}); })()";

v1::CommandError Refusal(absl::string_view code, absl::string_view message,
                         absl::string_view hint) {
  v1::CommandError error;
  error.set_code(std::string(code));
  error.set_message(std::string(message));
  error.set_hint(std::string(hint));
  error.set_may_have_executed(false);
  return error;
}

// Type and params of a command; null if `action` has no equivalent.
Json Translated(const std::string& action, const Json& params, int64_t timeout_ms) {
  const auto execute = [&](const Json& script) {
    return Json{{"type", "execute"},
                {"params", {{"script", script}, {"timeout_ms", timeout_ms}, {"world", "auto"}}}};
  };
  if (action == "execute_js") return execute(MemberOf(params, "script"));
  if (action == "get_page" || action == "page") return execute(kGetPage);
  if (action == "navigate") {
    return {{"type", "browser_action"},
            {"params", {{"action", "navigate"}, {"url", MemberOf(params, "url")}}}};
  }
  if (action == "click" || action == "type") {
    Json dom_action = {{"action", action}, {"selector", MemberOf(params, "selector")}};
    if (action == "type") {
      dom_action["text"] = MemberOf(params, "text");
      dom_action["clear"] = IsTrue(params, "clear");
    }
    return {{"type", "dom_action"}, {"params", std::move(dom_action)}};
  }
  if (action == "screenshot") return {{"type", "screenshot"}, {"params", {{"format", "png"}}}};
  return nullptr;
}

}  // namespace

std::variant<Json, v1::CommandError> SyncCommand(const v1::CommandLease& lease,
                                                 const SyncRequest& caller) {
  const v1::Command& command = lease.command();
  const Json params = JsonOrText(command.params());
  std::string action = TextOf(params, "action");
  // Commands of other services may name their action only by the type.
  if (action.empty()) action = command.type();
  Json translated =
      Translated(action, params, absl::ToInt64Milliseconds(DurationOf(lease.start_to_close())));
  if (translated.is_null()) {
    return Refusal(
        "unknown_action",
        absl::StrCat("The extension that is connected cannot do \"", CutText(action, 64), "\"."),
        "Use another action, or connect the Callslip extension.");
  }
  const Json& tab = MemberOf(params, "tab_id");
  if (!caller.may_be_held && !tab.is_null() && tab != caller.tracked_tab_id) {
    return Refusal(
        "tab_not_tracked",
        "The extension that is connected acts in the tab that its user tracks, and in no "
        "other.",
        "Leave tab_id out, or ask the user to track that tab.");
  }
  if (tab.is_number_integer()) {
    translated["tab_id"] = tab;
  } else if (caller.tracked_tab_id == 0) {
    translated["params"]["use_active_tab"] = true;
  }
  translated["id"] = SyncId(command.command_id(), lease.lease_token());
  translated["correlation_id"] = command.command_id();
  return translated;
}

}  // namespace callslip::gateway
