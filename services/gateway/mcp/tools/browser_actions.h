#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_ACTIONS_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_ACTIONS_H_

#include <string>
#include <vector>

#include "gateway/json/parse.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/browser_fields.h"

namespace callslip::gateway {

// What the browser can do, and which arguments each action takes: the one place that knows it.
// What an action does with them is told in extension/README.md.
struct BrowserAction {
  using Field = BrowserField;

  const char* name;
  std::vector<Field> fields = {};
  // Where one of several fields is needed, these.
  std::vector<const char*> one_of = {};
  // Of which no two may be there; one that is false is not.
  std::vector<const char*> apart = {};
  // Of which there are both or none.
  std::vector<const char*> together = {};
  // May be a step of a batch: it acts in the tab that the batch has.
  bool step = false;
  // Reads only, so that it may be delivered twice.
  bool idempotent = false;
};

// Null where there is none of that name.
const BrowserAction* FindBrowserAction(const std::string& name);

// In the order in which agents are told of them.
std::vector<std::string> BrowserActionNames();

// The params of a command for the browser: `{"action": …}` and the action's own arguments. What is
// wrong with them is in `arguments.status()`, which names the step of a batch where it is wrong.
Json ReadBrowserAction(const BrowserAction& action, Arguments& arguments);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_BROWSER_ACTIONS_H_
