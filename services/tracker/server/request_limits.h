#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace callslip::tracker::internal {

// The maximum size of a request's field, checked before the request is parsed. Generous: handlers
// check the exact limits, with their own errors. This keeps meaningless messages from taking memory
// and time.
struct FieldLimit {
  absl::string_view field;  // `Message.field`, or `field` for all others of that name.
  uint32_t bytes;           // The maximum of one value; 0 if it has no length.
  uint32_t items = 1;       // The maximum of a repeated field, in one message.
  // The field is JSON that will be parsed into a tree: at most 200,000 values, 100 deep.
  bool is_json = false;
};

// Has a row for every field of every request that is repeated, or can be longer than 1 KiB.
absl::Span<const FieldLimit> FieldLimits();

// The row of the field; for other texts, a limit of 1 KiB. Null if the field has no limit.
const FieldLimit* FindFieldLimit(const google::protobuf::FieldDescriptor& field);

// The limits of one request type, prepared for checking incoming requests.
class RequestShape {
 public:
  // The shape of a type, made once. Crashes if a field lacks a required row.
  static const RequestShape& Of(const google::protobuf::Descriptor& type);

  // Checks a request in its wire format, without parsing it. INVALID_ARGUMENT, reason
  // `invalid_argument`, which names the field, if a field exceeds its limit; also if there are more
  // than 200,000 fields in total, or more than 1,000 fields that the type does not have. Leaves
  // malformed messages to the parser.
  absl::Status Check(google::protobuf::io::ZeroCopyInputStream& bytes) const;

 private:
  struct Field {
    const google::protobuf::FieldDescriptor* descriptor = nullptr;  // Null: there is no such field.
    const FieldLimit* limit = nullptr;      // Null if it has no length and is not repeated.
    const RequestShape* message = nullptr;  // For a message of ours.
  };
  struct Look;

  static const RequestShape& OfLocked(const google::protobuf::Descriptor& type);

  // False to stop: a field was refused, or the bytes are not a message.
  bool CheckMessage(Look& look, int depth) const;
  static bool CheckLength(const Field& field, uint32_t bytes, Look& look, int depth);

  std::vector<Field> fields_;  // By number.
};

}  // namespace callslip::tracker::internal
