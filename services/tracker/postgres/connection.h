#ifndef CALLSLIP_TRACKER_POSTGRES_CONNECTION_H_
#define CALLSLIP_TRACKER_POSTGRES_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

struct pg_conn;
struct pg_result;

namespace callslip::tracker {

// PostgreSQL with statuses in place of error codes:
//
//   UNAVAILABLE          the database can't be reached, or has not answered in time: whether what
//   was
//                        sent is stored is not known, and the connection is closed
//   ABORTED              nothing was stored, and the same may be sent again: a deadlock, or a row
//   that
//                        a commit has held for too long, as where the standby does not answer
//   FAILED_PRECONDITION  the database can't be used as it is: rights, tables, a read-only server
//   DATA_LOSS            it is damaged
//   INTERNAL             all else

// What a statement has answered. Rows and columns count from 0; values are in the binary form.
class PostgresResult {
 public:
  int rows() const;
  bool IsNull(int row, int column) const;
  // Of a bigint.
  int64_t Int(int row, int column) const;
  // Of text and bytea; valid as long as this. Of NULL: empty.
  absl::string_view Bytes(int row, int column) const;
  std::string Text(int row, int column) const { return std::string(Bytes(row, column)); }

 private:
  friend class PostgresConnection;
  struct Clear {
    void operator()(pg_result* result) const;
  };

  explicit PostgresResult(pg_result* result) : result_(result) {}

  std::unique_ptr<pg_result, Clear> result_;
};

// The parameters of a statement, in its order: $1 is the first that was added.
class PostgresParameters {
 public:
  PostgresParameters& Add(int64_t number);
  PostgresParameters& Add(std::optional<int64_t> number);
  // Of text only what PostgreSQL can take of it: zeros and what is not UTF-8 become U+FFFD.
  PostgresParameters& AddText(absl::string_view text);
  PostgresParameters& AddBytes(absl::string_view bytes);
  // Arrays; what is empty is NULL in the one of texts.
  PostgresParameters& AddArray(absl::Span<const std::optional<int64_t>> numbers);
  PostgresParameters& AddTextArray(absl::Span<const absl::string_view> texts);
  PostgresParameters& AddBytesArray(absl::Span<const absl::string_view> values);

 private:
  friend class PostgresConnection;
  struct Value {
    uint32_t type = 0;
    std::optional<std::string> bytes;
  };

  std::vector<Value> values_;
};

// One connection. Used by one thread at a time.
class PostgresConnection {
 public:
  // How long a statement may take: far longer than the slowest commit, shorter than whoever waits
  // for it has patience. One that takes longer is not cancelled, since a commit that is would be
  // seen by others before its copy is stored: only the connection is given up.
  static constexpr absl::Duration kLongestStatement = absl::Seconds(10);

  // How long a row that somebody else holds is waited for. Whoever has given up a connection is
  // noticed by its server only when it answers: without this each try would leave one more that
  // waits.
  static constexpr absl::Duration kLongestLock = absl::Seconds(4);

  // `url` as libpq has it, postgres://user@host1,host2/name?…: of several hosts the one that takes
  // writes. Each is given two seconds. UNAVAILABLE, FAILED_PRECONDITION where it is no url or the
  // login is refused.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Open(
      const std::string& url, absl::Duration longest_lock = kLongestLock);
  ~PostgresConnection();

  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Several statements without parameters, as one transaction unless they say otherwise.
  absl::Status Run(const std::string& sql);
  // One statement, prepared when it is used first. `sql` must live as long as this, at one place.
  absl::StatusOr<PostgresResult> Query(const char* sql, const PostgresParameters& parameters = {},
                                       absl::Duration longest = kLongestStatement);

  // False once it is of no more use, or as long as it waits.
  bool is_open() const { return connection_ != nullptr && !waits_; }
  // The server has not answered in time, and may still: as long as a commit waits for the standby.
  // Whoever gave the connection up would leave it to the server, and take one more.
  bool waits() const { return waits_; }
  // Of one that waits: whether the server has answered by now. At once.
  bool Settle();

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };

  explicit PostgresConnection(pg_conn* connection) : connection_(connection) {}

  // The last result of what was sent.
  absl::StatusOr<PostgresResult> Wait(absl::Duration longest);
  absl::Status Flush(absl::Time deadline);
  absl::Status AwaitInput(absl::Time deadline);
  absl::Status Prepare(const char* sql, const PostgresParameters& parameters,
                       absl::Duration longest);
  // Closes the connection where it is of no more use.
  absl::Status ErrorOf(const pg_result* result);
  absl::Status Close(absl::string_view why);

  bool waits_ = false;
  bool warned_ = false;  // By the server, since the last statement has ended.
  std::unique_ptr<pg_conn, Finish> connection_;
  absl::flat_hash_map<const char*, std::string> prepared_;
  int prepares_ = 0;  // Of which some may have failed.
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_POSTGRES_CONNECTION_H_
