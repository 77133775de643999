#include "tracker/storage/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace callslip::tracker {
namespace {

absl::Status ErrorOf(sqlite3* handle, absl::string_view doing) {
  const int code = sqlite3_errcode(handle) & 0xff;
  const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT;
  return {damaged ? absl::StatusCode::kDataLoss : absl::StatusCode::kUnavailable,
          absl::StrCat("can't ", doing, ": ", sqlite3_errmsg(handle))};
}

}  // namespace

void SqliteDatabase::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

absl::StatusOr<SqliteDatabase> SqliteDatabase::Open(const std::string& path) {
  // Private to the owner, like the files that SQLite creates next to it. An existing file is not
  // opened, because closing it would drop this process's locks on it.
  if (path != ":memory:") {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
  }
  return OpenWith(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::OpenToRead(const std::string& path) {
  return OpenWith(path, SQLITE_OPEN_READONLY);
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::OpenCopy(const std::string& path) {
  ASSIGN_OR_RETURN(const SqliteDatabase original, OpenToRead(path));
  ASSIGN_OR_RETURN(SqliteDatabase copy, OpenTemporary());
  // A tracker that starts or ends locks it for a moment.
  sqlite3_busy_timeout(original.get(), 1000);
  sqlite3_backup* const copying = sqlite3_backup_init(copy.get(), "main", original.get(), "main");
  const bool is_whole = copying != nullptr && sqlite3_backup_step(copying, -1) == SQLITE_DONE;
  if (sqlite3_backup_finish(copying) != SQLITE_OK) return copy.Error(absl::StrCat("copy ", path));
  if (!is_whole) return absl::UnavailableError(absl::StrCat("can't copy ", path, ": it is locked"));
  return copy;
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::OpenTemporary() {
  return OpenWith("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::OpenWith(const std::string& path, int flags) {
  // Counting allocations would take a lock each time.
  static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)configured;
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database(handle);
  if (opened != SQLITE_OK) return database.Error(absl::StrCat("open ", path));
  return database;
}

absl::Status SqliteDatabase::Error(absl::string_view doing) const {
  return ErrorOf(handle_.get(), doing);
}

absl::Status SqliteDatabase::Run(const std::string& sql) {
  if (sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return Error(sql);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqliteDatabase::Number(const std::string& sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, SqliteStatement::Prepare(*this, sql));
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Int(0) : 0;
}

absl::StatusOr<std::string> SqliteDatabase::Text(const std::string& sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, SqliteStatement::Prepare(*this, sql));
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Text(0) : "";
}

int64_t SqliteDatabase::changes() const { return sqlite3_changes64(get()); }

void SqliteStatement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

absl::StatusOr<SqliteStatement> SqliteStatement::Prepare(SqliteDatabase& database,
                                                         const std::string& sql) {
  SqliteStatement statement;
  sqlite3_stmt* handle = nullptr;
  const int prepared = sqlite3_prepare_v3(database.get(), sql.c_str(), -1,
                                          SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  statement.handle_.reset(handle);
  if (prepared != SQLITE_OK) return database.Error(absl::StrCat("prepare ", sql));
  return statement;
}

void SqliteStatement::Bind(int parameter, int64_t value) {
  is_set_.set(parameter);
  sqlite3_bind_int64(handle_.get(), parameter + 1, value);
}

void SqliteStatement::BindNull(int parameter) {
  if (!is_set_.test(parameter)) return;
  is_set_.reset(parameter);
  sqlite3_bind_null(handle_.get(), parameter + 1);
}

void SqliteStatement::BindText(int parameter, absl::string_view text) {
  if (text.empty()) return BindNull(parameter);
  is_set_.set(parameter);
  sqlite3_bind_text(handle_.get(), parameter + 1, text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
}

void SqliteStatement::BindBytes(int parameter, absl::string_view bytes) {
  is_set_.set(parameter);
  // A null pointer would mean NULL.
  sqlite3_bind_blob(handle_.get(), parameter + 1, bytes.empty() ? "" : bytes.data(),
                    static_cast<int>(bytes.size()), SQLITE_STATIC);
}

absl::StatusOr<bool> SqliteStatement::Step() {
  const int stepped = sqlite3_step(handle_.get());
  if (stepped == SQLITE_ROW) return true;
  if (stepped == SQLITE_DONE) return false;
  sqlite3* const database = sqlite3_db_handle(handle_.get());
  absl::Status error = ErrorOf(database, sqlite3_sql(handle_.get()));
  Reset();
  return error;
}

void SqliteStatement::Reset() { sqlite3_reset(handle_.get()); }

absl::Status SqliteStatement::Run() {
  const absl::StatusOr<bool> stepped = Step();
  Reset();
  return stepped.status();
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

absl::string_view SqliteStatement::Bytes(int column) const {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

}  // namespace callslip::tracker
