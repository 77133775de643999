#include "tracker/storage/event_log.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;

}  // namespace

EventLog::EventLog(Disk* disk, std::string folder)
    : disk_(disk), folder_(std::move(folder)), path_(absl::StrCat(folder_, "/", kFileName)) {}

absl::StatusOr<std::unique_ptr<EventLog>> EventLog::Open(Disk* disk, const std::string& folder,
                                                         const Visitor& visit) {
  std::unique_ptr<EventLog> log(new EventLog(disk, folder));
  // A crash in Prune() can leave it.
  RETURN_IF_ERROR(disk->RemoveFile(log->path_ + ".tmp"));
  RETURN_IF_ERROR(log->OpenFile(/*create=*/true));
  RETURN_IF_ERROR(log->Scan(visit));
  return log;
}

absl::Status EventLog::Scan(const Visitor& visit) {
  ASSIGN_OR_RETURN(const int64_t size, disk_->SizeOf(file_));
  end_ = 0;
  size_ = 0;
  index_.clear();
  LineReader reader(disk_, &file_, 0, size, kMaxLineBytes);
  LineReader::Line line;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) break;
    end_ = line.end;
    const std::optional<EventHead> head = DecodeHead(line.text);
    if (!head.has_value() || head->seq <= max_seq_) continue;
    Index(head->seq, line.begin);
    visit(*head, line.text);
  }
  if (end_ == size) return absl::OkStatus();
  RETURN_IF_ERROR(disk_->Truncate(file_, end_));
  return disk_->Sync(file_);
}

absl::StatusOr<AppendedEvent> EventLog::Append(NewEvent event, absl::Time now) {
  std::vector<NewEvent> one;
  one.push_back(std::move(event));
  ASSIGN_OR_RETURN(std::vector<AppendedEvent> appended, AppendAll(std::move(one), now));
  return std::move(appended.front());
}

absl::StatusOr<std::vector<AppendedEvent>> EventLog::AppendAll(std::vector<NewEvent> events,
                                                               absl::Time now) {
  ASSIGN_OR_RETURN(std::vector<EncodedEvent> encoded,
                   EncodeEvents(max_seq_ + 1, now, std::move(events)));
  std::vector<AppendedEvent> appended;
  appended.reserve(encoded.size());
  for (EncodedEvent& each : encoded) {
    Index(each.appended.event->seq, bytes());
    absl::StrAppend(&unwritten_, each.line);
    appended.push_back(std::move(each.appended));
    if (unwritten_.size() >= kFlushBytes) RETURN_IF_ERROR(Flush());
  }
  return appended;
}

absl::Status EventLog::Sync() {
  RETURN_IF_ERROR(Flush());
  RETURN_IF_ERROR(OpenFile(/*create=*/false));
  return disk_->Sync(file_);
}

absl::StatusOr<EventPage> EventLog::Read(const EventQuery& query) {
  if (query.value < 0) return InvalidField("after_seq, before_seq or position", "is negative");
  if (query.limit < 0) return InvalidField("limit", "is negative");
  RETURN_IF_ERROR(Flush());
  RETURN_IF_ERROR(OpenFile(/*create=*/false));
  const auto limit = static_cast<size_t>(query.limit == 0 ? kDefaultEventPage
                                                          : std::min(query.limit, kMaxEventPage));
  const size_t max_bytes =
      query.max_bytes == 0 ? kMaxPageBytes : std::min(query.max_bytes, kMaxPageBytes);
  absl::StatusOr<EventPage> page = query.from == EventQuery::From::kBeforeSeq
                                       ? ReadBackward(query, limit, max_bytes)
                                       : ReadForward(query, limit, max_bytes);
  if (!page.ok()) return page;
  page->max_seq = max_seq_;
  page->length = size_;
  return page;
}

absl::StatusOr<EventPage> EventLog::ReadForward(const EventQuery& query, size_t limit,
                                                size_t max_bytes) {
  const bool by_seq = query.from == EventQuery::From::kAfterSeq;
  const Place start = PlaceBefore([&](const Place& place) {
    return by_seq ? place.seq <= query.value : place.position <= query.value;
  });
  EventPage page;
  page.next_position = start.position;
  page.next_after_seq = by_seq ? query.value : 0;
  LineReader reader = ReaderFrom(start);
  LineReader::Line line;
  int64_t last_seq = start.seq - 1;
  size_t bytes = 0;
  while (page.events.size() < limit) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) break;
    const std::optional<EventHead> head = DecodeHead(line.text);
    if (!head.has_value() || head->seq <= last_seq) continue;
    last_seq = head->seq;
    const bool skipped = by_seq ? head->seq <= query.value : page.next_position < query.value;
    if (!skipped && (query.type.empty() || query.type == head->type)) {
      bytes += line.text.size() + 1;
      if (bytes > max_bytes && !page.events.empty()) break;
      page.events.push_back(DecodeEvent(*head, line.text));
    }
    ++page.next_position;
    page.next_after_seq = std::max(page.next_after_seq, head->seq);
    if (line.end - start.offset > static_cast<int64_t>(kMaxScanBytes)) break;
  }
  page.has_more = page.next_position < size_;
  return page;
}

absl::StatusOr<EventPage> EventLog::ReadBackward(const EventQuery& query, size_t limit,
                                                 size_t max_bytes) {
  if (!query.type.empty()) return InvalidField("type", "goes with after_seq and position only");
  ASSIGN_OR_RETURN(const Place stop, Locate(query.value));
  // The page begins at or after both of these.
  const int64_t first_position = stop.position - static_cast<int64_t>(limit);
  const int64_t first_offset = stop.offset - static_cast<int64_t>(max_bytes);
  const Place start = PlaceBefore([&](const Place& place) {
    return place.position <= first_position || place.offset <= first_offset;
  });
  std::deque<EventPtr> found;
  size_t bytes = 0;
  LineReader reader = ReaderFrom(start);
  LineReader::Line line;
  int64_t last_seq = start.seq - 1;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more || line.begin >= stop.offset) break;
    const std::optional<EventHead> head = DecodeHead(line.text);
    if (!head.has_value() || head->seq <= last_seq) continue;
    last_seq = head->seq;
    found.push_back(DecodeEvent(*head, line.text));
    bytes += found.back()->bytes;
    while (found.size() > limit || (bytes > max_bytes && found.size() > 1)) {
      bytes -= found.front()->bytes;
      found.pop_front();
    }
  }
  EventPage page;
  page.next_position = stop.position;
  page.has_more = stop.position > static_cast<int64_t>(found.size());
  page.events.assign(found.begin(), found.end());
  return page;
}

absl::StatusOr<EventLog::Place> EventLog::Locate(int64_t seq) {
  if (seq > max_seq_) return Place{max_seq_ + 1, size_, end_};
  Place place = PlaceBefore([&](const Place& indexed) { return indexed.seq <= seq; });
  LineReader reader = ReaderFrom(place);
  LineReader::Line line;
  int64_t last_seq = place.seq - 1;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) return place;
    const std::optional<EventHead> head = DecodeHead(line.text);
    if (!head.has_value() || head->seq <= last_seq) continue;
    if (head->seq >= seq) return Place{head->seq, place.position, line.begin};
    last_seq = head->seq;
    ++place.position;
  }
}

absl::StatusOr<int64_t> EventLog::Prune(const SessionRetention& retention) {
  RETURN_IF_ERROR(Sync());
  const int64_t max_events = retention.max_events > 0 ? retention.max_events : size_;
  const int64_t max_bytes = retention.max_bytes > 0 ? retention.max_bytes : end_;
  if (size_ <= std::max<int64_t>(max_events, 2) && end_ <= max_bytes) return 0;

  const std::string temporary = path_ + ".tmp";
  ASSIGN_OR_RETURN(const File pruned, disk_->OpenEmpty(temporary));
  LineReader reader(disk_, &file_, 0, end_, kMaxLineBytes);
  LineReader::Line line;
  std::string kept;
  int64_t position = 0;
  int64_t removed = 0;
  int64_t last_seq = 0;
  int64_t first_bytes = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) break;
    const std::optional<EventHead> head = DecodeHead(line.text);
    if (!head.has_value() || head->seq <= last_seq) continue;
    last_seq = head->seq;
    if (position == 0) first_bytes = line.end - line.begin;
    // The first event describes the session, and the newest has the last seq used.
    const bool among_newest =
        position > size_ - max_events && end_ - line.begin <= max_bytes - first_bytes;
    if (position == 0 || position == size_ - 1 || among_newest) {
      absl::StrAppend(&kept, line.text, "\n");
    } else {
      ++removed;
    }
    ++position;
    if (kept.size() < kFlushBytes) continue;
    RETURN_IF_ERROR(disk_->Write(pruned, kept));
    kept.clear();
  }
  RETURN_IF_ERROR(disk_->Write(pruned, kept));
  RETURN_IF_ERROR(disk_->Sync(pruned));
  RETURN_IF_ERROR(disk_->Rename(temporary, path_));
  RETURN_IF_ERROR(disk_->SyncFolder(folder_));
  file_.Close();
  RETURN_IF_ERROR(OpenFile(/*create=*/false));
  max_seq_ = 0;
  RETURN_IF_ERROR(Scan([](const EventHead&, absl::string_view) {}));
  return removed;
}

absl::Status EventLog::OpenFile(bool create) {
  if (file_.is_open()) return absl::OkStatus();
  ASSIGN_OR_RETURN(file_, disk_->OpenForAppend(path_, create));
  return absl::OkStatus();
}

absl::Status EventLog::Flush() {
  if (unwritten_.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(OpenFile(/*create=*/false));
  RETURN_IF_ERROR(disk_->Write(file_, unwritten_));
  end_ += static_cast<int64_t>(unwritten_.size());
  unwritten_.clear();
  // Release the memory of a burst.
  if (unwritten_.capacity() > kFlushBytes / 4) unwritten_.shrink_to_fit();
  return absl::OkStatus();
}

void EventLog::Index(int64_t seq, int64_t offset) {
  if (index_.empty() || offset - index_.back().offset >= index_step_) {
    index_.push_back({seq, size_, offset});
  }
  max_seq_ = seq;
  ++size_;
  if (index_.size() <= kMaxIndexEntries) return;
  size_t kept = 0;
  for (size_t i = 0; i < index_.size(); i += 2) index_[kept++] = index_[i];
  index_.resize(kept);
  index_step_ *= 2;
}

template <typename Before>
EventLog::Place EventLog::PlaceBefore(Before before) const {
  const auto after = std::partition_point(index_.begin(), index_.end(), before);
  if (after == index_.begin()) return index_.empty() ? Place{} : index_.front();
  return *std::prev(after);
}

LineReader EventLog::ReaderFrom(const Place& place) const {
  return LineReader(disk_, &file_, place.offset, end_, kMaxLineBytes);
}

}  // namespace callslip::tracker
