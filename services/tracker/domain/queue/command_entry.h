#pragma once

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

// One watch of one command: in the command's list and, if its time is limited, in the wheel. Held
// by the caller that can end it early, and by the table while it lasts. Guarded by the partition's
// mutex.
struct CommandWatch : Timed {
  CommandWatch() : Timed(Kind::kWatch) {}

  CommandEntry* entry = nullptr;  // Null once the watch is over.
  uint8_t partition = 0;          // Constant.
  boost::intrusive::list_member_hook<> entry_hook;
  std::shared_ptr<CommandWatch> self;  // Set while `entry` is.
  std::shared_ptr<CommandFeed> feed;
  int64_t watch_id = 0;
  bool only_end = false;
  bool peek = false;
};

// A command in its partition: the state that readers see, and internal state. All of it is guarded
// by the partition's mutex.
struct CommandEntry : Timed {
  CommandEntry() : Timed(Kind::kCommand) {}

  const CommandSpec& spec() const { return *view->spec; }

  CommandPtr view;
  PartitionClient* client = nullptr;
  // Null if it needs nothing from a queue: it has ended, or a person finishes it.
  TargetQueue* queue = nullptr;
  // Its client's turn, while it is QUEUED.
  BacklogTurn* turn = nullptr;
  // The worker that holds it, or held it and must be notified of its end.
  Worker* worker = nullptr;
  // The worker that held it before, in case the present one never received it.
  Worker* worker_before = nullptr;
  // Value of heartbeat_nanos if no heartbeat is expected: after every deadline.
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
  // In the backlog of its client while it waits, then in a list of its worker.
  boost::intrusive::list_member_hook<> queue_hook;
  // In the list of its client's unfinished commands.
  boost::intrusive::list_member_hook<> unfinished_hook;
  // In the list of its client's held commands.
  boost::intrusive::list_member_hook<> held_hook;
  uint64_t end_number = 0;  // See CommandRecord.
  bool delayed = false;     // It waits for its not_before.
  bool holds_key = false;   // It is the command in progress of its ordering key.
  bool touched = false;     // Touched by the present step of its partition.
  bool journaled = false;   // The journal has a record of it.
};

}  // namespace callslip::tracker
