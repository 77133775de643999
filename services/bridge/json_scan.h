#ifndef CALLSLIP_BRIDGE_JSON_SCAN_H_
#define CALLSLIP_BRIDGE_JSON_SCAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace callslip::bridge {

// Looks into JSON text without building a tree, so that values keep the very bytes in which they
// stood on the wire. Nothing here throws or recurses.

// OK for one valid JSON value in UTF-8 that nests at most kMaxJsonDepth deep; otherwise
// INVALID_ARGUMENT. The other functions ask for text that has passed this check.
absl::Status CheckJson(absl::string_view text);

struct JsonMember {
  std::string key;          // Decoded.
  absl::string_view value;  // As it stands in the text, without space around it.
};

// The members of an object in their order, duplicates included; empty for any other value.
std::vector<JsonMember> ObjectMembers(absl::string_view text);

// The value of the first member named `key`, or nullopt.
std::optional<absl::string_view> FindMember(const std::vector<JsonMember>& members,
                                            absl::string_view key);

bool IsJsonString(absl::string_view value);

// True for a number without fraction and exponent, of any length.
bool IsJsonInteger(absl::string_view value);

// The text that a JSON string stands for; nullopt for any other value.
std::optional<std::string> DecodeJsonString(absl::string_view value);

// `text` on one line: unchanged unless it holds a line break, otherwise without any space outside
// of strings.
std::string OnOneLine(absl::string_view text);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_JSON_SCAN_H_
