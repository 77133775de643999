#include "tracker/process/inspect.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "tracker/postgres/postgres_inspection.h"
#include "tracker/postgres/postgres_journal_storage.h"
#include "tracker/process/half_exported.h"
#include "tracker/rpc/command_spans.h"
#include "tracker/storage/command_inspection.h"
#include "tracker/storage/session_inspection.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

// One screen; the sessions changed last matter most.
constexpr size_t kMaxRows = 40;

std::string Bytes(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  if (bytes < int64_t{1} << 20) {
    return absl::StrFormat("%.1f KiB", static_cast<double>(bytes) / 1024);
  }
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string QueueText(const SessionInspection& session) {
  if (session.is_queue_damaged) return "damaged";
  if (!session.queue.has_value()) return "-";
  std::vector<std::string> parts = {absl::StrCat(session.queue->messages.size(), " queued")};
  const DeliveryState& delivery = session.queue->delivery;
  if (delivery.turn.has_value()) parts.push_back("in turn " + delivery.turn->id);
  if (delivery.pause.has_value()) parts.push_back("paused: " + delivery.pause->reason);
  return absl::StrJoin(parts, ", ");
}

// Problems that the tracker will repair at its next start.
void AddFindings(const SessionInspection& session, std::vector<std::string>& findings) {
  if (!session.metadata.has_value()) {
    findings.push_back(absl::StrCat(session.id, ": metadata.json is missing or damaged; the next ",
                                    "start makes it anew from the log"));
  }
  if (!session.damage.empty()) {
    findings.push_back(absl::StrCat(session.id, ": ", session.damage));
  }
  if (session.torn_bytes > 0) {
    findings.push_back(absl::StrCat(session.id, ": the last event was not written whole (",
                                    session.torn_bytes, " bytes); the next start cuts it off"));
  }
  if (session.is_queue_damaged) {
    findings.push_back(absl::StrCat(session.id, ": queue.json can't be read; the next start puts ",
                                    "it aside as queue.json.damaged and pauses the queue"));
  }
}

std::string SessionsText(const std::vector<SessionInspection>& sessions) {
  int64_t active = 0;
  int64_t bytes = 0;
  for (const SessionInspection& session : sessions) {
    bytes += session.log_bytes;
    if (session.metadata.has_value() && session.metadata->state == SessionState::kActive) ++active;
  }
  std::string text = absl::StrFormat("Sessions: %d, of which %d active; logs of %s\n",
                                     sessions.size(), active, Bytes(bytes));
  if (sessions.empty()) return text;
  absl::StrAppendFormat(&text, "\n  %-40s %-10s %10s %10s  %-20s %s\n", "session", "state",
                        "events", "log", "changed", "queue");
  std::vector<std::string> findings;
  for (size_t i = 0; i < sessions.size(); ++i) {
    const SessionInspection& session = sessions[i];
    AddFindings(session, findings);
    if (i >= kMaxRows) continue;
    const bool is_known = session.metadata.has_value();
    absl::StrAppendFormat(&text, "  %-40s %-10s %10s %10s  %-20s %s\n", session.id,
                          is_known ? SessionStateName(session.metadata->state) : "?",
                          absl::StrCat(session.events), Bytes(session.log_bytes),
                          is_known
                              ? absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", session.metadata->updated_at,
                                                 absl::UTCTimeZone())
                              : "?",
                          QueueText(session));
  }
  if (sessions.size() > kMaxRows) {
    absl::StrAppendFormat(&text, "  and %d that were changed before these\n",
                          sessions.size() - kMaxRows);
  }
  if (!findings.empty()) absl::StrAppend(&text, "\n  ", absl::StrJoin(findings, "\n  "), "\n");
  return text;
}

// Each span is followed by its parts. Their ids lead to a collector: only if it has the spans.
std::string SpansText(std::vector<Span> spans, bool has_ids) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::pair(a.start_nanos, -a.end_nanos) < std::pair(b.start_nanos, -b.end_nanos);
  });
  const int64_t begun = spans.front().start_nanos;
  std::string text =
      absl::StrFormat("  %12s %12s  %-40s %s\n", "after", "lasts", "span", has_ids ? "id" : "");
  for (const Span& span : spans) {
    const auto millis = [](int64_t nanos) { return static_cast<double>(nanos) / 1e6; };
    absl::StrAppendFormat(&text, "  %9.3f ms %9.3f ms  %-40s %s\n",
                          millis(span.start_nanos - begun),
                          millis(span.end_nanos - span.start_nanos), span.name,
                          has_ids ? absl::BytesToHexString(span.context.span_id()) : "");
  }
  return text;
}

void Show(const CommandSnapshot& command, std::FILE* out) {
  const CommandSpec& spec = *command.spec;
  std::fprintf(out, "Command %s, %s\n", spec.id.ToString().c_str(),
               std::string(CommandStateName(command.state)).c_str());
  if (!spec.trace.empty()) {
    std::fprintf(out, "Trace %s\n", absl::BytesToHexString(spec.trace.trace_id()).c_str());
  }
  RealClock clock;
  const std::vector<Span> spans = SpansOf(command, absl::ToUnixNanos(clock.Now()));
  std::fprintf(out, "\n%s", SpansText(spans, spec.trace.sampled()).c_str());
}

}  // namespace

absl::Status InspectCommand(const std::string& path, const std::string& id, std::FILE* out) {
  ASSIGN_OR_RETURN(const CommandPtr command, FindStoredCommand(path, id));
  Show(*command, out);
  return absl::OkStatus();
}

absl::Status InspectCommandInDatabase(const std::string& url, const std::string& id,
                                      std::FILE* out) {
  ASSIGN_OR_RETURN(const auto journal, PostgresJournalStorage::OpenToRead(url));
  ASSIGN_OR_RETURN(const CommandPtr command, FindStoredCommand(*journal, id));
  Show(*command, out);
  return absl::OkStatus();
}

absl::Status InspectDataDirectory(const std::string& path, std::FILE* out) {
  ASSIGN_OR_RETURN(const std::vector<SessionInspection> sessions, InspectSessions(path));
  std::fprintf(out, "Data directory %s\n\n", path.c_str());
  if (IsHalfExported(path)) std::fputs("Half exported: do the export again.\n\n", out);
  std::fprintf(out, "%s\n", SessionsText(sessions).c_str());
  const std::string commands = absl::StrCat(path, "/", SqliteJournalStorage::kFileName);
  std::error_code unreadable;
  if (!std::filesystem::exists(commands, unreadable)) {
    std::fputs("Commands: none\n", out);
    return absl::OkStatus();
  }
  return InspectCommands(path, out);
}

absl::Status InspectDatabase(const std::string& url, std::FILE* out) {
  ASSIGN_OR_RETURN(const bool is_half, IsHalfImported(url));
  ASSIGN_OR_RETURN(const std::vector<SessionInspection> sessions, InspectPostgresSessions(url));
  // Without the url, which can contain a password.
  std::fputs("Database of --storage\n\n", out);
  if (is_half) std::fputs("Half imported: do the import again.\n\n", out);
  std::fprintf(out, "%s\n", SessionsText(sessions).c_str());
  ASSIGN_OR_RETURN(const auto journal, PostgresJournalStorage::OpenToRead(url));
  return InspectCommands(*journal, out);
}

}  // namespace callslip::tracker
