#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/cluster/cell_store.h"
#include "tracker/postgres/connection.h"

namespace callslip::tracker {

// The tables of one cell, which the trackers of a cluster share. They are in the first schema of
// the connection's search_path, so another schema is another cell.
inline constexpr int64_t kPostgresFormat = 1;
// Marks tables that an unfinished import has begun to fill: a format that no tracker of any version
// knows.
inline constexpr int64_t kPostgresHalfImported = int64_t{1} << 32;

// What a database must guarantee before a tracker stores commands in it.
struct PostgresDemands {
  // A copy on another machine, written before a commit is answered.
  bool standby = true;
  // If false, half imported tables are accepted too, because they are filled again.
  bool whole = true;
};

// Creates missing tables. FAILED_PRECONDITION, with what to do, if the database does not meet the
// demands, if tables are of a newer version, and if rights are missing.
absl::Status PreparePostgres(PostgresConnection& connection, const PostgresDemands& demands);

// The rows of callslip_cell that record the owner of the cell; see CellStore.
class PostgresCell final : public CellStore {
 public:
  // Connects on first use. Not thread-safe: use on one thread at a time. `for_import`: half
  // imported tables are accepted too.
  explicit PostgresCell(std::string url, bool for_import = false)
      : url_(std::move(url)), for_import_(for_import) {}

  absl::StatusOr<CellState> Read() override;
  absl::StatusOr<uint64_t> Take(const CellState& seen, const std::string& owner) override;
  absl::Status Beat(uint64_t epoch) override;
  absl::Status Release(uint64_t epoch) override;
  bool has_copy() const override { return has_copy_; }

 private:
  // A beat or read that takes longer counts as failed.
  static constexpr absl::Duration kMaxQueryTime = absl::Seconds(2);
  static constexpr absl::Duration kMaxLockTime = absl::Seconds(1);

  // Opens a connection if there is none. Never FAILED_PRECONDITION.
  absl::StatusOr<PostgresResult> Query(const char* sql, const PostgresParameters& parameters = {});
  void NoteCopy(bool has_copy);

  const std::string url_;
  const bool for_import_;
  std::atomic<bool> has_copy_{true};
  std::unique_ptr<PostgresConnection> connection_;
};

// FAILED_PRECONDITION: another tracker has taken the cell over.
absl::Status CellIsTaken(uint64_t epoch);
// CellIsTaken unless the cell still has that epoch; otherwise errors of the connection.
absl::Status CheckEpoch(PostgresConnection& connection, uint64_t epoch);

}  // namespace callslip::tracker
