#pragma once

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

// PostgreSQL with statuses instead of error codes:
//
//   UNAVAILABLE          the database cannot be reached, or has not answered in time: it is unknown
//                        whether the statement's changes are stored, and the connection is closed
//                        or waits (see waits())
//   ABORTED              nothing was stored, and the statement can be sent again: a deadlock, or a
//                        row that a commit has locked for too long, such as when the standby does
//                        not answer
//   FAILED_PRECONDITION  the database cannot be used as it is: rights, tables, a read-only server
//   RESOURCE_EXHAUSTED   the server is out of space or other resources for now
//   DATA_LOSS            it is damaged
//   INTERNAL             all other errors

// The result of a statement. Rows and columns count from 0; values are in the binary format.
class PostgresResult {
 public:
  int rows() const;
  bool IsNull(int row, int column) const;
  // Of a bigint.
  int64_t Int(int row, int column) const;
  // Of text and bytea; valid as long as this. Empty for NULL.
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

// The parameters of a statement, in order: $1 is the first one added.
class PostgresParameters {
 public:
  PostgresParameters& Add(int64_t number);
  PostgresParameters& Add(std::optional<int64_t> number);
  // Replaces what PostgreSQL does not accept, zeros and bytes that are not UTF-8, by U+FFFD.
  PostgresParameters& AddText(absl::string_view text);
  PostgresParameters& AddBytes(absl::string_view bytes);
  // Arrays. An empty text becomes NULL.
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

// One connection. Not thread-safe: use on one thread at a time.
class PostgresConnection {
 public:
  // The timeout of a statement: far longer than the slowest commit, shorter than the timeouts of
  // callers. A slower statement is not cancelled, because a cancelled commit would become visible
  // before its copy is stored; only the connection is given up.
  static constexpr absl::Duration kMaxStatementTime = absl::Seconds(10);

  // The timeout of waiting for a locked row. A server notices that a connection was given up only
  // when it answers, so without this timeout every attempt would leave one more waiting statement.
  static constexpr absl::Duration kMaxLockTime = absl::Seconds(4);

  // `url` in libpq's format, postgres://user@host1,host2/name?…: of several hosts, the one that
  // accepts writes is used. Each gets two seconds. UNAVAILABLE; FAILED_PRECONDITION if it is not a
  // URL or the login is rejected.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Open(
      const std::string& url, absl::Duration longest_lock = kMaxLockTime);
  ~PostgresConnection();

  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  // Executes statements without parameters, as one transaction unless they specify otherwise.
  absl::Status Run(const std::string& sql);
  // Executes one statement, which is prepared on first use. `sql` must outlive this, at the same
  // address.
  absl::StatusOr<PostgresResult> Query(const char* sql, const PostgresParameters& parameters = {},
                                       absl::Duration longest = kMaxStatementTime);

  // False once it is unusable, and while it waits.
  bool is_open() const { return connection_ != nullptr && !waits_; }
  // The server has not answered in time, and still can, for example while a commit waits for the
  // standby. Closing the connection would leave it open at the server, and the caller would take
  // one more.
  bool waits() const { return waits_; }
  // For a waiting connection: whether the server has answered by now. Does not block.
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
  // Closes the connection if it is unusable.
  absl::Status ErrorOf(const pg_result* result);
  absl::Status Close(absl::string_view why);

  bool waits_ = false;
  bool warned_ = false;  // By the server, since the end of the last statement.
  std::unique_ptr<pg_conn, Finish> connection_;
  absl::flat_hash_map<const char*, std::string> prepared_;
  int prepares_ = 0;  // Including failed ones.
};

}  // namespace callslip::tracker
