// PostgresSessionStorage: moving sessions to and from other storages.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/postgres/fence.h"
#include "tracker/postgres/postgres_session_record.h"
#include "tracker/postgres/postgres_session_storage.h"

namespace callslip::tracker {
namespace {

constexpr char kPutLines[] = CALLSLIP_FENCE
    ", put AS (INSERT INTO callslip_events SELECT $2, * FROM unnest($3, $4, $5) "
    "WHERE " CALLSLIP_IF_FENCED ") SELECT count(*) FROM fence";
constexpr char kCopyImage[] = CALLSLIP_FENCE
    ", put AS (INSERT INTO callslip_images SELECT $2, $3, $4, $5 "
    "WHERE " CALLSLIP_IF_FENCED ") SELECT count(*) FROM fence";
// Turns everything written before into a session.
constexpr char kPutSession[] = CALLSLIP_FENCE
    ", put AS (INSERT INTO callslip_sessions (id, metadata, queue, max_seq, events, bytes) "
    "SELECT $2, $3, nullif($4, ''), $5, $6, $7 WHERE " CALLSLIP_IF_FENCED
    ") "
    "SELECT count(*) FROM fence";

class PostgresSessionSink final : public SessionSink {
 public:
  PostgresSessionSink(PostgresPool* pool, int64_t epoch, std::string id)
      : pool_(pool), epoch_(epoch), id_(std::move(id)) {}

  absl::Status AddLine(const EventHead& head, absl::string_view line) override {
    max_seq_ = head.seq;
    ++events_;
    seqs_.emplace_back(head.seq);
    types_.push_back(head.type);
    lines_.push_back(absl::StrCat(line, "\n"));
    bytes_ += static_cast<int64_t>(lines_.back().size());
    waiting_bytes_ += lines_.back().size();
    return waiting_bytes_ < kFlushBytes ? absl::OkStatus() : Flush();
  }
  absl::Status AddImage(const Image& image) override {
    return CheckFence(pool_->Query(kCopyImage, PostgresParameters()
                                                   .Add(epoch_)
                                                   .AddText(id_)
                                                   .AddText(image.ref.id)
                                                   .AddText(image.ref.name)
                                                   .AddBytes(image.data)),
                      epoch_);
  }
  absl::Status Finish(absl::string_view metadata, absl::string_view queue) override {
    RETURN_IF_ERROR(Flush());
    return CheckFence(pool_->Query(kPutSession, PostgresParameters()
                                                    .Add(epoch_)
                                                    .AddText(id_)
                                                    .AddText(metadata)
                                                    .AddText(queue)
                                                    .Add(max_seq_)
                                                    .Add(events_)
                                                    .Add(bytes_)),
                      epoch_);
  }

 private:
  static constexpr size_t kFlushBytes = size_t{1} << 20;

  absl::Status Flush() {
    if (lines_.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(CheckFence(
        pool_->Query(
            kPutLines,
            PostgresParameters()
                .Add(epoch_)
                .AddText(id_)
                .AddArray(seqs_)
                .AddTextArray(std::vector<absl::string_view>(types_.begin(), types_.end()))
                .AddBytesArray(std::vector<absl::string_view>(lines_.begin(), lines_.end()))),
        epoch_));
    seqs_.clear();
    types_.clear();
    lines_.clear();
    waiting_bytes_ = 0;
    return absl::OkStatus();
  }

  PostgresPool* const pool_;
  const int64_t epoch_;
  const std::string id_;
  int64_t max_seq_ = 0;
  int64_t events_ = 0;
  int64_t bytes_ = 0;
  std::vector<std::optional<int64_t>> seqs_;
  std::vector<std::string> types_;
  std::vector<std::string> lines_;
  size_t waiting_bytes_ = 0;
};

}  // namespace

absl::Status PostgresSessionStorage::Copy(const std::string& id, SessionSink& to) {
  ASSIGN_OR_RETURN(const LoadedSession loaded, Load(id));
  absl::Status copied;
  RETURN_IF_ERROR(PostgresSessionRecord::ForEachLine(
      pool_, id, [&](const EventHead& head, absl::string_view line) {
        if (copied.ok()) copied = to.AddLine(head, line);
      }));
  RETURN_IF_ERROR(copied);
  const auto images =
      pool_.Query("SELECT id FROM callslip_images WHERE session = $1 ORDER BY id COLLATE \"C\"",
                  PostgresParameters().AddText(id));
  if (!images.ok()) return DatabaseFailed(images.status());
  for (int row = 0; row < images->rows(); ++row) {
    ASSIGN_OR_RETURN(const Image image, loaded.record->GetImage(images->Text(row, 0)));
    RETURN_IF_ERROR(to.AddImage(image));
  }
  const auto texts =
      pool_.Query("SELECT metadata, coalesce(queue, '') FROM callslip_sessions WHERE id = $1",
                  PostgresParameters().AddText(id));
  if (!texts.ok()) return DatabaseFailed(texts.status());
  if (texts->rows() == 0) return SessionNotFound(id);
  return to.Finish(texts->Bytes(0, 0), texts->Bytes(0, 1));
}

absl::StatusOr<std::unique_ptr<SessionSink>> PostgresSessionStorage::Put(const std::string& id) {
  RETURN_IF_ERROR(CheckSessionId(id));
  ASSIGN_OR_RETURN(const bool exists, Exists(id));
  if (exists) return SessionExists(id);
  return std::make_unique<PostgresSessionSink>(&pool_, epoch_, id);
}

}  // namespace callslip::tracker
