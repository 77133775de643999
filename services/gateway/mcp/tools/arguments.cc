#include "gateway/mcp/tools/arguments.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error_details.h"
#include "common/json_members.h"
#include "common/text_scan.h"
#include "gateway/json/command_json.h"

namespace callslip::gateway {
namespace {

std::string Shortened(const std::string& text) {
  constexpr size_t kMaxBytes = 64;
  return text.size() <= kMaxBytes ? text : absl::StrCat(CutText(text, kMaxBytes), "…");
}

}  // namespace

absl::Duration WaitIn(const Json& arguments, absl::Duration without, absl::Duration longest) {
  const Json& wait_ms = MemberOf(arguments, "wait_ms");
  if (!wait_ms.is_number()) return without;
  return std::clamp(absl::Milliseconds(wait_ms.get<double>()), absl::ZeroDuration(), longest);
}

Arguments::Arguments(const Json& arguments) : JsonFields(arguments, "\"", "a list") {
  if (!arguments.is_object() && !arguments.is_null()) Fail("arguments must be an object");
}

std::optional<std::string> Arguments::NonEmptyText(const char* name) {
  std::optional<std::string> text = Text(name);
  if (text.has_value() && text->empty()) FailAt(name, "must not be empty");
  return text;
}

std::string Arguments::PresentText(const char* name) {
  const std::optional<std::string> text = Text(name);
  if (!text.has_value()) FailAt(name, "is required");
  return text.value_or("");
}

std::string Arguments::RequiredText(const char* name) {
  std::string text = PresentText(name);
  if (text.empty()) FailAt(name, "is required and must not be empty");
  return text;
}

std::string Arguments::Id(const char* name) {
  std::string id = RequiredText(name);
  if (id.size() <= kMaxIdBytes) return id;
  FailAt(name, absl::StrCat("must have at most ", kMaxIdBytes, " bytes"));
  return "";
}

std::optional<std::string> Arguments::OptionalChoice(const char* name,
                                                     const std::vector<std::string>& choices) {
  if (Find(name) == nullptr) return std::nullopt;
  return Choice(name, choices);
}

int64_t Arguments::RequiredInteger(const char* name, int64_t min, int64_t max) {
  const std::optional<int64_t> number = Integer(name, min, max);
  if (!number.has_value()) FailAt(name, "is required");
  return number.value_or(min);
}

void Arguments::NeedOneOf(const std::vector<const char*>& names) {
  Fail(absl::StrCat("one of \"", absl::StrJoin(names, "\", \""), "\" is required"));
}

void Arguments::NeedBoth(const char* one, const char* other) {
  Fail(absl::StrCat("\"", one, "\" and \"", other, "\" go together"));
}

void Arguments::NotBoth(const char* one, const char* other) {
  Fail(absl::StrCat("\"", one, "\" and \"", other, "\" can't stand side by side"));
}

std::optional<Json> Arguments::Object(const char* name, size_t most) {
  const auto fits = [most](const Json& value) {
    return value.is_object() && !value.empty() && value.size() <= most;
  };
  const Json* value = Find(name, fits, absl::StrCat("an object of 1 to ", most, " members"));
  if (value == nullptr) return std::nullopt;
  return *value;
}

std::optional<std::vector<Json>> Arguments::Objects(const char* name, size_t most) {
  const auto is_object = [](const Json& each) { return each.is_object(); };
  const auto fits = [&](const Json& value) {
    return value.is_array() && !value.empty() && value.size() <= most &&
           absl::c_all_of(value, is_object);
  };
  const Json* value = Find(name, fits, absl::StrCat("a list of 1 to ", most, " objects"));
  if (value == nullptr) return std::nullopt;
  return std::vector<Json>(value->begin(), value->end());
}

std::string Arguments::Problem() const {
  if (!problem().empty() || !object().is_object()) return problem();
  for (const auto& [name, value] : object().items()) {
    if (absl::c_linear_search(known(), name)) continue;
    const std::set<absl::string_view> names(known().begin(), known().end());
    // Shortened, but recognizable: the model pays for its own mistake.
    return absl::StrCat("\"", Shortened(name), "\" is not used here; known are ",
                        absl::StrJoin(names, ", "));
  }
  return "";
}

absl::Status Arguments::status() const {
  const std::string problem = Problem();
  if (problem.empty()) return absl::OkStatus();
  return ErrorWithDetails(
      absl::StatusCode::kInvalidArgument, absl::StrCat(problem, "."),
      {.reason = "invalid_arguments", .hint = "Correct the arguments and call the tool again."});
}

}  // namespace callslip::gateway
