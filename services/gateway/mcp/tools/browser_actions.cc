#include "gateway/mcp/tools/browser_actions.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace callslip::gateway {
namespace {

using Field = BrowserAction::Field;
using Kind = Field::Kind;

constexpr const char* kStates[] = {"visible", "hidden", "attached"};
constexpr const char* kLevels[] = {"debug", "log", "info", "warn", "error"};
constexpr const char* kPageViews[] = {"all", "interactive", "text", "urls"};
constexpr const char* kReports[] = {"changes", "page", "none"};

constexpr Field kTabId = {.name = "tab_id", .kind = Kind::kInteger, .max = INT32_MAX};
constexpr Field kClosedTabId = {
    .name = "tab_id", .kind = Kind::kInteger, .required = true, .max = INT32_MAX};
constexpr Field kSelector = {.name = "selector"};
constexpr Field kElement = {.name = "selector", .required = true};
constexpr Field kText = {.name = "text"};
constexpr Field kUrl = {.name = "url", .kind = Kind::kPageUrl, .required = true};
constexpr Field kState = {.name = "state", .kind = Kind::kChoice, .choices = kStates};
// The most that the extension returns at once.
constexpr Field kElements = {.name = "limit", .kind = Kind::kInteger, .min = 1, .max = 100};
constexpr Field kEntries = {.name = "limit", .kind = Kind::kInteger, .min = 1, .max = 200};
constexpr Field kCharacters = {.name = "limit", .kind = Kind::kInteger, .min = 200, .max = 60'000};
// More than the length of any page.
constexpr int64_t kPixels = 1'000'000;

constexpr Field Pixels(const char* name) {
  return {.name = name, .kind = Kind::kInteger, .min = -kPixels, .max = kPixels};
}

constexpr Field Boolean(const char* name) { return {.name = name, .kind = Kind::kBoolean}; }

constexpr Field Unlisted(Field field) {
  field.listed = false;
  return field;
}

// For actions that change the page: they can encounter a dialog, and report the changes.
std::vector<Field> Acting(std::vector<Field> fields) {
  fields.insert(fields.begin(), kTabId);
  fields.push_back({.name = "dialog", .kind = Kind::kPresentText});
  fields.push_back({.name = "view", .kind = Kind::kChoice, .choices = kReports});
  return fields;
}

const std::vector<BrowserAction>& Actions() {
  static const auto& actions = *new std::vector<BrowserAction>{
      {.name = "click",
       .fields = Acting({kSelector, Pixels("x"), Pixels("y"), {.name = "how"}}),
       .one_of = {"selector", "x"},
       .together = {"x", "y"},
       .step = true},
      {.name = "fill",
       .fields = Acting({{.name = "fields", .kind = Kind::kFieldValues, .required = true}}),
       .step = true},
      {.name = "type",
       .fields = Acting({kSelector,
                         {.name = "text", .kind = Kind::kPresentText, .required = true},
                         Unlisted(Boolean("clear"))}),
       .step = true},
      {.name = "select",
       .fields = Acting({kElement,
                         {.name = "value", .kind = Kind::kPresentText},
                         {.name = "values", .kind = Kind::kTexts},
                         {.name = "label", .kind = Kind::kPresentText}}),
       .one_of = {"value", "values", "label"},
       .apart = {"value", "values", "label"},
       .step = true,
       .listed = false},
      {.name = "press",
       .fields = Acting({{.name = "key", .required = true}, kSelector}),
       .step = true},
      {.name = "hover",
       .fields = Acting({kSelector, Pixels("x"), Pixels("y")}),
       .one_of = {"selector", "x"},
       .together = {"x", "y"},
       .step = true},
      {.name = "drag",
       .fields = Acting({kSelector, Pixels("x"), Pixels("y"), {.name = "to", .required = true}}),
       .one_of = {"selector", "x"},
       .together = {"x", "y"},
       .step = true},
      {.name = "scroll",
       .fields = Acting(
           {kSelector, Pixels("x"), Pixels("y"), Unlisted(Pixels("dx")), Unlisted(Pixels("dy"))}),
       .one_of = {"selector", "x", "y", "dx", "dy"},
       .step = true},
      {.name = "select_text",
       .fields = Acting({kSelector, kText}),
       .one_of = {"selector", "text"},
       .step = true},
      {.name = "upload",
       .fields = Acting({kElement, {.name = "files", .kind = Kind::kPaths, .required = true}})},
      {.name = "wait_for",
       .fields = Acting({kSelector, kText, {.name = "url"}, kState}),
       .one_of = {"selector", "text", "url"},
       .step = true,
       .idempotent = true},
      {.name = "navigate", .fields = Acting({kUrl}), .step = true},
      {.name = "back", .fields = Acting({}), .step = true},
      {.name = "forward", .fields = Acting({}), .step = true},
      {.name = "reload", .fields = Acting({}), .step = true},
      {.name = "open_tab",
       .fields = {kUrl,
                  Unlisted(Boolean("background")),
                  {.name = "view", .kind = Kind::kChoice, .choices = kReports}}},
      {.name = "close_tab", .fields = {kClosedTabId}},
      {.name = "execute_js",
       .fields = Acting({{.name = "script", .required = true}}),
       .step = true},
      {.name = "batch",
       .fields = Acting({{.name = "steps", .kind = Kind::kSteps, .required = true}})},
      // Switching it on twice is harmless.
      {.name = "draw_mode",
       .fields = {kTabId, {.name = "session"}, {.name = "message"}},
       .idempotent = true},
      {.name = "page",
       .fields = {kTabId,
                  kSelector,
                  {.name = "view", .kind = Kind::kChoice, .choices = kPageViews},
                  {.name = "after"},
                  kCharacters},
       .idempotent = true,
       .subject = "page"},
      {.name = "find",
       .fields = {kTabId, kSelector, {.name = "text", .required = true}, kElements},
       .idempotent = true,
       .subject = "find"},
      {.name = "get_page", .fields = {kTabId}, .idempotent = true, .listed = false},
      {.name = "query",
       .fields = {kTabId, kSelector, kText, kElements},
       .one_of = {"selector", "text"},
       .idempotent = true,
       .listed = false},
      {.name = "screenshot",
       .fields = {kTabId, kSelector, Boolean("full_page"), Boolean("marks")},
       .apart = {"selector", "full_page"},
       .idempotent = true,
       .subject = "screenshot"},
      {.name = "console",
       .fields = {kTabId, kEntries,
                  Unlisted({.name = "level", .kind = Kind::kChoice, .choices = kLevels})},
       .idempotent = true,
       .subject = "console"},
      {.name = "network",
       .fields = {kTabId, kEntries, Unlisted({.name = "url_contains"}), kText},
       .idempotent = true,
       .subject = "network"},
      {.name = "list_tabs", .idempotent = true, .subject = "tabs"},
  };
  return actions;
}

// Reads the steps of a batch. An error names the first invalid step, counted from 1.
std::optional<Json> ReadSteps(const Field& field, Arguments& arguments) {
  const std::optional<std::vector<Json>> steps = arguments.Objects(field.name, kMaxSteps);
  if (!steps.has_value()) {
    arguments.Fail(absl::StrCat("\"", field.name, "\" is required"));
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const BrowserAction& action : Actions()) {
    if (action.step) names.emplace_back(action.name);
  }
  Json read = Json::array();
  for (size_t i = 0; i < steps->size(); ++i) {
    const auto fail = [&](const std::string& problem) {
      if (!problem.empty()) arguments.Fail(absl::StrCat("step ", i + 1, ": ", problem));
    };
    Arguments step((*steps)[i]);
    const std::string name = step.Choice("action", names);
    if (name.empty()) {
      fail(step.Problem());
      continue;
    }
    Json params = ReadBrowserAction(*FindBrowserAction(name), step);
    // These belong to the batch as a whole.
    for (const char* of_all : {"tab_id", "dialog", "view"}) {
      if (params.contains(of_all))
        step.Fail(absl::StrCat("\"", of_all, "\" must stand next to \"steps\", not in a step"));
    }
    fail(step.Problem());
    read.push_back(std::move(params));
  }
  return read;
}

}  // namespace

absl::Span<const BrowserAction> BrowserActions() { return Actions(); }

const BrowserAction* FindBrowserAction(const std::string& name) {
  const auto found =
      absl::c_find_if(Actions(), [&](const BrowserAction& action) { return action.name == name; });
  return found == Actions().end() ? nullptr : &*found;
}

Json ReadBrowserAction(const BrowserAction& action, Arguments& arguments) {
  Json params;
  params["action"] = action.name;
  for (const Field& field : action.fields) {
    std::optional<Json> value = field.kind == Kind::kSteps ? ReadSteps(field, arguments)
                                                           : ReadBrowserField(field, arguments);
    if (value.has_value()) params[field.name] = *std::move(value);
  }
  const bool enough =
      action.one_of.empty() ||
      absl::c_any_of(action.one_of, [&](const char* field) { return params.contains(field); });
  if (!enough) arguments.NeedOneOf(action.one_of);
  for (const char* field : action.together) {
    const bool all =
        absl::c_all_of(action.together, [&](const char* each) { return params.contains(each); });
    if (params.contains(field) && !all) arguments.NeedBoth(action.together[0], action.together[1]);
  }
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
