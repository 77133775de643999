#ifndef CALLSLIP_GATEWAY_MCP_BROWSER_ACTIONS_H_
#define CALLSLIP_GATEWAY_MCP_BROWSER_ACTIONS_H_

#include <string>
#include <vector>

#include "gateway/json/parse.h"
#include "gateway/mcp/arguments.h"

namespace callslip::gateway {

// What the browser can do, and which arguments each action takes: the one place that knows it.
// What an action does with them is told in extension/README.md.
struct BrowserAction {
  struct Field {
    enum class Kind {
      kText,         // Not empty.
      kPresentText,  // May be empty.
      kTexts,
      kBoolean,
      kInteger,
      kPageUrl,  // Of http or https, or about:blank: none that runs in the page that is there.
      kState,    // Of an element: visible, hidden or attached.
      kLevel,    // Of the console.
    };

    const char* name;
    Kind kind = Kind::kText;
    bool required = false;
    // Of kInteger.
    int64_t min = 0;
    int64_t max = 0;
  };

  const char* name;
  std::vector<Field> fields = {};
  // Where one of several fields is needed, these.
  std::vector<const char*> one_of = {};
  // Of which no two may be there; one that is false is not.
  std::vector<const char*> apart = {};
  // Reads only, so that it may be delivered twice.
  bool idempotent = false;
};

// Null where there is none of that name.
const BrowserAction* FindBrowserAction(const std::string& name);

// In the order in which agents are told of them.
std::vector<std::string> BrowserActionNames();

// The params of a command for the browser: `{"action": …}` and the action's own arguments. What is
// wrong with them is in `arguments.status()`.
Json ReadBrowserAction(const BrowserAction& action, Arguments& arguments);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_BROWSER_ACTIONS_H_
