#ifndef CALLSLIP_BRIDGE_CLIENTS_JSONC_H_
#define CALLSLIP_BRIDGE_CLIENTS_JSONC_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Looks into JSON as people write it for editors: with comments, and a comma behind the last
// member. All places are offsets into the text, so that it can be changed without touching the rest
// of it.
namespace callslip::bridge {

// Editors and agents nest a few levels.
inline constexpr int kMaxJsoncDepth = 64;

// One member of an object.
struct JsoncMember {
  std::string key;    // Decoded.
  size_t key_at = 0;  // Of its opening quote.
  size_t value_at = 0;
  size_t value_end = 0;
  std::string value;  // Without comments, space and last commas; strings escaped in one way.
};

struct JsoncObject {
  size_t at = 0;                     // Of the opening brace.
  size_t end = 0;                    // Behind the closing one.
  std::vector<JsoncMember> members;  // In their order, duplicates included.
  bool has_last_comma = false;
  // Behind the last member and the comma that follows it; behind the brace where there is none.
  size_t content_end = 0;
  // The first and the last line break outside of comments between there and the closing brace; npos
  // where there is none.
  size_t first_break = absl::string_view::npos;
  size_t last_break = absl::string_view::npos;
};

// `text` as a JSON string with its quotes, which is a basic string of TOML as well.
std::string QuoteJson(absl::string_view text);

// The object that is the whole text. INVALID_ARGUMENT, naming the line, for anything else.
absl::StatusOr<JsoncObject> ReadJsonc(absl::string_view text);

// The object at `at`, in a text that ReadJsonc() has read. FAILED_PRECONDITION for another value.
absl::StatusOr<JsoncObject> ReadJsoncObject(absl::string_view text, size_t at);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_JSONC_H_
