#pragma once

#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "callslip/tracker/v1/command_service.pb.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/rpc/command_convert.h"
#include "tracker/server/server_stream.h"

namespace callslip::tracker {

// A worker's news, as the response of LeaseCommands or StreamCommands.
template <typename Response>
Response ToProto(const WorkerNews& news) {
  Response response;
  for (const CommandLease& lease : news.leases) Fill(lease, *response.add_leases());
  for (const EndedLease& ended : news.ended) {
    response.add_ended_command_ids(ended.id.ToString());
    response.add_ended_lease_tokens(ended.token.ToString());
  }
  return response;
}

// One StreamCommands call. It leases only when the stream can take a message, so that commands not
// yet sent to a slow worker do not count as delivered. At most one held call of the table at a
// time; its news become the next message.
class WorkerStream : public std::enable_shared_from_this<WorkerStream> {
 public:
  using Stream = ServerStream<v1::StreamCommandsResponse>;

  WorkerStream(Clock* clock, CommandTable* table, LeaseRequest request,
               std::shared_ptr<Stream> stream);

  // The source of the stream.
  std::optional<Outgoing<v1::StreamCommandsResponse>> Next();
  void OnCallerLeft();

 private:
  void OnNews(WorkerNews news);
  void GiveBack(const WorkerNews& news);

  Clock* const clock_;
  CommandTable* const table_;
  const LeaseRequest request_;
  const std::shared_ptr<Stream> stream_;
  bool begun_ = false;  // Used only by Next().

  Mutex mutex_;
  bool leasing_ ABSL_GUARDED_BY(mutex_) = false;  // A call is held or being made.
  bool caller_left_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<HeldCall> call_ ABSL_GUARDED_BY(mutex_);
  std::optional<WorkerNews> news_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace callslip::tracker
