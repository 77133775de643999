#include "gateway/mcp/tools/browser_fields.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace callslip::gateway {
namespace {

using Kind = BrowserField::Kind;

std::string ReadPageUrl(const BrowserField& field, Arguments& arguments) {
  std::string url = arguments.RequiredText(field.name);
  const bool allowed = absl::StartsWithIgnoreCase(url, "http://") ||
                       absl::StartsWithIgnoreCase(url, "https://") || url == "about:blank";
  if (!allowed) {
    arguments.Fail(absl::StrCat("\"", field.name,
                                "\" must begin with http:// or https://, or be about:blank"));
  }
  return url;
}

bool IsFieldValue(const Json& value) {
  const auto is_string = [](const Json& each) { return each.is_string(); };
  return value.is_string() || value.is_boolean() || value.is_number() ||
         (value.is_array() && absl::c_all_of(value, is_string));
}

std::optional<Json> ReadFieldValues(const BrowserField& field, Arguments& arguments) {
  std::optional<Json> values = arguments.Object(field.name, kMaxFields);
  if (!values.has_value()) return std::nullopt;
  for (const auto& [element, value] : values->items()) {
    if (element.empty() || !IsFieldValue(value)) {
      arguments.Fail(absl::StrCat("\"", field.name,
                                  "\" must have elements as names, and texts, numbers, true, false "
                                  "or lists of texts as values"));
    }
  }
  return values;
}

std::optional<Json> ReadPaths(const BrowserField& field, Arguments& arguments) {
  std::optional<std::vector<std::string>> paths = arguments.Texts(field.name);
  if (!paths.has_value()) return std::nullopt;
  const bool fit = absl::c_all_of(*paths, [](const std::string& path) {
    return !path.empty() && path.size() <= kMaxPathBytes;
  });
  if (paths->empty() || paths->size() > kMaxFiles || !fit) {
    arguments.Fail(absl::StrCat("\"", field.name, "\" must be a list of 1 to ", kMaxFiles,
                                " paths of at most ", kMaxPathBytes, " bytes"));
  }
  return *std::move(paths);
}

std::optional<Json> ReadOptional(const BrowserField& field, Arguments& arguments) {
  const auto json = [](const auto& value) {
    return value.has_value() ? std::optional<Json>(*value) : std::nullopt;
  };
  switch (field.kind) {
    case Kind::kText: return json(arguments.NonEmptyText(field.name));
    case Kind::kPresentText: return json(arguments.Text(field.name));
    case Kind::kTexts: return json(arguments.Texts(field.name));
    case Kind::kBoolean: return json(arguments.Boolean(field.name));
    case Kind::kInteger: return json(arguments.Integer(field.name, field.min, field.max));
    case Kind::kChoice:
      return json(
          arguments.OptionalChoice(field.name, {field.choices.begin(), field.choices.end()}));
    case Kind::kFieldValues: return ReadFieldValues(field, arguments);
    case Kind::kPaths: return ReadPaths(field, arguments);
    case Kind::kPageUrl:  // Always required.
    case Kind::kSteps:    // Read by browser_actions.cc, which knows the actions.
      break;
  }
  return std::nullopt;
}

Json ListSchema(const char* type) { return {{"type", "array"}, {"items", {{"type", type}}}}; }

}  // namespace

Json SchemaOf(const BrowserField& field) {
  switch (field.kind) {
    case Kind::kText:
    case Kind::kPresentText:
    case Kind::kPageUrl: return {{"type", "string"}};
    case Kind::kTexts:
    case Kind::kPaths: return ListSchema("string");
    case Kind::kBoolean: return {{"type", "boolean"}};
    case Kind::kInteger: return {{"type", "integer"}};
    case Kind::kChoice: return {{"enum", field.choices}};
    case Kind::kFieldValues: return {{"type", "object"}};
    case Kind::kSteps: return ListSchema("object");
  }
  return Json::object();
}

std::optional<Json> ReadBrowserField(const BrowserField& field, Arguments& arguments) {
  if (field.kind == Kind::kPageUrl) return ReadPageUrl(field, arguments);
  // RequiredText() reports a missing or an empty text itself.
  if (field.required && field.kind == Kind::kText) return arguments.RequiredText(field.name);
  std::optional<Json> value = ReadOptional(field, arguments);
  if (field.required && !value.has_value()) {
    arguments.Fail(absl::StrCat("\"", field.name, "\" is required"));
  }
  return value;
}

}  // namespace callslip::gateway
