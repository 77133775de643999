#ifndef CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_ENTRY_H_
#define CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_ENTRY_H_

#include <cstdint>
#include <limits>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "boost/intrusive/list.hpp"
#include "tracker/domain/command/command.h"
#include "tracker/domain/command/command_limits.h"
#include "tracker/domain/queue/command_feed.h"
#include "tracker/domain/queue/deadline_wheel.h"

namespace callslip::tracker {

struct BacklogTurn;
struct CommandEntry;
class PartitionClient;
class TargetQueue;
struct Worker;

// One watch of one command: an entry of its list and, where its time is limited, of the wheel. Held
// by whoever may end it early; the table holds it as long as it goes on. Guarded by the partition's
// mutex.
struct CommandWatch : Timed {
  CommandWatch() : Timed(Kind::kWatch) {}

  CommandEntry* entry = nullptr;  // Null once the watch is over.
  uint8_t partition = 0;          // Constant.
  boost::intrusive::list_member_hook<> entry_hook;
  std::shared_ptr<CommandWatch> self;  // As long as `entry` is set.
  std::shared_ptr<CommandFeed> feed;
  int64_t watch_id = 0;
  bool only_end = false;
  bool peek = false;
};

// A command as its partition holds it: what readers see, and what they don't. All of it is guarded
// by the partition's mutex.
struct CommandEntry : Timed {
  CommandEntry() : Timed(Kind::kCommand) {}

  const CommandSpec& spec() const { return *view->spec; }

  CommandPtr view;
  PartitionClient* client = nullptr;
  // Null where nothing there concerns it: it has ended, or is a person's.
  TargetQueue* queue = nullptr;
  // Its client's, while it is QUEUED.
  BacklogTurn* turn = nullptr;
  // That holds it, or has held it and must be told of its end.
  Worker* worker = nullptr;
  // That had it before, in case the present one never got it.
  Worker* worker_before = nullptr;
  // In place of heartbeat_nanos where none is expected: after every deadline.
  static constexpr int64_t kNoHeartbeats = std::numeric_limits<int64_t>::max() / 2;

  // When its worker last acknowledged it.
  int64_t heartbeat_nanos = 0;
  // One for each delivery, so that a worker whose lease has ended can still report.
  absl::InlinedVector<LeaseToken, kMaxAttempts> leases;
  boost::intrusive::list<
      CommandWatch,
      boost::intrusive::member_hook<CommandWatch, boost::intrusive::list_member_hook<>,
                                    &CommandWatch::entry_hook>,
      boost::intrusive::constant_time_size<false>>
      watches;
  // In the backlog of its client while it waits, or among what its worker must be told.
  boost::intrusive::list_member_hook<> queue_hook;
  // Among the unfinished commands of its client.
  boost::intrusive::list_member_hook<> unfinished_hook;
  // Among those that workers hold.
  boost::intrusive::list_member_hook<> held_hook;
  uint64_t end_number = 0;  // See CommandRecord.
  bool delayed = false;     // It waits for its not_before.
  bool holds_key = false;   // It is the one of its ordering key that is under way.
  bool touched = false;     // By the step of its partition that is under way.
  bool journaled = false;   // The journal has heard of it.
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_DOMAIN_QUEUE_COMMAND_ENTRY_H_
