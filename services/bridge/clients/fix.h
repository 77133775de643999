#ifndef CALLSLIP_BRIDGE_CLIENTS_FIX_H_
#define CALLSLIP_BRIDGE_CLIENTS_FIX_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "bridge/clients/client_table.h"
#include "common/clock.h"

namespace callslip::bridge {

// Those who see what is to be changed, and decide.
struct Person {
  std::function<void(absl::string_view text)> tell;
  // Whether the question is answered with yes.
  std::function<bool(absl::string_view question)> ask;
};

// Writes the command into the configuration of each client, after the person has seen the change
// and has agreed. Tells of each what became of it; where nothing can be written, what to write
// where. True where no client is left that could not be configured.
bool FixClients(const std::vector<Client>& clients, const std::vector<std::string>& command,
                const Person& person, Clock& clock);

// The lines that differ, with what stands around them, each behind a sign as in a patch. Long lines
// are cut off, control characters other than tabs are left out.
std::string ShowChange(absl::string_view before, absl::string_view after);

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_CLIENTS_FIX_H_
