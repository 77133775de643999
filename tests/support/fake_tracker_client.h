#ifndef CALLSLIP_TESTS_SUPPORT_FAKE_TRACKER_CLIENT_H_
#define CALLSLIP_TESTS_SUPPORT_FAKE_TRACKER_CLIENT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "gateway/tracker_client/tracker_client.h"

namespace callslip::gateway {

// A tracker in memory, whose commands go on when somebody waits for them, and then by what the test
// says. Every answer comes by way of the coroutine's executor, as those of a real one do.
class FakeTrackerClient final : public TrackerClient {
 public:
  explicit FakeTrackerClient(Clock* clock) : clock_(clock) {}

  // Called for each wait that lasts, before it is answered: what happens meanwhile.
  std::function<void(v1::Command& command, absl::Duration max_wait)> on_wait = TakeStep;

  // What GetHealth() answers, and Watch(): UNIMPLEMENTED and nothing where they are null.
  std::function<absl::StatusOr<v1::GetHealthResponse>()> on_health;
  std::function<std::unique_ptr<CommandFeed>(const std::string& client_id, const std::string& owner,
                                             const v1::CommandFilter& filter, bool only_changes)>
      on_watch;

  // What is to happen before List() answers.
  std::function<boost::asio::awaitable<void>()> on_list;

  // So many waits more end as they do where the tracker is away.
  int waits_to_lose = 0;

  // From queued to delivered, running and completed, one step a call.
  static void TakeStep(v1::Command& command, absl::Duration max_wait);

  // A queued command; its id is "corr-1-" and 32 digits, counted from 1.
  v1::Command& Add(const std::string& client_id, const std::string& type);
  v1::Command& command(const std::string& id) { return commands_.at(id); }
  size_t commands() const { return commands_.size(); }
  // Calls of List().
  int lists() const { return lists_; }
  // That have not been answered.
  int waits() const { return waits_; }
  // The longest that each wait was to last, in their order.
  const std::vector<absl::Duration>& max_waits() const { return max_waits_; }

  Result<v1::RegisterCommandResponse> Register(v1::RegisterCommandRequest request) override;
  Result<v1::ListCommandsResponse> List(v1::ListCommandsRequest request,
                                        absl::Duration deadline) override;
  Result<v1::CancelCommandResponse> Cancel(v1::CancelCommandRequest request) override;
  Result<v1::Command> Get(std::string client_id, std::string command_id, bool peek) override;
  Result<v1::Command> WaitForEnd(std::string client_id, std::string command_id,
                                 absl::Duration max_wait) override;
  void BeginWaitForEnd(std::string client_id, std::string command_id, absl::Duration max_wait,
                       boost::asio::cancellation_slot slot, WaitDone done) override;
  Result<v1::Command> WaitForChange(std::string client_id, std::string command_id,
                                    int64_t after_revision, absl::Duration max_wait) override;
  // There are no drawings, so that every request waits.
  Result<v1::RequestAnnotationsResponse> RequestAnnotations(
      v1::RequestAnnotationsRequest request) override;
  Result<v1::ListAnnotationsResponse> ListAnnotations(v1::ListAnnotationsRequest request) override;

  // Those that no agent calls answer UNIMPLEMENTED.
  Result<v1::LeaseCommandsResponse> Lease(v1::LeaseCommandsRequest request) override;
  Result<v1::AcknowledgeCommandResponse> Acknowledge(v1::AcknowledgeCommandRequest request,
                                                     WorkerTrace trace) override;
  Result<v1::CompleteCommandResponse> Complete(v1::CompleteCommandRequest request,
                                               WorkerTrace trace) override;
  Result<v1::ExpireCommandResponse> Expire(v1::ExpireCommandRequest request) override;
  Result<v1::ReplayCommandResponse> Replay(v1::ReplayCommandRequest request) override;
  Result<v1::AppendAnnotationsResponse> AppendAnnotations(
      v1::AppendAnnotationsRequest request) override;
  Result<v1::ReportWorkerResponse> ReportWorker(v1::ReportWorkerRequest request) override;
  Result<v1::ListWorkersResponse> ListWorkers(v1::ListWorkersRequest request,
                                              absl::Duration deadline) override;
  Result<v1::ListTargetsResponse> ListTargets(v1::ListTargetsRequest request) override;
  Result<v1::AppendWorkerLogResponse> AppendWorkerLog(v1::AppendWorkerLogRequest request) override;
  Result<v1::ListWorkerLogResponse> ListWorkerLog(v1::ListWorkerLogRequest request) override;
  Result<v1::GetHealthResponse> GetHealth(v1::GetHealthRequest request,
                                          absl::Duration deadline) override;
  TrackerClientStatistics Statistics() override { return {.waits = waits_}; }
  std::unique_ptr<CommandFeed> Watch(std::string client_id, std::string owner,
                                     v1::CommandFilter filter, bool only_changes) override;
  void EndCalls() override {}

 private:
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

#endif  // CALLSLIP_TESTS_SUPPORT_FAKE_TRACKER_CLIENT_H_
