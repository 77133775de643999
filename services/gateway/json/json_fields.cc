#include "gateway/json/json_fields.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

bool IsArrayOf(const Json& value, bool (Json::*is_kind)() const noexcept) {
  return value.is_array() &&
         absl::c_all_of(value, [&](const Json& each) { return (each.*is_kind)(); });
}

}  // namespace

JsonFields JsonFields::OfBody(const std::string& body) {
  if (body.empty()) return {};
  JsonFields fields;
  absl::StatusOr<Json> object = ParseObject(body);
  fields.parsed_ = object.status();
  if (object.ok()) fields.own_ = *std::move(object);
  return fields;
}

JsonFields JsonFields::OfObject(Json object) {
  JsonFields fields;
  if (object.is_object()) {
    fields.own_ = std::move(object);
  } else {
    fields.Fail("it must be a JSON object");
  }
  return fields;
}

JsonFields JsonFields::OfQuery(const std::map<std::string, std::string>& query) {
  JsonFields fields;
  fields.is_query_ = true;
  fields.Add(query);
  return fields;
}

void JsonFields::Add(const std::map<std::string, std::string>& texts) {
  for (const auto& [name, value] : texts) own_[name] = value;
}

bool JsonFields::Has(const char* name) const { return !MemberOf(object(), name).is_null(); }

const Json* JsonFields::Find(const char* name) {
  known_.push_back(name);
  const Json& member = MemberOf(object(), name);
  return member.is_null() ? nullptr : &member;
}

const Json* JsonFields::Find(const char* name, absl::FunctionRef<bool(const Json&)> fits,
                             absl::string_view wanted) {
  const Json* value = Find(name);
  if (value == nullptr || fits(*value)) return value;
  FailAt(name, absl::StrCat("must be ", wanted));
  return nullptr;
}

Json JsonFields::Scalar(const char* name) {
  const Json* value = Find(name);
  if (value == nullptr) return nullptr;
  return is_query_ ? JsonOrText(value->get<std::string>()) : *value;
}

std::optional<std::string> JsonFields::OptionalText(const char* name) {
  const Json* text = Find(name, &Json::is_string, "a string");
  if (text == nullptr) return std::nullopt;
  return text->get<std::string>();
}

std::string JsonFields::Text(const char* name) { return OptionalText(name).value_or(""); }

std::string JsonFields::Choice(const char* name, const std::vector<std::string>& choices) {
  std::string text = Text(name);
  if (absl::c_linear_search(choices, text)) return text;
  FailAt(name, absl::StrCat("must be one of ", absl::StrJoin(choices, ", ")));
  return "";
}

std::optional<bool> JsonFields::Boolean(const char* name) {
  const Json value = Scalar(name);
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_null()) FailAt(name, "must be true or false");
  return std::nullopt;
}

std::optional<int64_t> JsonFields::Integer(const char* name, int64_t min, int64_t max) {
  const Json value = Scalar(name);
  if (value.is_null()) return std::nullopt;
  // The parser makes integers beyond int64 unsigned or floating point.
  if (value.is_number_integer() &&
      (!value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(max))) {
    const auto number = value.get<int64_t>();
    if (number >= min && number <= max) return number;
  }
  FailAt(name, absl::StrCat("must be an integer from ", min, " to ", max));
  return std::nullopt;
}

std::optional<double> JsonFields::Number(const char* name, double max) {
  const Json value = Scalar(name);
  if (value.is_null()) return std::nullopt;
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (number >= 0 && number <= max) return number;
  }
  FailAt(name, absl::StrCat("must be a number from 0 to ", max));
  return std::nullopt;
}

std::vector<std::string> JsonFields::Texts(const char* name) {
  return OptionalTexts(name).value_or(std::vector<std::string>());
}

std::optional<std::vector<std::string>> JsonFields::OptionalTexts(const char* name) {
  const auto fits = [](const Json& value) { return IsArrayOf(value, &Json::is_string); };
  const Json* texts = Find(name, fits, absl::StrCat(list_, " of strings"));
  if (texts == nullptr) return std::nullopt;
  return texts->get<std::vector<std::string>>();
}

Json JsonFields::Object(const char* name) {
  const Json* object = Find(name, &Json::is_object, "an object");
  return object == nullptr ? Json::object() : *object;
}

std::vector<Json> JsonFields::Objects(const char* name) {
  const auto fits = [](const Json& value) { return IsArrayOf(value, &Json::is_object); };
  const Json* objects = Find(name, fits, absl::StrCat(list_, " of objects"));
  if (objects == nullptr) return {};
  return objects->get<std::vector<Json>>();
}

void JsonFields::FailAt(const char* name, absl::string_view problem) {
  Fail(absl::StrCat(quote_, name, quote_, " ", problem));
}

void JsonFields::Fail(absl::string_view problem) {
  if (problem_.empty()) problem_ = std::string(problem);
}

absl::Status JsonFields::status() const {
  if (!parsed_.ok() || problem_.empty()) return parsed_;
  return BadField("invalid_field", absl::StrCat("The request does not fit: ", problem_, "."),
                  "Correct it and send it again.");
}

}  // namespace callslip::gateway
