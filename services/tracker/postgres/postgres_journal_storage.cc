#include "tracker/postgres/postgres_journal_storage.h"

#include <algorithm>
#include <future>
#include <map>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

// Of one result of the database.
constexpr int64_t kPageRows = 5000;
constexpr int64_t kPageBytes = int64_t{16} << 20;

// Changes nothing unless `moved` has a row. Deleted and inserted rows are disjoint.
constexpr char kAppend[] = R"sql(
  WITH moved AS (
    UPDATE callslip_cell SET count = count + 1, last_sequence = greatest(last_sequence, $3),
      latest = greatest(latest, $4)
    WHERE part = 'journal' AND epoch = $1 AND count = $2 RETURNING 1),
  gone AS (
    DELETE FROM callslip_entries WHERE key = ANY ($5) AND EXISTS (SELECT FROM moved)),
  outdated AS (
    DELETE FROM callslip_entries WHERE key IN (
      SELECT key FROM callslip_entries WHERE until <= $6 ORDER BY until, number LIMIT 1000)
    AND EXISTS (SELECT FROM moved) RETURNING 1),
  put AS (
    INSERT INTO callslip_entries
    SELECT * FROM unnest($7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
    WHERE EXISTS (SELECT FROM moved)
    ON CONFLICT (key) DO UPDATE SET until = excluded.until, number = excluded.number,
      kind = excluded.kind, id = excluded.id, client = excluded.client, target = excluded.target,
      type = excluded.type, registered = excluded.registered, state = excluded.state,
      worker = excluded.worker, error_code = excluded.error_code, crc = excluded.crc,
      record = excluded.record)
  SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM outdated)
)sql";

// Waits for an append that may still be in progress.
constexpr char kPosition[] =
    "SELECT epoch, count, format FROM callslip_cell WHERE part = 'journal' FOR UPDATE";

// Rows up to the one that fills the page.
constexpr char kEntries[] = R"sql(
  SELECT key, record, crc FROM (
    SELECT key, record, crc,
      sum(octet_length(record)::bigint) OVER (ORDER BY key) - octet_length(record) AS before
    FROM (SELECT key, record, crc FROM callslip_entries WHERE until IS NULL AND key > $1
          ORDER BY key LIMIT $2) AS rows) AS page
  WHERE before < $3 ORDER BY key
)sql";
constexpr char kTombstones[] =
    "SELECT key, record, crc, until, number FROM callslip_entries WHERE until IS NOT NULL AND "
    "(until, number) > ($1, $2) ORDER BY until, number LIMIT $3";
constexpr char kDropOldest[] =
    "WITH ours AS (SELECT 1 FROM callslip_cell WHERE part = 'journal' AND epoch = $2 FOR SHARE) "
    "DELETE FROM callslip_entries WHERE key IN (SELECT key FROM callslip_entries WHERE until IS "
    "NOT NULL ORDER BY until, number LIMIT $1) AND EXISTS (SELECT FROM ours)";

absl::Status Explain(const absl::Status& error) {
  if (error.ok()) return error;
  return absl::Status(error.code(), absl::StrCat("--storage: ", error.message()));
}

}  // namespace

// An append as columns.
struct PostgresJournalStorage::Rows {
  std::vector<std::optional<int64_t>> gone;
  int64_t outdated_at = 0;
  int64_t tombstones = 0;
  std::vector<EntryRow> put;
};

absl::StatusOr<std::unique_ptr<PostgresJournalStorage>> PostgresJournalStorage::Open(
    std::string url, uint64_t epoch, int64_t format, int64_t max_tombstones) {
  std::unique_ptr<PostgresJournalStorage> storage(new PostgresJournalStorage(
      std::move(url), static_cast<int64_t>(epoch), format, max_tombstones));
  RETURN_IF_ERROR(Explain(storage->Connect()));
  return storage;
}

absl::StatusOr<std::unique_ptr<PostgresJournalStorage>> PostgresJournalStorage::OpenToRead(
    std::string url) {
  auto connection = PostgresConnection::Open(url);
  if (!connection.ok()) return Explain(connection.status());
  // All pages show the same moment, however long the reader takes for each.
  RETURN_IF_ERROR(Explain((*connection)
                              ->Run("SET idle_in_transaction_session_timeout = 600000; "
                                    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")));
  std::unique_ptr<PostgresJournalStorage> storage(
      new PostgresJournalStorage(std::move(url), kNoEpoch, kPostgresFormat, kMaxTombstones));
  storage->connection_ = *std::move(connection);
  return storage;
}

absl::Status PostgresJournalStorage::Connect() {
  if (connection_ != nullptr && connection_->is_open()) return absl::OkStatus();
  if (epoch_ == kNoEpoch) return absl::UnavailableError("the connection to the database has ended");
  ASSIGN_OR_RETURN(auto connection, PostgresConnection::Open(url_));
  ASSIGN_OR_RETURN(const PostgresResult row, connection->Query(kPosition));
  if (row.rows() != 1) return absl::DataLossError("the table callslip_cell has lost its rows");
  if (row.Int(0, 0) != epoch_ || row.Int(0, 2) != format_)
    return CellIsTaken(static_cast<uint64_t>(epoch_));
  position_ = static_cast<uint64_t>(row.Int(0, 1));
  connection_ = std::move(connection);
  return absl::OkStatus();
}

absl::StatusOr<PostgresJournalStorage::Rows> PostgresJournalStorage::RowsOf(
    absl::Span<const JournalEntry> entries) {
  Rows rows;
  // The final state of each key: a row, or none.
  std::map<int64_t, std::optional<EntryRow>> last;
  EntryRowChange change;
  for (const JournalEntry& entry : entries) {
    RETURN_IF_ERROR(encoder_.Encode(entry, change));
    for (int64_t key = change.remove_from; key <= change.remove_to; ++key) last[key] = std::nullopt;
    if (change.puts) last[change.row.key] = std::move(change.row);
    if (const auto* removal = std::get_if<CommandRemoval>(&entry.change)) {
      rows.outdated_at = std::max(rows.outdated_at, removal->remove_nanos);
      ++rows.tombstones;
    }
  }
  for (auto& [key, row] : last) {
    if (row.has_value()) {
      rows.put.push_back(*std::move(row));
    } else {
      rows.gone.emplace_back(key);
    }
  }
  return rows;
}

absl::Status PostgresJournalStorage::Append(uint64_t position,
                                            absl::Span<const JournalEntry> entries) {
  if (position != position_) {
    return absl::FailedPreconditionError(
        absl::StrCat("append ", position, " already exists, made by another tracker"));
  }
  RETURN_IF_ERROR(Explain(Connect()));
  ASSIGN_OR_RETURN(const Rows rows, RowsOf(entries));
  const Summary summary = SummaryOf(entries);
  const auto numbers = [&](auto member) {
    std::vector<std::optional<int64_t>> values;
    for (const EntryRow& row : rows.put) values.emplace_back(row.*member);
    return values;
  };
  const auto texts = [&](auto member) {
    std::vector<absl::string_view> values;
    for (const EntryRow& row : rows.put) values.emplace_back(row.*member);
    return values;
  };
  PostgresParameters parameters;
  parameters.Add(epoch_)
      .Add(static_cast<int64_t>(position_))
      .Add(static_cast<int64_t>(summary.last_sequence))
      .Add(summary.latest_nanos)
      .AddArray(rows.gone)
      .Add(rows.outdated_at)
      .AddArray(numbers(&EntryRow::key))
      .AddArray(numbers(&EntryRow::until))
      .AddArray(numbers(&EntryRow::number))
      .AddTextArray(texts(&EntryRow::kind))
      .AddTextArray(texts(&EntryRow::id))
      .AddTextArray(texts(&EntryRow::client))
      .AddTextArray(texts(&EntryRow::target))
      .AddTextArray(texts(&EntryRow::type))
      .AddArray(numbers(&EntryRow::registered))
      .AddTextArray(texts(&EntryRow::state))
      .AddTextArray(texts(&EntryRow::worker))
      .AddTextArray(texts(&EntryRow::error_code))
      .AddArray(numbers(&EntryRow::crc))
      .AddBytesArray(texts(&EntryRow::record));
  const absl::StatusOr<PostgresResult> appended = connection_->Query(kAppend, parameters);
  if (!appended.ok()) return Explain(appended.status());
  if (appended->Int(0, 0) != 1) {
    // Either another tracker owns the cell for good, or one of our own appends was stored after we
    // had given it up.
    connection_ = nullptr;
    RETURN_IF_ERROR(Explain(Connect()));
    return absl::UnavailableError("--storage: an append has come late; the next one counts on");
  }
  ++position_;
  tombstones_ += rows.tombstones - appended->Int(0, 1);
  if (tombstones_ <= max_tombstones_) return absl::OkStatus();
  // If this fails, a later append drops them.
  const auto dropped = connection_->Query(
      kDropOldest, PostgresParameters().Add(tombstones_ - max_tombstones_).Add(epoch_));
  if (dropped.ok()) tombstones_ = max_tombstones_;
  return absl::OkStatus();
}

absl::StatusOr<JournalStorage::Summary> PostgresJournalStorage::Summarize() {
  RETURN_IF_ERROR(Explain(Connect()));
  const absl::StatusOr<PostgresResult> row =
      connection_->Query("SELECT last_sequence, latest FROM callslip_cell WHERE part = 'journal'");
  if (!row.ok()) return Explain(row.status());
  return Summary{.last_sequence = static_cast<uint64_t>(row->Int(0, 0)),
                 .latest_nanos = row->Int(0, 1)};
}

absl::Status PostgresJournalStorage::Replay(const ClocksOf& clocks,
                                            const std::function<void(JournalEntry)>& each) {
  RETURN_IF_ERROR(Explain(Connect()));
  tombstones_ = 0;
  EntryOrder order([&](JournalEntry entry) {
    if (std::holds_alternative<CommandRemoval>(entry.change)) ++tombstones_;
    each(std::move(entry));
  });
  const auto entries_after = [](int64_t key) {
    return PostgresParameters().Add(key).Add(kPageRows).Add(kPageBytes);
  };
  const auto tombstones_after = [](int64_t until, int64_t number) {
    return PostgresParameters().Add(until).Add(number).Add(kPageRows);
  };
  RETURN_IF_ERROR(Explain(ReadPages(
      kEntries, entries_after(-1),
      [&](const PostgresResult& page, int row) { return entries_after(page.Int(row, 0)); },
      EntryRowDecoder(clocks, [&](JournalEntry entry) { return order.Take(std::move(entry)); }))));
  RETURN_IF_ERROR(Explain(ReadPages(
      kTombstones, tombstones_after(INT64_MIN, INT64_MIN),
      [&](const PostgresResult& page, int row) {
        return tombstones_after(page.Int(row, 3), page.Int(row, 4));
      },
      EntryRowDecoder(clocks,
                      [&](JournalEntry entry) { return order.TakeTombstone(std::move(entry)); }))));
  order.Finish();
  return absl::OkStatus();
}

absl::Status PostgresJournalStorage::ReadPages(
    const char* sql, PostgresParameters first,
    const std::function<PostgresParameters(const PostgresResult&, int row)>& after,
    EntryRowDecoder decoder) {
  const auto read = [&](PostgresParameters from) {
    return std::async(std::launch::async, [this, sql, from = std::move(from)] {
      return connection_->Query(sql, from);
    });
  };
  auto next = read(std::move(first));
  while (true) {
    ASSIGN_OR_RETURN(const PostgresResult page, next.get());
    if (page.rows() == 0) return decoder.Finish();
    next = read(after(page, page.rows() - 1));
    for (int row = 0; row < page.rows(); ++row) {
      RETURN_IF_ERROR(decoder.Take(page.Int(row, 0), page.Bytes(row, 1), page.Int(row, 2)));
    }
  }
}

}  // namespace callslip::tracker
