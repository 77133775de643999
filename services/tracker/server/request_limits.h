#ifndef CALLSLIP_TRACKER_SERVER_REQUEST_LIMITS_H_
#define CALLSLIP_TRACKER_SERVER_REQUEST_LIMITS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace callslip::tracker::internal {

// How much a field of a request may hold for the request to be looked at at all. Wide: what a field
// should hold is checked by whoever takes it, with an error of its own. This is what keeps a
// message that means nothing from taking memory and time.
struct FieldLimit {
  absl::string_view field;  // `Message.field`, or `field` for all of that name that have no other.
  uint32_t bytes;           // Of one; 0 where it has no length of its own.
  uint32_t items = 1;       // Of a repeated one, in one message.
  // It is JSON of which a tree is made: at most 200,000 values, 100 deep.
  bool is_json = false;
};

// Every field of every request that has a length or is repeated has its row.
absl::Span<const FieldLimit> FieldLimits();

// Null where there is none.
const FieldLimit* FindFieldLimit(const google::protobuf::FieldDescriptor& field);

// The limits of one type of request, made for looking at what comes in.
class RequestShape {
 public:
  // That of a type, made once. Crashes where a field has no row and should have one.
  static const RequestShape& Of(const google::protobuf::Descriptor& type);

  // Looks at a request as it came in, without making anything of it. INVALID_ARGUMENT, reason
  // `invalid_argument`, which names the field, where one is beyond its limit; also where there are
  // more than 200,000 fields in all, or more than 1,000 fields that the type does not have. What is
  // no message at all is left to the parser.
  absl::Status Check(google::protobuf::io::ZeroCopyInputStream& bytes) const;

 private:
  struct Field {
    const google::protobuf::FieldDescriptor* descriptor = nullptr;  // Null: there is none.
    const FieldLimit* limit = nullptr;      // Null where it has no length and is not repeated.
    const RequestShape* message = nullptr;  // Of a message of ours.
  };
  struct Look;

  static const RequestShape& OfLocked(const google::protobuf::Descriptor& type);

  // False where there is no need to go on: something is refused, or the bytes are no message.
  bool CheckMessage(Look& look, int depth) const;
  static bool CheckLength(const Field& field, uint32_t bytes, Look& look, int depth);

  std::vector<Field> fields_;  // By number.
};

}  // namespace callslip::tracker::internal

#endif  // CALLSLIP_TRACKER_SERVER_REQUEST_LIMITS_H_
