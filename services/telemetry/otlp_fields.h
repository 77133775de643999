#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"

namespace callslip {

// Encoding of OTLP messages: see otlp_encoding.h.

constexpr size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}
// The size of a field with `bytes` of content. All our fields have one-byte tags, except field 16.
constexpr size_t FieldBytes(size_t bytes) { return 1 + VarintBytes(bytes) + bytes; }

// Appends fields in protobuf's wire format (protobuf.dev/programming-guides/encoding). As there, a
// field with its default value is omitted, except by the Always… functions. Nested messages are
// written in place: their sizes are known beforehand.
class FieldWriter {
 public:
  explicit FieldWriter(std::string* out) : out_(out) {}

  void Bytes(int field, absl::string_view bytes) {
    if (!bytes.empty()) AlwaysBytes(field, bytes);
  }
  void AlwaysBytes(int field, absl::string_view bytes) {
    Message(field, bytes.size());
    out_->append(bytes.data(), bytes.size());
  }
  // The fields of the message follow.
  void Message(int field, size_t bytes) {
    Tag(field, kLengthDelimited);
    Varint(bytes);
  }
  void AlwaysVarint(int field, uint64_t value) {
    Tag(field, kVarint);
    Varint(value);
  }
  void Fixed64(int field, int64_t value) {
    Tag(field, kFixed64);
    LittleEndian<8>(static_cast<uint64_t>(value));
  }
  void Fixed32(int field, uint32_t value) {
    Tag(field, kFixed32);
    LittleEndian<4>(value);
  }
  void Double(int field, double value) { Fixed64(field, std::bit_cast<int64_t>(value)); }
  // One number of a packed field. The field begins with Message().
  void PackedFixed64(int64_t value) { LittleEndian<8>(static_cast<uint64_t>(value)); }
  void PackedDouble(double value) { PackedFixed64(std::bit_cast<int64_t>(value)); }

 private:
  static constexpr int kVarint = 0;
  static constexpr int kFixed64 = 1;
  static constexpr int kLengthDelimited = 2;
  static constexpr int kFixed32 = 5;

  void Tag(int field, int type) { Varint(static_cast<uint64_t>(field) << 3 | type); }
  void Varint(uint64_t value) {
    char bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) bytes[count++] = static_cast<char>(value | 0x80);
    bytes[count++] = static_cast<char>(value);
    out_->append(bytes, count);
  }
  template <int kBytes>
  void LittleEndian(uint64_t value) {
    char bytes[kBytes];
    for (int i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    out_->append(bytes, kBytes);
  }

  std::string* const out_;
};

using AttributeValue = std::variant<std::string, int64_t, bool>;

// A KeyValue.
void WriteAttribute(int field, absl::string_view key, const AttributeValue& value,
                    FieldWriter& fields);

}  // namespace callslip
