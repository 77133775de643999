#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/tools/arguments.h"

namespace callslip::gateway {

// The most elements that one `fill` writes to: more than the largest forms have on one page.
inline constexpr size_t kMaxFields = 100;
// The most files of one `upload`, and the longest path that Linux accepts.
inline constexpr size_t kMaxFiles = 20;
inline constexpr size_t kMaxPathBytes = 4096;
// The most actions of one `batch`: few enough that a failure in the middle is understandable.
inline constexpr size_t kMaxSteps = 20;

// One argument of a browser action.
struct BrowserField {
  enum class Kind {
    kText,         // Not empty.
    kPresentText,  // May be empty.
    kTexts,
    kBoolean,
    kInteger,
    kPageUrl,      // http, https or about:blank; excludes URLs that run in the current page.
    kChoice,       // One of `choices`.
    kFieldValues,  // Values by element: {"e9": "Ada", "e27": true}.
    kPaths,        // Paths of files.
    kSteps,        // Actions, each like a call of its own; see ReadBrowserAction().
  };

  const char* name;
  Kind kind = Kind::kText;
  bool required = false;
  // For kInteger.
  int64_t min = 0;
  int64_t max = 0;
  // For kChoice.
  absl::Span<const char* const> choices = {};
  // In the input schema of its tool. Other arguments are accepted, but cost models no tokens.
  bool listed = true;
};

// The JSON Schema of the field's values, without bounds and descriptions, which cost models tokens.
Json SchemaOf(const BrowserField& field);

// The value of any field except one of kSteps; nullopt if there is none. Errors are in
// `arguments.status()`.
std::optional<Json> ReadBrowserField(const BrowserField& field, Arguments& arguments);

}  // namespace callslip::gateway
