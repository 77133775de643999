#ifndef CALLSLIP_COMMON_JSON_SCAN_H_
#define CALLSLIP_COMMON_JSON_SCAN_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace callslip {

// Looks into JSON text without building a tree, so that values keep the very bytes in which they
// stood on the wire. Nothing here throws, or recurses beyond the few objects that are looked into.

// A member of an object. Both parts are views of the scanned text.
struct JsonMember {
  absl::string_view key;    // With its quotes.
  absl::string_view value;  // Without space around it.
  // The members within the value follow this one, and they are that many.
  size_t inner = 0;
};

// The members of an object in their order, duplicates included, each with those within it.
using JsonMembers = absl::Span<const JsonMember>;

// How deep arrays and objects may nest. Real calls stay below 20; whoever needs more than this is
// attacking a recursive parser.
inline constexpr int kMaxScannedDepth = 200;

struct JsonScan {
  // Empty for one valid JSON value in UTF-8 that nests at most `max_depth` deep, with numbers
  // within the range of a double; otherwise the sentence that says what is wrong, and `members` is
  // incomplete.
  absl::string_view error;
  // Those of the text, if it is an object; else there are none.
  absl::InlinedVector<JsonMember, 16> members;
};

// Checks the text and finds its members, in one pass. Of the values only the one named `into` is
// looked into: its members are found and, where they are objects, theirs.
// `max_depth` is kMaxScannedDepth at most.
JsonScan ScanJson(absl::string_view text, absl::string_view into = {},
                  int max_depth = kMaxScannedDepth);

// The value of the first member named `key`, or nullopt.
std::optional<absl::string_view> FindMember(JsonMembers members, absl::string_view key);

// The members within that value; none where it was not looked into, or is not an object.
JsonMembers InnerMembers(JsonMembers members, absl::string_view key);

// True for a JSON string that stands for `text`.
bool StandsFor(absl::string_view value, absl::string_view text);

// True when there are two members of the same name.
bool HasDuplicates(JsonMembers members);

// True for a number without fraction and exponent, of any length.
bool IsJsonInteger(absl::string_view value);

// Valid JSON on one line: unchanged unless it holds a line break, otherwise without any space
// outside of strings.
std::string OnOneLine(std::string text);

}  // namespace callslip

#endif  // CALLSLIP_COMMON_JSON_SCAN_H_
