#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "bridge/clients/client_table.h"
#include "common/clock.h"

namespace callslip::bridge {

// The user, who sees each change and decides.
struct Person {
  std::function<void(absl::string_view text)> tell;
  // Whether the answer is yes.
  std::function<bool(absl::string_view question)> ask;
};

// Writes the command into the configuration of each client, after the user has seen the change and
// agreed. Reports the outcome of each client; if its file cannot be written, what to write where.
// True if every client could be configured.
bool FixClients(const std::vector<Client>& clients, const std::vector<std::string>& command,
                const Person& person, Clock& clock);

// The changed lines with their context, each prefixed with a sign as in a patch. Truncates long
// lines, and omits control characters other than tabs.
std::string ShowChange(absl::string_view before, absl::string_view after);

}  // namespace callslip::bridge
