#include "gateway/mcp/tools/arguments.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/error_details.h"
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
  if (!arguments.is_object()) return without;
  const auto wait_ms = arguments.find("wait_ms");
  if (wait_ms == arguments.end() || !wait_ms->is_number()) return without;
  return std::clamp(absl::Milliseconds(wait_ms->get<double>()), absl::ZeroDuration(), longest);
}

Arguments::Arguments(const Json& arguments) : arguments_(arguments) {
  known_.reserve(16);
  if (!arguments.is_object() && !arguments.is_null()) Fail("arguments must be an object");
}

const Json* Arguments::Find(const char* name) {
  known_.push_back(name);
  if (!arguments_.is_object()) return nullptr;
  const auto it = arguments_.find(name);
  return it == arguments_.end() || it->is_null() ? nullptr : &*it;
}

void Arguments::Fail(absl::string_view problem) {
  if (problem_.empty()) problem_ = std::string(problem);
}

std::optional<std::string> Arguments::Text(const char* name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  Fail(absl::StrCat("\"", name, "\" must be a string"));
  return std::nullopt;
}

std::optional<std::string> Arguments::NonEmptyText(const char* name) {
  std::optional<std::string> text = Text(name);
  if (text.has_value() && text->empty()) Fail(absl::StrCat("\"", name, "\" must not be empty"));
  return text;
}

std::optional<int64_t> Arguments::Integer(const char* name, int64_t min, int64_t max) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  // The parser makes integers beyond int64 unsigned or floating point.
  if (value->is_number_integer() &&
      (!value->is_number_unsigned() || value->get<uint64_t>() <= static_cast<uint64_t>(max))) {
    const auto number = value->get<int64_t>();
    if (number >= min && number <= max) return number;
  }
  Fail(absl::StrCat("\"", name, "\" must be an integer from ", min, " to ", max));
  return std::nullopt;
}

std::optional<bool> Arguments::Boolean(const char* name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  Fail(absl::StrCat("\"", name, "\" must be true or false"));
  return std::nullopt;
}

std::optional<std::vector<std::string>> Arguments::Texts(const char* name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  const auto is_string = [](const Json& each) { return each.is_string(); };
  if (value->is_array() && absl::c_all_of(*value, is_string)) {
    return value->get<std::vector<std::string>>();
  }
  Fail(absl::StrCat("\"", name, "\" must be a list of strings"));
  return std::nullopt;
}

std::string Arguments::PresentText(const char* name) {
  const std::optional<std::string> text = Text(name);
  if (!text.has_value()) Fail(absl::StrCat("\"", name, "\" is required"));
  return text.value_or("");
}

std::string Arguments::RequiredText(const char* name) {
  std::string text = PresentText(name);
  if (text.empty()) Fail(absl::StrCat("\"", name, "\" is required and must not be empty"));
  return text;
}

std::string Arguments::Id(const char* name) {
  std::string id = RequiredText(name);
  if (id.size() <= kMaxIdBytes) return id;
  Fail(absl::StrCat("\"", name, "\" must have at most ", kMaxIdBytes, " bytes"));
  return "";
}

std::string Arguments::Choice(const char* name, const std::vector<std::string>& choices) {
  const std::optional<std::string> text = Text(name);
  if (text.has_value() && absl::c_linear_search(choices, *text)) return *text;
  Fail(absl::StrCat("\"", name, "\" must be one of ", absl::StrJoin(choices, ", ")));
  return "";
}

std::optional<std::string> Arguments::OptionalChoice(const char* name,
                                                     const std::vector<std::string>& choices) {
  if (Find(name) == nullptr) return std::nullopt;
  return Choice(name, choices);
}

int64_t Arguments::RequiredInteger(const char* name, int64_t min, int64_t max) {
  const std::optional<int64_t> number = Integer(name, min, max);
  if (!number.has_value()) Fail(absl::StrCat("\"", name, "\" is required"));
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
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_object() && !value->empty() && value->size() <= most) return *value;
  Fail(absl::StrCat("\"", name, "\" must be an object of 1 to ", most, " members"));
  return std::nullopt;
}

std::optional<std::vector<Json>> Arguments::Objects(const char* name, size_t most) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  const auto is_object = [](const Json& each) { return each.is_object(); };
  if (value->is_array() && !value->empty() && value->size() <= most &&
      absl::c_all_of(*value, is_object)) {
    return std::vector<Json>(value->begin(), value->end());
  }
  Fail(absl::StrCat("\"", name, "\" must be a list of 1 to ", most, " objects"));
  return std::nullopt;
}

std::string Arguments::Problem() const {
  if (!problem_.empty() || !arguments_.is_object()) return problem_;
  for (const auto& [name, value] : arguments_.items()) {
    if (absl::c_linear_search(known_, name)) continue;
    const std::set<absl::string_view> known(known_.begin(), known_.end());
    // Shortened, but recognizable: the model pays for its own mistake.
    return absl::StrCat("\"", Shortened(name), "\" is not used here; known are ",
                        absl::StrJoin(known, ", "));
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
