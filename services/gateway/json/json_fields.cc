#include "gateway/json/json_fields.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {

JsonFields JsonFields::OfBody(const std::string& body) {
  if (body.empty()) return {};
  JsonFields fields;
  absl::StatusOr<Json> object = ParseObject(body);
  fields.status_ = object.status();
  if (object.ok()) fields.object_ = *std::move(object);
  return fields;
}

JsonFields JsonFields::OfObject(Json object) {
  JsonFields fields;
  if (object.is_object()) {
    fields.object_ = std::move(object);
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
  for (const auto& [name, value] : texts) object_[name] = value;
}

Json JsonFields::Scalar(const char* name) const {
  const auto it = object_.find(name);
  if (it == object_.end()) return nullptr;
  if (!is_query_) return *it;
  return JsonOrText(it->get<std::string>());
}

bool JsonFields::Has(const char* name) const {
  const auto it = object_.find(name);
  return it != object_.end() && !it->is_null();
}

std::optional<std::string> JsonFields::OptionalText(const char* name) {
  if (!Has(name)) return std::nullopt;
  const Json& value = object_[name];
  if (value.is_string()) return value.get<std::string>();
  Fail(absl::StrCat(name, " must be a string"));
  return std::nullopt;
}

std::string JsonFields::Text(const char* name) { return OptionalText(name).value_or(""); }

std::string JsonFields::Choice(const char* name, const std::vector<std::string>& choices) {
  std::string text = Text(name);
  if (absl::c_linear_search(choices, text)) return text;
  Fail(absl::StrCat(name, " must be one of ", absl::StrJoin(choices, ", ")));
  return "";
}

std::optional<bool> JsonFields::Boolean(const char* name) {
  const Json value = Scalar(name);
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_null()) Fail(absl::StrCat(name, " must be true or false"));
  return std::nullopt;
}

std::optional<int64_t> JsonFields::Integer(const char* name, int64_t max, int64_t min) {
  const Json value = Scalar(name);
  if (value.is_null()) return std::nullopt;
  // Beyond int64, the parser makes it a float. Negative numbers are not unsigned.
  if (value.is_number_unsigned() && value.get<uint64_t>() <= static_cast<uint64_t>(max) &&
      value.get<int64_t>() >= min) {
    return value.get<int64_t>();
  }
  Fail(absl::StrCat(name, " must be an integer from ", min, " to ", max));
  return std::nullopt;
}

std::optional<double> JsonFields::Number(const char* name, double max) {
  const Json value = Scalar(name);
  if (value.is_null()) return std::nullopt;
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (number >= 0 && number <= max) return number;
  }
  Fail(absl::StrCat(name, " must be a number from 0 to ", max));
  return std::nullopt;
}

std::vector<std::string> JsonFields::Texts(const char* name) {
  std::vector<std::string> texts;
  if (!Has(name)) return texts;
  const Json& value = object_[name];
  const bool fits =
      value.is_array() && absl::c_all_of(value, [](const Json& each) { return each.is_string(); });
  if (!fits) {
    Fail(absl::StrCat(name, " must be an array of strings"));
    return texts;
  }
  for (const Json& each : value) texts.push_back(each.get<std::string>());
  return texts;
}

Json JsonFields::Object(const char* name) {
  if (!Has(name)) return Json::object();
  if (object_[name].is_object()) return object_[name];
  Fail(absl::StrCat(name, " must be an object"));
  return Json::object();
}

std::vector<Json> JsonFields::Objects(const char* name) {
  if (!Has(name)) return {};
  const Json& value = object_[name];
  const bool fits =
      value.is_array() && absl::c_all_of(value, [](const Json& each) { return each.is_object(); });
  if (!fits) {
    Fail(absl::StrCat(name, " must be an array of objects"));
    return {};
  }
  return value.get<std::vector<Json>>();
}

void JsonFields::Fail(absl::string_view problem) {
  if (!status_.ok()) return;
  status_ = BadField("invalid_field", absl::StrCat("The request does not fit: ", problem, "."),
                     "Correct it and send it again.");
}

}  // namespace callslip::gateway
