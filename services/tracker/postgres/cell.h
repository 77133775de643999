#ifndef CALLSLIP_TRACKER_POSTGRES_CELL_H_
#define CALLSLIP_TRACKER_POSTGRES_CELL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/cluster/cell_store.h"
#include "tracker/postgres/connection.h"

namespace callslip::tracker {

// The tables of one cell: what the trackers of a cluster share. They lie in the first schema of the
// connection's search_path, so that another schema is another cell.
inline constexpr int64_t kPostgresFormat = 1;
// Of tables that an import has begun to fill, and not come to the end: a format that no tracker
// knows, of whatever version.
inline constexpr int64_t kPostgresHalfImported = int64_t{1} << 32;

// What a database has to promise before commands are entrusted to it.
struct PostgresDemands {
  // A copy on another machine that is written before a commit is answered.
  bool standby = true;
  // Half imported tables will do as well: they are filled anew.
  bool whole = true;
};

// Makes the tables where they are missing. FAILED_PRECONDITION, with what to do, where the database
// does not promise what is demanded, where tables are of a newer version, and where rights are
// missing.
absl::Status PreparePostgres(PostgresConnection& connection, const PostgresDemands& demands);

// The rows of callslip_cell that say whose the cell is; see CellStore.
class PostgresCell final : public CellStore {
 public:
  // Connects when it is used. Used by one thread at a time. `for_import`: half imported tables are
  // taken, too.
  explicit PostgresCell(std::string url, bool for_import = false)
      : url_(std::move(url)), for_import_(for_import) {}

  absl::StatusOr<CellState> Read() override;
  absl::StatusOr<uint64_t> Take(const CellState& seen, const std::string& owner) override;
  absl::Status Beat(uint64_t epoch) override;
  absl::Status Release(uint64_t epoch) override;
  bool has_copy() const override { return has_copy_; }

 private:
  // A beat or a look that takes longer than this is as good as none.
  static constexpr absl::Duration kLongest = absl::Seconds(2);
  static constexpr absl::Duration kLongestLock = absl::Seconds(1);

  // On a connection that is opened where there is none. Never FAILED_PRECONDITION.
  absl::StatusOr<PostgresResult> Query(const char* sql, const PostgresParameters& parameters = {});
  void NoteCopy(bool has_copy);

  const std::string url_;
  const bool for_import_;
  std::atomic<bool> has_copy_{true};
  std::unique_ptr<PostgresConnection> connection_;
};

// FAILED_PRECONDITION: another tracker has taken the cell over.
absl::Status CellIsTaken(uint64_t epoch);
// That unless the cell is still of that epoch; else errors of the connection.
absl::Status CheckEpoch(PostgresConnection& connection, uint64_t epoch);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_POSTGRES_CELL_H_
