#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Parses JSON as users write it for editors: with comments, and a comma after the last member. All
// positions are offsets into the text, so that a part can be changed without touching the rest.
namespace callslip::bridge {

// Editors and agents nest only a few levels.
inline constexpr int kMaxJsoncDepth = 64;

// One member of an object.
struct JsoncMember {
  std::string key;    // Decoded.
  size_t key_at = 0;  // The opening quote.
  size_t value_at = 0;
  size_t value_end = 0;
  std::string value;  // Without comments, space and trailing commas; strings escaped uniformly.
};

struct JsoncObject {
  size_t at = 0;                     // The opening brace.
  size_t end = 0;                    // After the closing brace.
  std::vector<JsoncMember> members;  // In order, duplicates included.
  bool has_last_comma = false;
  // After the last member and the comma that follows it; after the opening brace if there is no
  // member.
  size_t content_end = 0;
  // The first and the last line break outside of comments between `content_end` and the closing
  // brace; npos if there is none.
  size_t first_break = absl::string_view::npos;
  size_t last_break = absl::string_view::npos;
};

// `text` as a JSON string with its quotes, which is also a basic string of TOML.
std::string QuoteJson(absl::string_view text);

// Parses a text that is one object. INVALID_ARGUMENT, naming the line, for anything else.
absl::StatusOr<JsoncObject> ReadJsonc(absl::string_view text);

// The object at `at`, in a text that ReadJsonc() has read. FAILED_PRECONDITION for another value.
absl::StatusOr<JsoncObject> ReadJsoncObject(absl::string_view text, size_t at);

}  // namespace callslip::bridge
