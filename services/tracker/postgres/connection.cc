#include "tracker/postgres/connection.h"

#include <endian.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "tracker/postgres/libpq.h"

namespace callslip::tracker {
namespace {

// The object ids of types, which never change: see pg_type.dat of PostgreSQL.
constexpr uint32_t kBytes = 17;
constexpr uint32_t kInt8 = 20;
constexpr uint32_t kText = 25;
constexpr uint32_t kBytesArray = 1001;
constexpr uint32_t kTextArray = 1009;
constexpr uint32_t kInt8Array = 1016;

// Real time, because sockets do not know the clocks of tests.
absl::Time Now() { return RealClock().Now(); }

void AppendInt32(std::string& bytes, uint32_t number) {
  const uint32_t big = htobe32(number);
  bytes.append(reinterpret_cast<const char*>(&big), sizeof(big));
}

std::string Int8(int64_t number) {
  const uint64_t big = htobe64(static_cast<uint64_t>(number));
  return std::string(reinterpret_cast<const char*>(&big), sizeof(big));
}

// The head of a one-dimensional array.
std::string ArrayHead(uint32_t type, size_t size, bool has_null) {
  std::string bytes;
  AppendInt32(bytes, size == 0 ? 0 : 1);
  AppendInt32(bytes, has_null ? 1 : 0);
  AppendInt32(bytes, type);
  if (size == 0) return bytes;
  AppendInt32(bytes, static_cast<uint32_t>(size));
  AppendInt32(bytes, 1);  // The first index.
  return bytes;
}

void AppendNull(std::string& bytes) { AppendInt32(bytes, UINT32_MAX); }

void AppendItem(std::string& bytes, absl::string_view item) {
  AppendInt32(bytes, static_cast<uint32_t>(item.size()));
  absl::StrAppend(&bytes, item);
}

std::string AsText(absl::string_view text) {
  std::string taken;
  taken.reserve(text.size());
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const bool is_ascii = static_cast<unsigned char>(*at) < 0x80;
    const char* const next = *at == '\0' ? nullptr : is_ascii ? at + 1 : SkipUtf8(at, end);
    absl::StrAppend(&taken, next == nullptr
                                ? "\xEF\xBF\xBD"
                                : absl::string_view(at, static_cast<size_t>(next - at)));
    at = next == nullptr ? at + 1 : next;
  }
  return taken;
}

std::string Message(absl::string_view text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

// libpq's error message repeats parts of the URL, which can include a password.
absl::Status CheckUrl(const std::string& url) {
  char* error = nullptr;
  PQconninfoOption* const options = Pq().conninfoParse(url.c_str(), &error);
  if (error != nullptr) Pq().freemem(error);
  if (options == nullptr) {
    return absl::FailedPreconditionError(
        "--storage is not a URL that libpq can read: look at the names of its parameters, and at "
        "what "
        "has to be written as % and two digits; passwords stand in the file that PGPASSFILE names");
  }
  Pq().conninfoFree(options);
  return absl::OkStatus();
}

// The polling interval while waiting for an answer.
constexpr absl::Duration kLookEvery = absl::Milliseconds(20);

// Whether a server with that SQLSTATE has ended the connection, or cannot serve its purpose.
bool EndsConnection(absl::string_view state) {
  return absl::StartsWith(state, "08") || absl::StartsWith(state, "57P0") || state == "25006";
}

}  // namespace

void PostgresResult::Clear::operator()(pg_result* result) const { Pq().clear(result); }

int PostgresResult::rows() const { return Pq().ntuples(result_.get()); }

bool PostgresResult::IsNull(int row, int column) const {
  return Pq().getisnull(result_.get(), row, column) != 0;
}

int64_t PostgresResult::Int(int row, int column) const {
  const absl::string_view bytes = Bytes(row, column);
  if (bytes.size() != sizeof(int64_t)) return 0;
  uint64_t big = 0;
  std::memcpy(&big, bytes.data(), sizeof(big));
  return static_cast<int64_t>(be64toh(big));
}

absl::string_view PostgresResult::Bytes(int row, int column) const {
  return {Pq().getvalue(result_.get(), row, column),
          static_cast<size_t>(Pq().getlength(result_.get(), row, column))};
}

PostgresParameters& PostgresParameters::Add(int64_t number) {
  values_.push_back({kInt8, Int8(number)});
  return *this;
}

PostgresParameters& PostgresParameters::Add(std::optional<int64_t> number) {
  if (number.has_value()) return Add(*number);
  values_.push_back({kInt8, std::nullopt});
  return *this;
}

PostgresParameters& PostgresParameters::AddText(absl::string_view text) {
  values_.push_back({kText, AsText(text)});
  return *this;
}

PostgresParameters& PostgresParameters::AddBytes(absl::string_view bytes) {
  values_.push_back({kBytes, std::string(bytes)});
  return *this;
}

PostgresParameters& PostgresParameters::AddArray(absl::Span<const std::optional<int64_t>> numbers) {
  std::string bytes = ArrayHead(kInt8, numbers.size(), true);
  for (const auto& number : numbers) {
    number.has_value() ? AppendItem(bytes, Int8(*number)) : AppendNull(bytes);
  }
  values_.push_back({kInt8Array, std::move(bytes)});
  return *this;
}

PostgresParameters& PostgresParameters::AddTextArray(absl::Span<const absl::string_view> texts) {
  std::string bytes = ArrayHead(kText, texts.size(), true);
  for (const absl::string_view text : texts) {
    text.empty() ? AppendNull(bytes) : AppendItem(bytes, AsText(text));
  }
  values_.push_back({kTextArray, std::move(bytes)});
  return *this;
}

PostgresParameters& PostgresParameters::AddBytesArray(absl::Span<const absl::string_view> values) {
  std::string bytes = ArrayHead(kBytes, values.size(), false);
  for (const absl::string_view value : values) AppendItem(bytes, value);
  values_.push_back({kBytesArray, std::move(bytes)});
  return *this;
}

void PostgresConnection::Finish::operator()(pg_conn* connection) const { Pq().finish(connection); }

PostgresConnection::~PostgresConnection() = default;

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresConnection::Open(
    const std::string& url, absl::Duration longest_lock) {
  RETURN_IF_ERROR(LoadLibpq());
  RETURN_IF_ERROR(CheckUrl(url));
  // The URL can override the keys before it, but not those after it.
  static constexpr std::array kKeys = {"application_name",
                                       "connect_timeout",
                                       "keepalives_idle",
                                       "keepalives_interval",
                                       "keepalives_count",
                                       "tcp_user_timeout",
                                       "dbname",
                                       "target_session_attrs",
                                       static_cast<const char*>(nullptr)};
  const std::array<const char*, kKeys.size()> values = {
      "callslip-tracker", "2", "2", "2", "3", "8000", url.c_str(), "read-write", nullptr};
  std::unique_ptr<PostgresConnection> opened(new PostgresConnection(
      Pq().connectdbParams(kKeys.data(), values.data(), /*expand_dbname=*/1)));
  pg_conn* const connection = opened->connection_.get();
  if (connection == nullptr) return absl::UnavailableError("no memory for a connection");
  if (Pq().status(connection) != CONNECTION_OK) {
    const std::string message = Message(Pq().errorMessage(connection));
    const bool is_ours = absl::StrContains(message, "authentication failed") ||
                         absl::StrContains(message, "does not exist") ||
                         absl::StrContains(message, "no pg_hba.conf entry") ||
                         absl::StrContains(message, "invalid") ||
                         absl::StrContains(message, "permission denied");
    return is_ours ? absl::FailedPreconditionError(message) : absl::UnavailableError(message);
  }
  if (Pq().setnonblocking(connection, 1) != 0) return absl::UnavailableError("no memory");
  // Notices are for interactive users. But a commit that stopped waiting for the standby, because
  // an operator cancelled the wait, succeeds with a warning.
  Pq().setNoticeReceiver(
      connection,
      [](void* warned, const pg_result* notice) {
        const char* const severity = Pq().resultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
        if (severity != nullptr && absl::string_view(severity) == "WARNING") {
          *static_cast<bool*>(warned) = true;
        }
      },
      &opened->warned_);
  // A server that no longer hears from this client releases its locks.
  RETURN_IF_ERROR(opened->Run(
      absl::StrCat("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 2000;"
                   "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2;"
                   "SET tcp_keepalives_count = 3;"
                   "SET default_transaction_isolation = 'read committed';"
                   "SELECT set_config('synchronous_commit', CASE current_setting("
                   "'synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,"
                   "false); SET lock_timeout = ",
                   absl::ToInt64Milliseconds(longest_lock))));
  return opened;
}

absl::Status PostgresConnection::Close(absl::string_view why) {
  connection_ = nullptr;
  waits_ = false;
  prepared_.clear();
  return absl::UnavailableError(why);
}

absl::Status PostgresConnection::ErrorOf(const pg_result* result) {
  const char* const code = Pq().resultErrorField(result, PG_DIAG_SQLSTATE);
  const absl::string_view state = code == nullptr ? "" : code;
  const std::string message = Message(Pq().resultErrorMessage(result));
  if (state.empty() || EndsConnection(state)) return Close(message);
  if (absl::StartsWith(state, "40") || state == "55P03") return absl::AbortedError(message);
  if (absl::StartsWith(state, "42")) return absl::FailedPreconditionError(message);
  if (absl::StartsWith(state, "XX")) return absl::DataLossError(message);
  // Out of space, and other temporary conditions.
  if (absl::StartsWith(state, "53")) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

absl::Status PostgresConnection::AwaitInput(absl::Time deadline) {
  const absl::Duration left = deadline - Now();
  if (left <= absl::ZeroDuration()) {
    waits_ = true;
    return absl::UnavailableError("the database has not answered in time");
  }
  pollfd waits = {.fd = Pq().socket(connection_.get()), .events = POLLIN, .revents = 0};
  // poll() does not report data that TLS has already read and decrypted.
  const int64_t look = absl::ToInt64Milliseconds(std::min(left, kLookEvery));
  if (poll(&waits, 1, static_cast<int>(look) + 1) < 0 && errno != EINTR) {
    return Close("poll has failed");
  }
  if (Pq().consumeInput(connection_.get()) == 0) {
    return Close(Message(Pq().errorMessage(connection_.get())));
  }
  return absl::OkStatus();
}

absl::Status PostgresConnection::Flush(absl::Time deadline) {
  while (true) {
    const int left = Pq().flush(connection_.get());
    if (left < 0) return Close(Message(Pq().errorMessage(connection_.get())));
    if (left == 0) return absl::OkStatus();
    const absl::Duration patience = deadline - Now();
    if (patience <= absl::ZeroDuration()) return Close("the database has not read in time");
    pollfd waits = {.fd = Pq().socket(connection_.get()), .events = POLLIN | POLLOUT, .revents = 0};
    const int ready = poll(&waits, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)) + 1);
    if (ready > 0 && (waits.revents & POLLIN) != 0 && Pq().consumeInput(connection_.get()) == 0) {
      return Close(Message(Pq().errorMessage(connection_.get())));
    }
  }
}

absl::StatusOr<PostgresResult> PostgresConnection::Wait(absl::Duration longest) {
  const absl::Time deadline = Now() + longest;
  RETURN_IF_ERROR(Flush(deadline));
  PostgresResult last(nullptr);
  absl::Status failed;
  while (true) {
    while (Pq().isBusy(connection_.get()) != 0) RETURN_IF_ERROR(AwaitInput(deadline));
    PostgresResult result(Pq().getResult(connection_.get()));
    if (result.result_ == nullptr) break;
    const ExecStatusType status = Pq().resultStatus(result.result_.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && failed.ok()) {
      failed = ErrorOf(result.result_.get());
      if (!is_open()) return failed;
    }
    last = std::move(result);
  }
  if (!failed.ok()) return failed;
  if (std::exchange(warned_, false)) return Close("whether it is stored is not known");
  return last;
}

bool PostgresConnection::Settle() {
  if (!waits_) return true;
  if (Pq().consumeInput(connection_.get()) == 0) {
    Close("").IgnoreError();
    return true;
  }
  while (Pq().isBusy(connection_.get()) == 0) {
    PostgresResult result(Pq().getResult(connection_.get()));
    if (result.result_ == nullptr) {
      waits_ = false;
      warned_ = false;
      return true;
    }
    const ExecStatusType status = Pq().resultStatus(result.result_.get());
    const bool failed = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
    if (failed) ErrorOf(result.result_.get()).IgnoreError();
    if (connection_ == nullptr) return true;
  }
  return false;
}

absl::Status PostgresConnection::Run(const std::string& sql) {
  if (!is_open()) return absl::UnavailableError("the connection to the database is closed");
  if (Pq().sendQuery(connection_.get(), sql.c_str()) == 0) {
    return Close(Message(Pq().errorMessage(connection_.get())));
  }
  return Wait(kMaxStatementTime).status();
}

absl::Status PostgresConnection::Prepare(const char* sql, const PostgresParameters& parameters,
                                         absl::Duration longest) {
  if (prepared_.contains(sql)) return absl::OkStatus();
  std::string name = absl::StrCat("s", prepares_++);
  std::vector<Oid> types;
  for (const auto& value : parameters.values_) types.push_back(value.type);
  if (Pq().sendPrepare(connection_.get(), name.c_str(), sql, static_cast<int>(types.size()),
                       types.data()) == 0) {
    return Close(Message(Pq().errorMessage(connection_.get())));
  }
  RETURN_IF_ERROR(Wait(longest).status());
  prepared_.emplace(sql, std::move(name));
  return absl::OkStatus();
}

absl::StatusOr<PostgresResult> PostgresConnection::Query(const char* sql,
                                                         const PostgresParameters& parameters,
                                                         absl::Duration longest) {
  if (!is_open()) return absl::UnavailableError("the connection to the database is closed");
  RETURN_IF_ERROR(Prepare(sql, parameters, longest));
  std::vector<const char*> values;
  std::vector<int> sizes;
  for (const auto& value : parameters.values_) {
    values.push_back(value.bytes.has_value() ? value.bytes->data() : nullptr);
    sizes.push_back(value.bytes.has_value() ? static_cast<int>(value.bytes->size()) : 0);
  }
  const std::vector<int> formats(values.size(), 1);
  if (Pq().sendQueryPrepared(connection_.get(), prepared_.at(sql).c_str(),
                             static_cast<int>(values.size()), values.data(), sizes.data(),
                             formats.data(), /*resultFormat=*/1) == 0) {
    return Close(Message(Pq().errorMessage(connection_.get())));
  }
  return Wait(longest);
}

}  // namespace callslip::tracker
