#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace callslip::tracker {

// SQLite with statuses instead of return codes: DATA_LOSS if the file is damaged or not a database,
// UNAVAILABLE for all other errors, such as a full disk.

// One connection. Not thread-safe: use on one thread at a time.
class SqliteDatabase {
 public:
  // Creates a missing file. ":memory:" is a database that ends with the connection.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path);
  // A temporary database, in memory or in a file without a name, with the contents of the one at
  // `path`.
  static absl::StatusOr<SqliteDatabase> OpenCopy(const std::string& path);
  // An empty temporary database.
  static absl::StatusOr<SqliteDatabase> OpenTemporary();
  // Read-only: changes and creates nothing.
  static absl::StatusOr<SqliteDatabase> OpenToRead(const std::string& path);

  absl::Status Run(const std::string& sql);
  // The first column of the first row; 0 if there is none.
  absl::StatusOr<int64_t> Number(const std::string& sql);
  absl::StatusOr<std::string> Text(const std::string& sql);
  // Rows changed by the last statement.
  int64_t changes() const;

  absl::Status Error(absl::string_view doing) const;
  sqlite3* get() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };

  explicit SqliteDatabase(sqlite3* handle) : handle_(handle) {}

  static absl::StatusOr<SqliteDatabase> OpenWith(const std::string& path, int flags);

  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement. Parameters and columns count from 0. Bound values must live until Step()
// returns.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  static absl::StatusOr<SqliteStatement> Prepare(SqliteDatabase& database, const std::string& sql);

  void Bind(int parameter, int64_t value);
  void BindNull(int parameter);
  // Empty text becomes NULL.
  void BindText(int parameter, absl::string_view text);
  void BindBytes(int parameter, absl::string_view bytes);

  // Returns whether there is a row.
  absl::StatusOr<bool> Step();
  // Ends a query; Run() does this itself.
  void Reset();
  // For statements without rows.
  absl::Status Run();

  bool IsNull(int column) const;
  int64_t Int(int column) const;
  // Valid until the next Step(). Empty for NULL.
  absl::string_view Bytes(int column) const;
  std::string Text(int column) const { return std::string(Bytes(column)); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  // Parameters that are not NULL. SQLite keeps bound values, and most values of a row stay NULL.
  std::bitset<32> is_set_;
};

}  // namespace callslip::tracker
