#include "telemetry/otlp_fields.h"

namespace callslip {
namespace {

// AnyValue: one of string_value = 1, bool_value = 2, int_value = 3.
size_t ValueBytes(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return FieldBytes(text->size());
  const auto* number = std::get_if<int64_t>(&value);
  return number == nullptr ? 2 : 1 + VarintBytes(static_cast<uint64_t>(*number));
}
void WriteValue(const AttributeValue& value, FieldWriter& fields) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    fields.AlwaysBytes(1, *text);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    fields.AlwaysVarint(3, static_cast<uint64_t>(*number));
  } else {
    fields.AlwaysVarint(2, std::get<bool>(value) ? 1 : 0);
  }
}

}  // namespace

// KeyValue: key = 1, value = 2.
void WriteAttribute(int field, absl::string_view key, const AttributeValue& value,
                    FieldWriter& fields) {
  const size_t value_bytes = ValueBytes(value);
  const size_t key_bytes = key.empty() ? 0 : FieldBytes(key.size());
  fields.Message(field, key_bytes + FieldBytes(value_bytes));
  fields.Bytes(1, key);
  fields.Message(2, value_bytes);
  WriteValue(value, fields);
}

}  // namespace callslip
