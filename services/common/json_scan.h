#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace callslip {

// Scans JSON text without building a tree, so that values keep their exact bytes from the wire.
// Nothing here throws, and recursion is limited to the few objects that are looked into.

// A member of an object. Key and value are views of the scanned text.
struct JsonMember {
  absl::string_view key;    // With its quotes.
  absl::string_view value;  // Without surrounding white space.
  // The number of members within the value; they follow this one.
  size_t inner = 0;
};

// The members of an object in order, including duplicates, each followed by its inner members.
using JsonMembers = absl::Span<const JsonMember>;

// The maximum nesting depth of arrays and objects. Real calls stay below 20; deeper input is an
// attack on a recursive parser.
inline constexpr int kMaxScannedDepth = 200;

struct JsonScan {
  // Empty for one valid JSON value in UTF-8, at most `max_depth` deep, with all numbers in the
  // range of a double. Otherwise a sentence that describes the error, and `members` is incomplete.
  absl::string_view error;
  // The members of the text if it is an object, else empty.
  absl::InlinedVector<JsonMember, 16> members;
};

// Validates the text and finds its members in one pass. Looks only into the value named `into`:
// finds its members and, if those are objects, their members. `max_depth` is at most
// kMaxScannedDepth.
JsonScan ScanJson(absl::string_view text, absl::string_view into = {},
                  int max_depth = kMaxScannedDepth);

// The value of the first member named `key`, or nullopt.
std::optional<absl::string_view> FindMember(JsonMembers members, absl::string_view key);

// The members within the value of `key`; empty if it was not looked into or is not an object.
JsonMembers InnerMembers(JsonMembers members, absl::string_view key);

// Whether `value` is a JSON string that decodes to `text`.
bool StandsFor(absl::string_view value, absl::string_view text);

// Whether two members have the same name.
bool HasDuplicates(JsonMembers members);

// Whether `value` is a number without fraction and exponent, of any length.
bool IsJsonInteger(absl::string_view value);

// Puts valid JSON on one line: unchanged if it has no line break, otherwise without any white space
// outside strings.
std::string OnOneLine(std::string text);

}  // namespace callslip
