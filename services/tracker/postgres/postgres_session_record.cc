#include "tracker/postgres/postgres_session_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/postgres/fence.h"
#include "tracker/storage/image_folder.h"
#include "tracker/storage/json.h"
#include "tracker/storage/session_json.h"

namespace callslip::tracker {
namespace {

// In each statement $2 is the session and $3 the expected count of its changes.
#define CALLSLIP_NEXT_CHANGE "WHERE id = $2 AND writes = $3 AND " CALLSLIP_IF_FENCED

constexpr char kAppendEvents[] = CALLSLIP_FENCE
    ", grown AS (UPDATE callslip_sessions SET writes = writes + 1, max_seq = $4, "
    "events = events + $5, bytes = bytes + $6 " CALLSLIP_NEXT_CHANGE
    " RETURNING 1), "
    "put AS (INSERT INTO callslip_events SELECT $2, * FROM unnest($7, $8, $9) "
    "WHERE EXISTS (SELECT FROM grown)) "
    "SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM grown)";
constexpr char kSaveQueue[] = CALLSLIP_FENCE
    ", saved AS (UPDATE callslip_sessions SET writes = writes + 1, queue = $4 " CALLSLIP_NEXT_CHANGE
    " RETURNING 1) SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM saved)";
constexpr char kSaveMetadata[] = CALLSLIP_FENCE
    ", saved AS (UPDATE callslip_sessions SET writes = writes + 1, "
    "metadata = $4 " CALLSLIP_NEXT_CHANGE
    " RETURNING 1) SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM saved)";
constexpr char kPutImage[] = CALLSLIP_FENCE
    ", held AS (UPDATE callslip_sessions SET writes = writes + 1 " CALLSLIP_NEXT_CHANGE
    " RETURNING 1), "
    "put AS (INSERT INTO callslip_images SELECT $2, $4, $5, $6 WHERE EXISTS (SELECT FROM held) "
    "ON CONFLICT DO NOTHING) "
    "SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM held)";
// All events between the first one and the kept ones.
constexpr char kPrune[] = CALLSLIP_FENCE
    ", held AS (SELECT 1 FROM callslip_sessions " CALLSLIP_NEXT_CHANGE
    " FOR UPDATE), "
    "pruned AS (DELETE FROM callslip_events WHERE session = $2 AND seq > $4 AND seq < $5 "
    "AND EXISTS (SELECT FROM held) RETURNING octet_length(line)::bigint AS size), "
    "sum AS (SELECT count(*) AS events, coalesce(sum(size), 0)::bigint AS bytes FROM pruned), "
    "shrunk AS (UPDATE callslip_sessions SET writes = writes + 1, "
    "events = callslip_sessions.events - sum.events, "
    "bytes = callslip_sessions.bytes - sum.bytes FROM sum " CALLSLIP_NEXT_CHANGE
    " RETURNING 1) "
    "SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM shrunk), sum.events FROM sum";
// The first of the newest events to keep, limited by number and size.
constexpr char kOldestKept[] = R"sql(
  SELECT coalesce(min(seq), $2) FROM (
    SELECT seq, row_number() OVER (ORDER BY seq DESC) AS n,
      sum(octet_length(line)::bigint) OVER (ORDER BY seq DESC) AS bytes
    FROM callslip_events WHERE session = $1) AS newest
  WHERE n < $3 AND bytes <= $4
)sql";

constexpr char kForward[] = R"sql(
  SELECT seq, type, line FROM (
    SELECT seq, type, line,
      sum(octet_length(line)::bigint) OVER (ORDER BY seq) - octet_length(line) AS before
    FROM (SELECT seq, type, line FROM callslip_events
          WHERE session = $1 AND seq > $2 AND ($5 = '' OR type = $5) ORDER BY seq LIMIT $3) AS a
  ) AS page WHERE before < $4 ORDER BY seq
)sql";
constexpr char kBackward[] = R"sql(
  SELECT seq, type, line FROM (
    SELECT seq, type, line,
      sum(octet_length(line)::bigint) OVER (ORDER BY seq DESC) - octet_length(line) AS before
    FROM (SELECT seq, type, line FROM callslip_events
          WHERE session = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3) AS a
  ) AS page WHERE before < $4 ORDER BY seq DESC
)sql";

constexpr char kMeasure[] = R"sql(
  SELECT s.events, s.bytes, s.max_seq,
    coalesce((SELECT min(seq) FROM callslip_events WHERE session = $1), 0),
    coalesce((SELECT seq FROM callslip_events WHERE session = $1 ORDER BY seq OFFSET 1 LIMIT 1), 0),
    (SELECT count(*) FROM callslip_images WHERE session = $1),
    (SELECT coalesce(sum(octet_length(data)), 0)::bigint FROM callslip_images WHERE session = $1)
  FROM callslip_sessions AS s WHERE s.id = $1
)sql";

absl::string_view WithoutNewline(absl::string_view line) { return line.substr(0, line.size() - 1); }

// StorageFailed if the line in a row does not belong to its event.
absl::StatusOr<EventPtr> EventOf(const PostgresResult& page, int row) {
  const absl::string_view line = page.Bytes(row, 2);
  const std::optional<EventHead> head =
      line.empty() ? std::nullopt : DecodeHead(WithoutNewline(line));
  if (!head.has_value() || head->seq != page.Int(row, 0)) {
    return StorageFailed(absl::StrCat("reading event ", page.Int(row, 0), ", which is none,"));
  }
  return DecodeEvent(*head, WithoutNewline(line));
}

}  // namespace

absl::Status PostgresSessionRecord::CheckSaved(const absl::StatusOr<PostgresResult>& result) {
  RETURN_IF_ERROR(CheckFence(result, epoch_));
  if (result->Int(0, 1) == 0) return StorageFailed("writing a session that has changed meanwhile");
  ++extent_.writes;
  return absl::OkStatus();
}

absl::StatusOr<PostgresSessionRecord::Extent> PostgresSessionRecord::Measure(
    PostgresPool& pool, const std::string& id) {
  const auto row = pool.Query(kMeasure, PostgresParameters().AddText(id));
  if (!row.ok()) return DatabaseFailed(row.status());
  if (row->rows() == 0) return SessionNotFound(id);
  return Extent{.events = row->Int(0, 0),
                .bytes = row->Int(0, 1),
                .max_seq = row->Int(0, 2),
                .first_seq = row->Int(0, 3),
                .second_seq = row->Int(0, 4),
                .images = row->Int(0, 5),
                .image_bytes = row->Int(0, 6)};
}

absl::Status PostgresSessionRecord::ForEachLine(PostgresPool& pool, const std::string& id,
                                                Visitor visit) {
  int64_t last = 0;
  while (true) {
    const auto page = pool.Query(kForward, PostgresParameters()
                                               .AddText(id)
                                               .Add(last)
                                               .Add(int64_t{kMaxEventPage})
                                               .Add(static_cast<int64_t>(kMaxScanBytes))
                                               .AddText(""));
    if (!page.ok()) return DatabaseFailed(page.status());
    if (page->rows() == 0) return absl::OkStatus();
    for (int row = 0; row < page->rows(); ++row) {
      last = page->Int(row, 0);
      const absl::string_view line = WithoutNewline(page->Bytes(row, 2));
      const std::optional<EventHead> head = DecodeHead(line);
      if (head.has_value()) visit(*head, line);
    }
  }
}

absl::StatusOr<std::vector<AppendedEvent>> PostgresSessionRecord::AppendAll(
    std::vector<NewEvent> events, absl::Time now) {
  ASSIGN_OR_RETURN(std::vector<EncodedEvent> encoded,
                   EncodeEvents(extent_.max_seq + 1, now, std::move(events)));
  std::vector<AppendedEvent> appended;
  appended.reserve(encoded.size());
  for (EncodedEvent& event : encoded) {
    const int64_t seq = event.appended.event->seq;
    if (extent_.events == 0) extent_.first_seq = seq;
    if (extent_.events == 1) extent_.second_seq = seq;
    ++extent_.events;
    extent_.max_seq = seq;
    extent_.bytes += static_cast<int64_t>(event.line.size());
    unwritten_bytes_ += event.line.size();
    unwritten_heads_.push_back({.seq = seq, .type = event.appended.event->type, .timestamp = now});
    unwritten_.push_back(std::move(event.line));
    appended.push_back(std::move(event.appended));
    if (unwritten_bytes_ >= kFlushBytes) RETURN_IF_ERROR(SyncLog());
  }
  return appended;
}

absl::Status PostgresSessionRecord::SyncLog() {
  if (unwritten_.empty()) return absl::OkStatus();
  std::vector<std::optional<int64_t>> seqs;
  std::vector<absl::string_view> types;
  for (const EventHead& head : unwritten_heads_) {
    seqs.emplace_back(head.seq);
    types.emplace_back(head.type);
  }
  const auto appended = pool_->Query(
      kAppendEvents,
      PostgresParameters()
          .Add(epoch_)
          .AddText(id_)
          .Add(extent_.writes)
          .Add(extent_.max_seq)
          .Add(static_cast<int64_t>(unwritten_.size()))
          .Add(static_cast<int64_t>(unwritten_bytes_))
          .AddArray(seqs)
          .AddTextArray(types)
          .AddBytesArray(std::vector<absl::string_view>(unwritten_.begin(), unwritten_.end())));
  RETURN_IF_ERROR(CheckSaved(appended));
  unwritten_.clear();
  unwritten_heads_.clear();
  unwritten_bytes_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<EventPage> PostgresSessionRecord::Read(const EventQuery& query) {
  if (query.value < 0) return InvalidField("after_seq, before_seq or position", "is negative");
  if (query.limit < 0) return InvalidField("limit", "is negative");
  RETURN_IF_ERROR(SyncLog());
  const int64_t limit = query.limit == 0 ? kDefaultEventPage : std::min(query.limit, kMaxEventPage);
  const auto max_bytes = static_cast<int64_t>(
      query.max_bytes == 0 ? kMaxPageBytes : std::min(query.max_bytes, kMaxPageBytes));
  absl::StatusOr<EventPage> page = query.from == EventQuery::From::kBeforeSeq
                                       ? ReadBackward(query, limit, max_bytes)
                                       : ReadForward(query, limit, max_bytes);
  if (!page.ok()) return page;
  page->max_seq = extent_.max_seq;
  page->length = extent_.events;
  return page;
}

absl::StatusOr<EventPage> PostgresSessionRecord::ReadForward(const EventQuery& query, int64_t limit,
                                                             int64_t max_bytes) {
  const bool by_seq = query.from == EventQuery::From::kAfterSeq;
  int64_t after = query.value;
  if (!by_seq) {
    ASSIGN_OR_RETURN(const int64_t seq, SeqAt(query.value));
    after = seq - 1;
  }
  const auto rows = pool_->Query(
      kForward,
      PostgresParameters().AddText(id_).Add(after).Add(limit).Add(max_bytes).AddText(query.type));
  if (!rows.ok()) return DatabaseFailed(rows.status());
  EventPage page;
  int64_t bytes = 0;
  bool is_last = rows->rows() < limit;
  for (int row = 0; row < rows->rows(); ++row) {
    bytes += static_cast<int64_t>(rows->Bytes(row, 2).size());
    if (bytes > max_bytes && !page.events.empty()) {
      is_last = false;
      break;
    }
    ASSIGN_OR_RETURN(EventPtr event, EventOf(*rows, row));
    page.events.push_back(std::move(event));
  }
  if (bytes >= max_bytes) is_last = false;
  if (is_last) {
    // No matching event follows.
    page.next_position = extent_.events;
    page.next_after_seq = std::max(by_seq ? query.value : 0, extent_.max_seq);
  } else {
    page.next_after_seq = page.events.back()->seq;
    ASSIGN_OR_RETURN(page.next_position, PositionOf(page.next_after_seq + 1));
  }
  page.has_more = page.next_position < extent_.events;
  return page;
}

absl::StatusOr<EventPage> PostgresSessionRecord::ReadBackward(const EventQuery& query,
                                                              int64_t limit, int64_t max_bytes) {
  if (!query.type.empty()) return InvalidField("type", "goes with after_seq and position only");
  const auto rows = pool_->Query(
      kBackward, PostgresParameters().AddText(id_).Add(query.value).Add(limit).Add(max_bytes));
  if (!rows.ok()) return DatabaseFailed(rows.status());
  EventPage page;
  int64_t bytes = 0;
  for (int row = 0; row < rows->rows(); ++row) {
    bytes += static_cast<int64_t>(rows->Bytes(row, 2).size());
    if (bytes > max_bytes && !page.events.empty()) break;
    ASSIGN_OR_RETURN(EventPtr event, EventOf(*rows, row));
    page.events.push_back(std::move(event));
  }
  std::reverse(page.events.begin(), page.events.end());
  ASSIGN_OR_RETURN(page.next_position, PositionOf(query.value));
  page.has_more = page.next_position > static_cast<int64_t>(page.events.size());
  return page;
}

bool PostgresSessionRecord::IsDense() const {
  return extent_.events < 2 || extent_.max_seq - extent_.second_seq + 2 == extent_.events;
}

absl::StatusOr<int64_t> PostgresSessionRecord::PositionOf(int64_t seq) {
  if (seq > extent_.max_seq) return extent_.events;
  if (extent_.events == 0 || seq <= extent_.first_seq) return 0;
  if (IsDense()) return 1 + std::max<int64_t>(seq - extent_.second_seq, 0);
  const auto count =
      pool_->Query("SELECT count(*) FROM callslip_events WHERE session = $1 AND seq < $2",
                   PostgresParameters().AddText(id_).Add(seq));
  if (!count.ok()) return DatabaseFailed(count.status());
  return count->Int(0, 0);
}

absl::StatusOr<int64_t> PostgresSessionRecord::SeqAt(int64_t position) {
  if (position >= extent_.events) return extent_.max_seq + 1;
  if (position == 0) return extent_.first_seq;
  if (IsDense()) return extent_.second_seq + position - 1;
  const auto seq = pool_->Query(
      "SELECT seq FROM callslip_events WHERE session = $1 ORDER BY seq OFFSET $2 LIMIT 1",
      PostgresParameters().AddText(id_).Add(position));
  if (!seq.ok()) return DatabaseFailed(seq.status());
  return seq->rows() == 0 ? extent_.max_seq + 1 : seq->Int(0, 0);
}

absl::StatusOr<int64_t> PostgresSessionRecord::Prune(const SessionRetention& retention) {
  RETURN_IF_ERROR(SyncLog());
  const int64_t max_events = retention.max_events > 0 ? retention.max_events : extent_.events;
  const int64_t max_bytes = retention.max_bytes > 0 ? retention.max_bytes : extent_.bytes;
  if (extent_.events <= std::max<int64_t>(max_events, 2) && extent_.bytes <= max_bytes) return 0;
  const auto first = pool_->Query(kForward, PostgresParameters()
                                                .AddText(id_)
                                                .Add(int64_t{0})
                                                .Add(int64_t{1})
                                                .Add(int64_t{1})
                                                .AddText(""));
  if (!first.ok()) return DatabaseFailed(first.status());
  if (first->rows() == 0) return 0;
  const auto kept = pool_->Query(
      kOldestKept, PostgresParameters()
                       .AddText(id_)
                       .Add(extent_.max_seq)
                       .Add(std::max<int64_t>(max_events, 1))
                       .Add(max_bytes - static_cast<int64_t>(first->Bytes(0, 2).size())));
  if (!kept.ok()) return DatabaseFailed(kept.status());
  const auto pruned = pool_->Query(kPrune, PostgresParameters()
                                               .Add(epoch_)
                                               .AddText(id_)
                                               .Add(extent_.writes)
                                               .Add(extent_.first_seq)
                                               .Add(kept->Int(0, 0)));
  RETURN_IF_ERROR(CheckSaved(pruned));
  const int64_t writes = extent_.writes;
  ASSIGN_OR_RETURN(extent_, Measure(*pool_, id_));
  extent_.writes = writes;
  return pruned->Int(0, 2);
}

absl::Status PostgresSessionRecord::SaveQueue(const std::deque<QueuedMessage>& messages,
                                              const DeliveryState& delivery, absl::Time now) {
  const std::string queue = EncodeQueue(messages, delivery, now);
  return CheckSaved(pool_->Query(
      kSaveQueue,
      PostgresParameters().Add(epoch_).AddText(id_).Add(extent_.writes).AddText(queue)));
}

absl::Status PostgresSessionRecord::SaveMetadata(const SessionMetadata& metadata) {
  const std::string text = EncodeMetadata(metadata);
  return CheckSaved(pool_->Query(
      kSaveMetadata,
      PostgresParameters().Add(epoch_).AddText(id_).Add(extent_.writes).AddText(text)));
}

absl::Status PostgresSessionRecord::CheckObject(absl::string_view field,
                                                absl::string_view json) const {
  return CheckJsonObject(field, json);
}

absl::StatusOr<ImageRef> PostgresSessionRecord::PutImage(const std::string& data,
                                                         const std::string& name, size_t limit) {
  ImageRef image{.id = ImageIdOf(data), .name = name, .mime_type = std::string(ImageTypeOf(data))};
  const auto there = pool_->Query("SELECT name FROM callslip_images WHERE session = $1 AND id = $2",
                                  PostgresParameters().AddText(id_).AddText(image.id));
  if (!there.ok()) return DatabaseFailed(there.status());
  if (there->rows() == 1) {
    image.name = there->Text(0, 0);
    return image;
  }
  if (static_cast<size_t>(extent_.images) >= limit) return TooManyImages(limit);
  const auto put = pool_->Query(kPutImage, PostgresParameters()
                                               .Add(epoch_)
                                               .AddText(id_)
                                               .Add(extent_.writes)
                                               .AddText(image.id)
                                               .AddText(name)
                                               .AddBytes(data));
  RETURN_IF_ERROR(CheckSaved(put));
  ++extent_.images;
  extent_.image_bytes += static_cast<int64_t>(data.size());
  return image;
}

absl::StatusOr<Image> PostgresSessionRecord::GetImage(const std::string& id) {
  const auto row =
      pool_->Query("SELECT name, data FROM callslip_images WHERE session = $1 AND id = $2",
                   PostgresParameters().AddText(id_).AddText(id));
  if (!row.ok()) return DatabaseFailed(row.status());
  if (row->rows() == 0) return ImageNotFound(id);
  Image image{.data = row->Text(0, 1)};
  image.ref = {
      .id = id, .name = row->Text(0, 0), .mime_type = std::string(ImageTypeOf(image.data))};
  return image;
}

}  // namespace callslip::tracker
