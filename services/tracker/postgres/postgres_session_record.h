#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/domain/session/session_storage.h"
#include "tracker/postgres/postgres_session_storage.h"
#include "tracker/storage/event_json.h"

namespace callslip::tracker {

// One session of PostgresSessionStorage. Appended lines are buffered here until they are synced,
// read or numerous.
class PostgresSessionRecord final : public SessionRecord {
 public:
  // Statistics of its rows.
  struct Extent {
    int64_t events = 0;
    int64_t bytes = 0;  // Of lines, with their newlines.
    int64_t max_seq = 0;
    int64_t first_seq = 0;
    // The event after the first one, not adjacent if older events were pruned; 0: none.
    int64_t second_seq = 0;
    int64_t images = 0;
    int64_t image_bytes = 0;
    int64_t writes = 0;  // Number of changes to the session.
  };

  // `pool` must outlive this.
  PostgresSessionRecord(PostgresPool* pool, int64_t epoch, std::string id, const Extent& extent)
      : pool_(pool), epoch_(epoch), id_(std::move(id)), extent_(extent) {}

  static absl::StatusOr<Extent> Measure(PostgresPool& pool, const std::string& id);
  // Calls `visit` with all lines, oldest first, without their newlines.
  using Visitor = absl::FunctionRef<void(const EventHead& head, absl::string_view line)>;
  static absl::Status ForEachLine(PostgresPool& pool, const std::string& id, Visitor visit);

  absl::StatusOr<std::vector<AppendedEvent>> AppendAll(std::vector<NewEvent> events,
                                                       absl::Time now) override;
  absl::Status SyncLog() override;
  absl::StatusOr<EventPage> Read(const EventQuery& query) override;
  absl::StatusOr<int64_t> Prune(const SessionRetention& retention) override;
  absl::Status SaveQueue(const std::deque<QueuedMessage>& messages, const DeliveryState& delivery,
                         absl::Time now) override;
  absl::Status SaveMetadata(const SessionMetadata& metadata) override;
  absl::Status CheckObject(absl::string_view field, absl::string_view json) const override;
  absl::StatusOr<ImageRef> PutImage(const std::string& data, const std::string& name,
                                    size_t limit) override;
  absl::StatusOr<Image> GetImage(const std::string& id) override;
  int64_t image_bytes() const override { return extent_.image_bytes; }
  int64_t max_seq() const override { return extent_.max_seq; }
  int64_t event_count() const override { return extent_.events; }
  int64_t log_bytes() const override { return extent_.bytes; }
  void CloseFiles() override {}

 private:
  static constexpr size_t kFlushBytes = size_t{1} << 20;

  // Checks the result of a change; its second column must report whether the session had the
  // expected number of changes.
  absl::Status CheckSaved(const absl::StatusOr<PostgresResult>& result);
  absl::StatusOr<EventPage> ReadForward(const EventQuery& query, int64_t limit, int64_t max_bytes);
  absl::StatusOr<EventPage> ReadBackward(const EventQuery& query, int64_t limit, int64_t max_bytes);
  // Whether all seqs from the second on exist, so that positions can be computed without counting.
  bool IsDense() const;
  // The number of events with a lower seq.
  absl::StatusOr<int64_t> PositionOf(int64_t seq);
  // The seq of the event at a position; above all seqs if there is none.
  absl::StatusOr<int64_t> SeqAt(int64_t position);

  PostgresPool* const pool_;
  const int64_t epoch_;
  const std::string id_;
  Extent extent_;
  std::vector<EventHead> unwritten_heads_;
  std::vector<std::string> unwritten_;
  size_t unwritten_bytes_ = 0;
};

}  // namespace callslip::tracker
