#include "gateway/mcp/browser_actions.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace callslip::gateway {
namespace {

using Field = BrowserAction::Field;

constexpr Field kTabId = {.name = "tab_id", .kind = Field::Kind::kInteger, .max = INT32_MAX};
constexpr Field kClosedTabId = {
    .name = "tab_id", .kind = Field::Kind::kInteger, .required = true, .max = INT32_MAX};
constexpr Field kSelector = {.name = "selector"};
constexpr Field kElement = {.name = "selector", .required = true};
constexpr Field kText = {.name = "text"};
constexpr Field kUrl = {.name = "url", .kind = Field::Kind::kPageUrl, .required = true};
// The most that the extension returns at once.
constexpr Field kElements = {.name = "limit", .kind = Field::Kind::kInteger, .min = 1, .max = 100};
constexpr Field kEntries = {.name = "limit", .kind = Field::Kind::kInteger, .min = 1, .max = 200};
// Further than any page is long.
constexpr int64_t kPixels = 1'000'000;

constexpr Field Pixels(const char* name) {
  return {.name = name, .kind = Field::Kind::kInteger, .min = -kPixels, .max = kPixels};
}

const std::vector<BrowserAction>& Actions() {
  static const auto& actions = *new std::vector<BrowserAction>{
      {.name = "execute_js", .fields = {kTabId, {.name = "script", .required = true}}},
      {.name = "navigate", .fields = {kTabId, kUrl}},
      {.name = "back", .fields = {kTabId}},
      {.name = "forward", .fields = {kTabId}},
      {.name = "reload", .fields = {kTabId}},
      {.name = "get_page", .fields = {kTabId}, .idempotent = true},
      {.name = "query",
       .fields = {kTabId, kSelector, kText, kElements},
       .one_of = {"selector", "text"},
       .idempotent = true},
      {.name = "click", .fields = {kTabId, kElement}},
      {.name = "type",
       .fields = {kTabId,
                  kElement,
                  {.name = "text", .kind = Field::Kind::kPresentText, .required = true},
                  {.name = "clear", .kind = Field::Kind::kBoolean}}},
      {.name = "select",
       .fields = {kTabId,
                  kElement,
                  {.name = "value", .kind = Field::Kind::kPresentText},
                  {.name = "values", .kind = Field::Kind::kTexts},
                  {.name = "label", .kind = Field::Kind::kPresentText}},
       .one_of = {"value", "values", "label"},
       .apart = {"value", "values", "label"}},
      {.name = "press", .fields = {kTabId, {.name = "key", .required = true}, kSelector}},
      {.name = "hover", .fields = {kTabId, kElement}},
      {.name = "scroll",
       .fields = {kTabId, kSelector, Pixels("x"), Pixels("y"), Pixels("dx"), Pixels("dy")},
       .one_of = {"selector", "x", "y", "dx", "dy"}},
      {.name = "wait_for",
       .fields = {kTabId, kSelector, kText, {.name = "state", .kind = Field::Kind::kState}},
       .one_of = {"selector", "text"},
       .idempotent = true},
      {.name = "screenshot",
       .fields = {kTabId, kSelector, {.name = "full_page", .kind = Field::Kind::kBoolean}},
       .apart = {"selector", "full_page"},
       .idempotent = true},
      {.name = "console",
       .fields = {kTabId, kEntries, {.name = "level", .kind = Field::Kind::kLevel}},
       .idempotent = true},
      {.name = "network",
       .fields = {kTabId, kEntries, {.name = "url_contains"}},
       .idempotent = true},
      // Switching it on twice does no harm.
      {.name = "draw_mode",
       .fields = {kTabId, {.name = "session"}, {.name = "message"}},
       .idempotent = true},
      {.name = "list_tabs", .idempotent = true},
      {.name = "open_tab", .fields = {kUrl, {.name = "background", .kind = Field::Kind::kBoolean}}},
      {.name = "close_tab", .fields = {kClosedTabId}},
  };
  return actions;
}

std::string ReadPageUrl(const Field& field, Arguments& arguments) {
  std::string url = arguments.RequiredText(field.name);
  const bool allowed = absl::StartsWithIgnoreCase(url, "http://") ||
                       absl::StartsWithIgnoreCase(url, "https://") || url == "about:blank";
  if (!allowed) {
    arguments.Fail(absl::StrCat("\"", field.name,
                                "\" must begin with http:// or https://, or be about:blank"));
  }
  return url;
}

std::optional<Json> ReadField(const Field& field, Arguments& arguments) {
  const auto json = [](const auto& value) {
    return value.has_value() ? std::optional<Json>(*value) : std::nullopt;
  };
  switch (field.kind) {
    case Field::Kind::kText:
      if (field.required) return arguments.RequiredText(field.name);
      return json(arguments.NonEmptyText(field.name));
    case Field::Kind::kPresentText:
      if (field.required) return arguments.PresentText(field.name);
      return json(arguments.Text(field.name));
    case Field::Kind::kTexts:
      return json(arguments.Texts(field.name));
    case Field::Kind::kPageUrl:
      return ReadPageUrl(field, arguments);
    case Field::Kind::kBoolean:
      return json(arguments.Boolean(field.name));
    case Field::Kind::kInteger:
      if (field.required) return arguments.RequiredInteger(field.name, field.min, field.max);
      return json(arguments.Integer(field.name, field.min, field.max));
    case Field::Kind::kState:
      return json(arguments.OptionalChoice(field.name, {"visible", "hidden", "attached"}));
    case Field::Kind::kLevel:
      return json(arguments.OptionalChoice(field.name, {"debug", "log", "info", "warn", "error"}));
  }
  return std::nullopt;
}

}  // namespace

const BrowserAction* FindBrowserAction(const std::string& name) {
  const auto found =
      absl::c_find_if(Actions(), [&](const BrowserAction& action) { return action.name == name; });
  return found == Actions().end() ? nullptr : &*found;
}

std::vector<std::string> BrowserActionNames() {
  std::vector<std::string> names;
  for (const BrowserAction& action : Actions()) names.emplace_back(action.name);
  return names;
}

Json ReadBrowserAction(const BrowserAction& action, Arguments& arguments) {
  Json params;
  params["action"] = action.name;
  for (const Field& field : action.fields) {
    if (auto value = ReadField(field, arguments)) params[field.name] = *std::move(value);
  }
  const bool enough =
      action.one_of.empty() ||
      absl::c_any_of(action.one_of, [&](const char* field) { return params.contains(field); });
  if (!enough) arguments.NeedOneOf(action.one_of);
  const char* first = nullptr;
  for (const char* field : action.apart) {
    const auto given = params.find(field);
    if (given == params.end() || *given == false) continue;
    if (first != nullptr) arguments.NotBoth(first, field);
    first = field;
  }
  return params;
}

}  // namespace callslip::gateway
