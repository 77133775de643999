#include "tracker/postgres/postgres_inspection.h"

#include "common/status_macros.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/connection.h"

namespace callslip::tracker {
namespace {

// Rows up to the one that fills the page.
constexpr char kSessions[] = R"sql(
  SELECT id, metadata, queue, events, bytes FROM (
    SELECT id, metadata, coalesce(queue, '') AS queue, events, bytes,
      sum(octet_length(metadata) + coalesce(octet_length(queue), 0)) OVER (ORDER BY id)
        - octet_length(metadata) - coalesce(octet_length(queue), 0) AS before
    FROM (SELECT * FROM callslip_sessions WHERE id > $1 ORDER BY id LIMIT 500) AS rows) AS page
  WHERE before < 16777216 ORDER BY id
)sql";

SessionInspection InspectionOf(const PostgresResult& page, int row) {
  SessionInspection session{.id = page.Text(row, 0),
                            .metadata = DecodeMetadata(page.Bytes(row, 1)),
                            .events = page.Int(row, 3),
                            .log_bytes = page.Int(row, 4)};
  if (page.Bytes(row, 2).empty()) return session;
  session.queue = DecodeQueue(page.Bytes(row, 2));
  session.is_queue_damaged = !session.queue.has_value();
  return session;
}

}  // namespace

absl::StatusOr<std::vector<SessionInspection>> InspectPostgresSessions(const std::string& url) {
  ASSIGN_OR_RETURN(const auto connection, PostgresConnection::Open(url));
  std::vector<SessionInspection> sessions;
  while (true) {
    ASSIGN_OR_RETURN(const PostgresResult page,
                     connection->Query(kSessions, PostgresParameters().AddText(
                                                      sessions.empty() ? "" : sessions.back().id)));
    if (page.rows() == 0) break;
    for (int row = 0; row < page.rows(); ++row) sessions.push_back(InspectionOf(page, row));
  }
  SortByChange(sessions);
  return sessions;
}

absl::StatusOr<bool> IsHalfImported(const std::string& url) {
  ASSIGN_OR_RETURN(const auto connection, PostgresConnection::Open(url));
  ASSIGN_OR_RETURN(const PostgresResult format,
                   connection->Query("SELECT max(format) FROM callslip_cell"));
  return format.Int(0, 0) == kPostgresHalfImported;
}

}  // namespace callslip::tracker
