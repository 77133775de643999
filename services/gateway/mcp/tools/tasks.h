#pragma once

#include <memory>
#include <string>

#include "boost/asio/awaitable.hpp"
#include "common/call_verdict.h"
#include "common/clock.h"
#include "gateway/mcp/protocol/call_context.h"
#include "gateway/mcp/protocol/providers.h"
#include "gateway/tracker_client/tracker_client.h"

// Commands as MCP tasks: the correlation id is the task's id.
namespace callslip::gateway {

// A Task of 2025-11-25: `ttl`, `pollInterval`. A command that failed is a failed task.
Json LegacyTask(const v1::Command& command);
// A Task of the extension of 2026-07-28: `ttlMs`, `pollIntervalMs`. A failed command is a completed
// task, with the error in its result.
Json ModernTask(const v1::Command& command);
// ModernTask() with the `result` of a completed one.
Json DetailedTask(const v1::Command& command);

// The error of a query about a command: kInvalidParams if the caller's request was wrong. Its data
// has `error`, `hint`, `retry_after_ms`, and `final` and `may_have_executed` by VerdictOf().
RpcError RpcErrorOf(const absl::Status& status, Executed executed = Executed::kAsked);

// The methods tasks/… of both eras, on the caller's commands. Params are those of the request.
class CommandTasks final : public TaskProvider {
 public:
  CommandTasks(TrackerClient* tracker, Clock* clock) : tracker_(tracker), clock_(clock) {}

  using Outcome = boost::asio::awaitable<RpcOutcome>;

  // 2025-11-25.
  Outcome GetLegacy(std::shared_ptr<CallContext> context, std::string task_id) const;
  // Blocks until the task has ended, and reports progress at least every 15 s.
  Outcome Result(std::shared_ptr<CallContext> context, std::string task_id) const;
  Outcome CancelLegacy(std::shared_ptr<CallContext> context, std::string task_id) const;
  Outcome List(std::shared_ptr<CallContext> context, std::string cursor) const;

  // 2026-07-28.
  bool Owns(const std::string&) const override { return true; }
  Outcome Get(std::shared_ptr<CallContext> context, std::string task_id) const override;
  Outcome Update(std::shared_ptr<CallContext> context, std::string task_id,
                 Json responses) const override;
  Outcome Cancel(std::shared_ptr<CallContext> context, std::string task_id) const override;

 private:
  boost::asio::awaitable<absl::Status> CancelCommand(std::string client_id,
                                                     std::string command_id) const;

  TrackerClient* const tracker_;
  Clock* const clock_;
};

}  // namespace callslip::gateway
