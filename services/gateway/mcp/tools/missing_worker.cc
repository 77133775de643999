#include "gateway/mcp/tools/missing_worker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {

boost::asio::awaitable<std::string> MissingWorkerHint(TrackerClient* tracker,
                                                      const v1::Command& command) {
  if (command.state() != v1::COMMAND_STATE_QUEUED) co_return "";
  v1::ListWorkersRequest request;
  request.set_target(command.target());
  // The answer itself is ready: a slow tracker must not delay it.
  const auto listed = co_await tracker->Call(std::move(request), {.deadline = kHintDeadline});
  if (!listed.ok()) co_return "";
  for (const v1::Worker& worker : listed->workers()) {
    const bool at_work = worker.commands_size() > 0 || worker.other_commands() > 0;
    if (at_work || (worker.connected() && !worker.report().paused())) co_return "";
  }
  co_return absl::StrCat("No browser extension, or other worker, is connected to target \"",
                         command.target(),
                         "\": is the browser open, the extension on, and the gateway's address "
                         "in its options?");
}

}  // namespace callslip::gateway
