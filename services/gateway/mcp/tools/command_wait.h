#pragma once

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

// Clients abandon a call after a minute without news of it.
inline constexpr absl::Duration kProgressInterval = absl::Seconds(15);

// Returns the caller's command once it has ended, or as it is after `max_wait`. A caller that asked
// for progress receives each step that the worker reports, and at least one notification every 15
// s; each calls `on_step` too, if set. An unreachable tracker does not end the wait before
// `max_wait`.
boost::asio::awaitable<absl::StatusOr<v1::Command>> AwaitEnd(
    TrackerClient* tracker, Clock* clock, std::shared_ptr<CallContext> context,
    std::string command_id, absl::Duration max_wait,
    std::function<void(const v1::Command&)> on_step = nullptr);

// A short pause before a repeated wait: a tracker that is stopping ends waits early.
boost::asio::awaitable<void> PauseForDrain();

// The progress of a command, in one readable line.
std::string ProgressText(const v1::Command& command);

}  // namespace callslip::gateway
