#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_FIELDS_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_FIELDS_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/tools/arguments.h"

namespace callslip::gateway {

// The most elements that one `fill` writes to: more than the largest forms have on one page.
inline constexpr size_t kMaxFields = 100;
// The most files of one `upload`, and bytes of a path: as long as Linux takes one.
inline constexpr size_t kMaxFiles = 20;
inline constexpr size_t kMaxPathBytes = 4096;
// The most actions of one `batch`: what fails in the middle is still to be understood.
inline constexpr size_t kMaxSteps = 20;

// One argument of an action in the browser.
struct BrowserField {
  enum class Kind {
    kText,         // Not empty.
    kPresentText,  // May be empty.
    kTexts,
    kBoolean,
    kInteger,
    kPageUrl,      // Of http or https, or about:blank: none that runs in the page that is there.
    kChoice,       // One of `choices`.
    kFieldValues,  // What is to stand in which element: {"e9": "Ada", "e27": true}.
    kPaths,        // Of files.
    kSteps,        // Actions, each as a call of its own; see ReadBrowserAction().
  };

  const char* name;
  Kind kind = Kind::kText;
  bool required = false;
  // Of kInteger.
  int64_t min = 0;
  int64_t max = 0;
  // Of kChoice.
  absl::Span<const char* const> choices = {};
};

// The value of any field but one of kSteps; nullopt where there is none. What is wrong with it is
// in `arguments.status()`.
std::optional<Json> ReadBrowserField(const BrowserField& field, Arguments& arguments);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_FIELDS_H_
