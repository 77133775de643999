#include "tracker/process/config.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "telemetry/otlp_option.h"
#include "tls/server_tls.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

absl::Status CheckBind(const Address& address, bool allow_insecure_bind) {
  if (address.IsLoopback() || allow_insecure_bind) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "refusing to listen on ", address.ToString(),
      ": other machines could reach it and nothing authenticates them. Set "
      "--token-file, listen on 127.0.0.1, or set --allow-insecure-bind where something "
      "else keeps them out"));
}

// Command lines are readable by every user of the machine, and libpq's messages about a URL are
// logged. In a URL that is not encoded, the password can contain the characters that end it for
// libpq, so every : before an @ counts.
bool HasPassword(absl::string_view url) {
  const absl::string_view place = url.substr(url.find("://") + 3);
  const size_t at = place.rfind('@');
  return (at != absl::string_view::npos && absl::StrContains(place.substr(0, at), ':')) ||
         absl::StrContains(place, "?password=") || absl::StrContains(place, "&password=");
}

absl::Status CheckStorage(const std::string& storage) {
  const bool is_url =
      absl::StartsWith(storage, "postgres://") || absl::StartsWith(storage, "postgresql://");
  if (storage.empty() || (is_url && !HasPassword(storage))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--storage wants postgres://USER@HOST,HOST/DATABASE; passwords stand in the file that "
      "PGPASSFILE names, and an @ that ends no user is written %40");
}

}  // namespace

void TrackerConfig::AddTo(OptionSet& options) {
  constexpr absl::Duration kMin = absl::Milliseconds(100);
  constexpr absl::Duration kMax = absl::Hours(24);
  options.Add(
      "listen", &listen,
      "Where to serve gRPC: unix:PATH for the processes of this user, HOST:PORT for others; "
      "port 0 picks a free one");
  options.Add("allow-insecure-bind", &allow_insecure_bind,
              "Serve on an address that other machines may reach, although nothing authenticates "
              "them");
  options.Add("token-file", &token_file,
              "File of the callers over TCP, as the gateway's; created with random tokens if it "
              "does not exist; changes take effect at once. Without it every user of this machine "
              "is the client `local` there");
  options.Add("tls-cert", &tls_cert,
              "PEM file of the certificate to show over TCP, with its chain; read again when it "
              "changes");
  options.Add("tls-key", &tls_key, "PEM file of its key");
  options.Add("tls-client-ca", &tls_client_ca,
              "PEM file of the authorities that have to have signed the certificates of callers: "
              "from then on they need one");
  options.Add(
      "data-dir", &data_dir,
      "Directory of commands and sessions, one tracker each. Without it, they are kept in a "
      "temporary directory and end with the tracker");
  options.Add("command", &command, "With inspect: the id of the one command to show");
  options.Add("storage", &storage,
              "Database of commands and sessions instead of a directory, as in "
              "postgres://callslip@db1,db2/callslip: of all trackers that name it one serves, and "
              "another one takes over where that ends");
  options.Add("storage-without-standby", &storage_without_standby,
              "Take a database although no other machine has a copy of what it has stored");
  options.AddChoice("durability", &durability, {"memory", "relaxed", "strict"},
                    "What accepted commands survive: memory: nothing; relaxed: a crash of the "
                    "tracker; strict: also a power failure");
  options.Add("poll-threads", &poll_threads, 1, 16, "Threads that answer calls");
  options.Add("metrics-listen", &metrics_listen,
              "Where to serve GET /metrics over HTTP, HOST:PORT with an IP address; port 0 picks a "
              "free one. Without it metrics are not served");
  options.Add("metrics-allowed-hosts", &metrics_allowed_hosts,
              "Further values of the Host header to accept there, each NAME:PORT");
  options.Add("metrics-allow-insecure-bind", &metrics_allow_insecure_bind,
              "Serve metrics, and only these, on an address that other machines may reach");
  options.Add("drain-grace", &drain_grace, absl::ZeroDuration(), absl::Minutes(5),
              "How long calls under way may take after SIGTERM");
  options.AddChoice("log-level", &log_level, {"debug", "info", "warning", "error"},
                    "The least severe messages that are logged");
  AddOtlpEndpoint(options, &otlp_endpoint);
  options.Add("schedule-to-start", &deadlines.schedule_to_start, kMin, kMax,
              "How long a command waits for a worker");
  options.Add("ack-wait", &deadlines.ack_wait, kMin, kMax,
              "How long a worker may take to acknowledge a command");
  options.Add("heartbeat-timeout", &deadlines.heartbeat_timeout, kMin, kMax,
              "How long a worker may be silent while it executes a command");
  options.Add("start-to-close", &deadlines.start_to_close, kMinDeadline, kMaxStartToClose,
              "How long an execution may take, unless the command says otherwise");
  options.Add("human-schedule-to-close", &deadlines.human_schedule_to_close, kMin, kMax,
              "How long a person may take to finish");
  options.Add("result-retention", &deadlines.result_retention, kMin, absl::Minutes(9),
              "How long a result is kept");
  options.Add(
      "conversations-queue-enabled", &queue_enabled,
      "Whether the messages of a session's queue are sent by themselves, unless the session "
      "says otherwise");
  options.Add("conversations-queue-delay-seconds", &queue_delay_seconds, 0,
              static_cast<int>(absl::ToInt64Seconds(kMaxQueueDelay)),
              "How long after a turn the next message is sent, unless the session says otherwise");
  options.Add(
      "max-session-events", &max_session_events, 0, 1'000'000'000,
      "How many events a session keeps: beyond that its oldest ones are removed; 0 keeps all");
  options.Add("max-session-mebibytes", &max_session_mebibytes, 0, 1 << 20,
              "How many MiB of events a session keeps; 0 keeps all");
  options.Add("keep-ended-sessions", &keep_ended_sessions, absl::ZeroDuration(),
              absl::Hours(24 * 3660),
              "How long after its last change a session that has ended is deleted; 0 keeps all");
  options.AddBytes(
      "memory", &memory, int64_t{64} << 20, int64_t{1} << 40,
      "Memory limit of the tracker, such as 3GiB; the limits of its tables are derived from it");
}

absl::Status TrackerConfig::Validate() const {
  if (listen.empty()) return absl::InvalidArgumentError("--listen names no address");
  for (const Address& address : listen) {
    RETURN_IF_ERROR(CheckBind(address, allow_insecure_bind || !token_file.empty()));
  }
  RETURN_IF_ERROR(CheckServerFiles({tls_cert, tls_key, tls_client_ca}));
  if (!tls_client_ca.empty() && token_file.empty()) {
    return absl::InvalidArgumentError(
        "--tls-client-ca needs --token-file, where lines `ROLE NAME cert:SAN` say who is whom");
  }
  if (!metrics_listen.empty()) {
    ASSIGN_OR_RETURN(const Address metrics, ParseAddress(metrics_listen));
    if (metrics.is_unix()) {
      return absl::InvalidArgumentError("--metrics-listen wants HOST:PORT, not a socket");
    }
    if (!metrics.IsLoopback() && !allow_insecure_bind && !metrics_allow_insecure_bind) {
      return absl::InvalidArgumentError(absl::StrCat(
          "refusing to serve metrics on ", metrics.ToString(),
          ": other machines could reach it and nothing authenticates them. Take 127.0.0.1, or set "
          "--metrics-allow-insecure-bind where something else keeps them out"));
    }
  }
  if (!storage.empty() && !data_dir.empty()) {
    return absl::InvalidArgumentError(
        "--storage and --data-dir are two places for the same: name one of them");
  }
  RETURN_IF_ERROR(CheckStorage(storage));
  if (!storage.empty() && durability == "memory") {
    return absl::InvalidArgumentError(
        "--durability memory keeps nothing, and --storage everything");
  }
  RETURN_IF_ERROR(MemoryBudget::Of(memory).status());
  return deadlines.Validate();
}

absl::Status TrackerConfig::ValidateForCopy(bool moves) const {
  RETURN_IF_ERROR(CheckStorage(storage));
  if (moves && (storage.empty() || data_dir.empty())) {
    return absl::InvalidArgumentError(
        "import and export need both --data-dir and --storage: import copies the directory into "
        "the database, export the database into the directory");
  }
  if (!moves && storage.empty() == data_dir.empty()) {
    return absl::InvalidArgumentError(
        "inspect needs --data-dir or --storage, whichever it is to look at");
  }
  return absl::OkStatus();
}

std::optional<Address> TrackerConfig::MetricsAddress() const {
  const absl::StatusOr<Address> address = ParseAddress(metrics_listen);
  if (!address.ok()) return std::nullopt;
  return *address;
}

std::optional<TlsFiles> TrackerConfig::Tls() const {
  if (tls_cert.empty()) return std::nullopt;
  return TlsFiles{.certificate = tls_cert, .key = tls_key, .authorities = tls_client_ca};
}

QueueDefaults TrackerConfig::Queue() const {
  return {.enabled = queue_enabled, .delay = absl::Seconds(queue_delay_seconds)};
}

SessionRetention TrackerConfig::Retention() const {
  return {.max_events = max_session_events,
          .max_bytes = int64_t{max_session_mebibytes} << 20,
          .keep_ended = keep_ended_sessions};
}

}  // namespace callslip::tracker
