#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/event_json.h"
#include "tracker/storage/line_reader.h"

namespace callslip::tracker {

// A session's events.jsonl: one event per line, append-only.
//
// Crash rules. An event is in the log if its line is complete, newline included. Lines are written
// in the order of their seqs, and synced before any observer gets them. A crash can therefore leave
// complete lines that no observer has seen, which stay, and at the end a part of a line, which
// Open() truncates before anything is added. The next seq follows the last complete line: a seq
// that was seen is never used again, and Prune() always keeps the newest line. Prune() writes a new
// file and renames it. Complete lines that are not events (damage, or another program's) are
// skipped and left alone.
//
// Reading takes no more memory than a page: an index in memory has the place of one event at
// intervals, kMaxIndexEntries at most, and a page is read from there.
//
// Not thread-safe: use on one thread at a time. After StorageFailed, discard it.
class EventLog {
 public:
  using Visitor = std::function<void(const EventHead& head, absl::string_view line)>;

  // Opens `folder`/events.jsonl, which is created if it is missing; repairs its end and calls
  // `visit` with each event, oldest first. The disk must outlive the log.
  static absl::StatusOr<std::unique_ptr<EventLog>> Open(Disk* disk, const std::string& folder,
                                                        const Visitor& visit);

  // Adds events under the next seqs, all or none: readable immediately, durable after Sync().
  // EventTooLarge, InvalidField, StorageFailed.
  absl::StatusOr<std::vector<AppendedEvent>> AppendAll(std::vector<NewEvent> events,
                                                       absl::Time now);
  absl::StatusOr<AppendedEvent> Append(NewEvent event, absl::Time now);
  // The next seq will be above `seq`.
  void SkipTo(int64_t seq) { max_seq_ = seq; }
  absl::Status Sync();

  // See EventQuery. InvalidField.
  absl::StatusOr<EventPage> Read(const EventQuery& query);

  // See SessionRecord::Prune().
  absl::StatusOr<int64_t> Prune(const SessionRetention& retention);

  int64_t max_seq() const { return max_seq_; }
  int64_t size() const { return size_; }
  int64_t bytes() const { return end_ + static_cast<int64_t>(unwritten_.size()); }
  // Closes the file descriptor until it is needed.
  void CloseFile() { file_.Close(); }

  static constexpr char kFileName[] = "events.jsonl";
  // Lines of other programs can be a little longer than ours; longer ones are not events.
  static constexpr size_t kMaxLineBytes = 2 * kMaxEventBytes;
  // 24 bytes each.
  static constexpr size_t kMaxIndexEntries = 4096;

 private:
  // The place of an event. Its position is the number of events before it.
  struct Place {
    int64_t seq = 0;
    int64_t position = 0;
    int64_t offset = 0;
  };

  EventLog(Disk* disk, std::string folder);

  absl::Status Scan(const Visitor& visit);
  absl::Status OpenFile(bool create);
  // Writes buffered events; appends are written in large pieces.
  absl::Status Flush();
  void Index(int64_t seq, int64_t offset);
  // The last indexed place for which `before` is true, which is at or before the place searched
  // for.
  template <typename Before>
  Place PlaceBefore(Before before) const;
  LineReader ReaderFrom(const Place& place) const;
  absl::StatusOr<EventPage> ReadForward(const EventQuery& query, size_t limit, size_t max_bytes);
  absl::StatusOr<EventPage> ReadBackward(const EventQuery& query, size_t limit, size_t max_bytes);
  // The place of the first event with at least this seq.
  absl::StatusOr<Place> Locate(int64_t seq);

  Disk* const disk_;
  const std::string folder_;
  const std::string path_;
  File file_;
  int64_t end_ = 0;  // Of the written part.
  std::string unwritten_;
  int64_t max_seq_ = 0;
  int64_t size_ = 0;
  std::vector<Place> index_;
  // Minimum number of bytes between two index entries; doubled whenever there are too many.
  int64_t index_step_ = int64_t{16} << 10;
};

}  // namespace callslip::tracker
