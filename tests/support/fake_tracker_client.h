#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "gateway/tracker_client/tracker_client.h"
#include "support/call_answers.h"

namespace callslip::gateway {

// A tracker in memory that answers the calls of agents; others get UNIMPLEMENTED. Its commands
// progress only during waits, as the test sets. Like those of a real one, all answers besides that
// of BeginWaitForEnd come through the coroutine's executor.
class FakeTrackerClient final : public TrackerClient, private CallAnswers {
 public:
  explicit FakeTrackerClient(Clock* clock);

  // Called for each wait that lasts, before its answer: changes the command.
  std::function<void(v1::Command& command, absl::Duration max_wait)> on_wait = TakeStep;

  // The answers of GetHealth and Watch(): UNIMPLEMENTED and nothing if they are null.
  std::function<absl::StatusOr<v1::GetHealthResponse>()> on_health;
  std::function<std::unique_ptr<CommandFeed>(const std::string& client_id, const std::string& owner,
                                             const v1::CommandFilter& filter, bool only_changes)>
      on_watch;

  // Called before the answer of ListCommands.
  std::function<boost::asio::awaitable<void>()> on_list;

  // The number of next waits that fail as if the tracker were away.
  int waits_to_lose = 0;

  // From queued to delivered, running and completed, one step a call.
  static void TakeStep(v1::Command& command, absl::Duration max_wait);

  // A queued command; its id is "corr-1-" and 32 digits, counted from 1.
  v1::Command& Add(const std::string& client_id, const std::string& type);
  v1::Command& command(const std::string& id) { return commands_.at(id); }
  size_t commands() const { return commands_.size(); }
  // Calls of ListCommands.
  int lists() const { return lists_; }
  // Waits without an answer yet.
  int waits() const { return waits_; }
  // The `max_wait` of each wait, in their order.
  const std::vector<absl::Duration>& max_waits() const { return max_waits_; }

  Result<v1::Command> WaitForEnd(std::string client_id, std::string command_id,
                                 absl::Duration max_wait) override;
  void BeginWaitForEnd(std::string client_id, std::string command_id, absl::Duration max_wait,
                       boost::asio::cancellation_slot slot, WaitDone done) override;
  Result<v1::Command> WaitForChange(std::string client_id, std::string command_id,
                                    int64_t after_revision, absl::Duration max_wait) override;
  TrackerClientStatistics Statistics() override { return {.waits = waits_}; }
  std::unique_ptr<CommandFeed> Watch(std::string client_id, std::string owner,
                                     v1::CommandFilter filter, bool only_changes) override;
  void EndCalls() override {}

 protected:
  boost::asio::awaitable<absl::Status> Send(const google::protobuf::MethodDescriptor& method,
                                            const google::protobuf::Message& request,
                                            CallOptions options,
                                            google::protobuf::Message* response) override;
  std::unique_ptr<MessageSource> Begin(const google::protobuf::MethodDescriptor&,
                                       const google::protobuf::Message&) override {
    return nullptr;
  }

 private:
  v1::ListCommandsResponse List(const v1::ListCommandsRequest& request) const;
  absl::StatusOr<v1::CancelCommandResponse> Cancel(const v1::CancelCommandRequest& request);
  absl::StatusOr<v1::Command> EndOf(const std::string& client_id, const std::string& command_id,
                                    absl::Duration max_wait);
  absl::StatusOr<v1::Command*> Find(const std::string& client_id, const std::string& command_id);

  Clock* const clock_;
  std::map<std::string, v1::Command> commands_;
  std::vector<absl::Duration> max_waits_;
  int waits_ = 0;
  int lists_ = 0;
};

}  // namespace callslip::gateway
