#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gateway/json/parse.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/browser_fields.h"

namespace callslip::gateway {

// An action of the browser and its arguments; defined in this one place. extension/README.md
// describes the effect of each action.
struct BrowserAction {
  using Field = BrowserField;

  const char* name;
  std::vector<Field> fields = {};
  // At least one of these fields is required, if any are named.
  std::vector<const char*> one_of = {};
  // At most one of these may be present; one that is false counts as absent.
  std::vector<const char*> apart = {};
  // These must be present together or not at all.
  std::vector<const char*> together = {};
  // Can be a step of a batch: it acts in the batch's tab.
  bool step = false;
  // Only reads, so it can be delivered twice.
  bool idempotent = false;
  // Its name as a subject of `analyze`; null for an action of `interact`. `interact` accepts both.
  const char* subject = nullptr;
  // In the list of tools. An action that is not listed has a newer one that agents should call.
  bool listed = true;
};

// All of them, in the order in which agents see them.
absl::Span<const BrowserAction> BrowserActions();

// Null if there is no action of that name.
const BrowserAction* FindBrowserAction(const std::string& name);

// The params of a command for the browser: `{"action": …}` and the action's own arguments. Errors
// are in `arguments.status()`, which names the invalid step of a batch.
Json ReadBrowserAction(const BrowserAction& action, Arguments& arguments);

}  // namespace callslip::gateway
