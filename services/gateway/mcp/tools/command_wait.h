#ifndef CALLSLIP_GATEWAY_MCP_TOOLS_COMMAND_WAIT_H_
#define CALLSLIP_GATEWAY_MCP_TOOLS_COMMAND_WAIT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/mcp/protocol/call_context.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// Clients give a call up after a minute in which they hear nothing of it.
inline constexpr absl::Duration kProgressInterval = absl::Seconds(15);

// The command of the caller once it has ended, or as it is after `max_wait`. A caller who asked for
// progress hears each step that the worker reports, and at least every 15 s that it goes on; then
// `on_step` is called too, where there is one. A tracker that is away ends nothing before
// `max_wait`.
boost::asio::awaitable<absl::StatusOr<v1::Command>> AwaitEnd(
    TrackerClient* tracker, Clock* clock, std::shared_ptr<CallContext> context,
    std::string command_id, absl::Duration max_wait,
    std::function<void(const v1::Command&)> on_step = nullptr);

// Keeps whoever waits again from doing so without pause: a tracker that is about to stop ends waits
// before their time.
boost::asio::awaitable<void> PauseForDrain();

// What a command is doing, in a line for people.
std::string ProgressText(const v1::Command& command);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_MCP_TOOLS_COMMAND_WAIT_H_
