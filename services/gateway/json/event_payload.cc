#include "gateway/json/event_payload.h"

#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"

namespace callslip::gateway {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Left out where they are empty.
constexpr absl::string_view kOptional[] = {"images",
                                           "prompt_id",
                                           "queue_id",
                                           "kind",
                                           "raw_input",
                                           "raw_output",
                                           "locations",
                                           "code",
                                           "mime_type",
                                           "message_id",
                                           "permission_id",
                                           "decided_by",
                                           "ToolCallEvent.content",
                                           "ToolCallEvent.name",
                                           "PermissionEvent.tool_call_id"};
// Any JSON, which the message holds as text.
constexpr absl::string_view kRaw[] = {"raw_input", "raw_output", "locations",
                                      "ToolCallEvent.content", "ToolCallUpdateEvent.content"};

template <typename Names>
bool IsAmong(const Names& names, const FieldDescriptor* field) {
  const std::string qualified = absl::StrCat(field->containing_type()->name(), ".", field->name());
  return absl::c_linear_search(names, field->name()) || absl::c_linear_search(names, qualified);
}
bool IsOptional(const FieldDescriptor* field) { return IsAmong(kOptional, field); }
bool IsRaw(const FieldDescriptor* field) { return IsAmong(kRaw, field); }

bool IsAbsent(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  if (field->is_repeated()) {
    return IsOptional(field) && reflection->FieldSize(message, field) == 0;
  }
  // Without presence, HasField() tells whether it differs from the default.
  return (field->has_presence() || IsOptional(field)) && !reflection->HasField(message, field);
}

Json ValueOf(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  if (field->is_repeated()) {
    Json list = Json::array();
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      list.push_back(PayloadJson(reflection->GetRepeatedMessage(message, field, i)));
    }
    return list;
  }
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    return reflection->GetInt64(message, field);
  }
  std::string text = reflection->GetString(message, field);
  return IsRaw(field) ? JsonOrText(text) : Json(std::move(text));
}

bool SetValue(const Json& value, Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  if (field->is_repeated()) {
    if (!value.is_array()) return false;
    return absl::c_all_of(value, [&](const Json& each) {
      return ReadPayload(each, *reflection->AddMessage(&message, field));
    });
  }
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    if (!value.is_number_integer()) return false;
    // Above that, it would come back as a negative one, which nlohmann takes for equal.
    if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return false;
    reflection->SetInt64(&message, field, value.get<int64_t>());
    return true;
  }
  if (IsRaw(field)) {
    reflection->SetString(&message, field, Dump(value));
    return true;
  }
  if (!value.is_string()) return false;
  reflection->SetString(&message, field, value.get<std::string>());
  return true;
}

}  // namespace

Json PayloadJson(const Message& payload) {
  Json json = Json::object();
  const auto* descriptor = payload.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (!IsAbsent(payload, field)) json[field->name()] = ValueOf(payload, field);
  }
  return json;
}

bool ReadPayload(const Json& json, Message& payload) {
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items()) {
    const FieldDescriptor* field = payload.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr || !SetValue(value, payload, field)) return false;
  }
  // What was left out, or is empty where it should be left out, would come back otherwise.
  return PayloadJson(payload) == json;
}

}  // namespace callslip::gateway
