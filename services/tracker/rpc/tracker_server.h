#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "common/address.h"
#include "common/clock.h"
#include "common/tls_files.h"
#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/journal/output_gate.h"
#include "tracker/domain/queue/command_table.h"
#include "tracker/domain/session/session_table.h"
#include "tracker/metrics/tracker_statistics.h"

namespace callslip::tracker {

// The tracker's gRPC listener: CommandService, AnnotationService, WorkerService with its registry,
// SessionService, QueueService, RunnerService, AdminService, health and reflection. Hides the gRPC
// headers.
class TrackerServer {
 public:
  // All must outlive the server; `sessions` must also outlive the source of the deadlines of
  // `table`. Without `sessions` there are no session services; without `annotations` the server
  // uses its own store. With a gate, all output passes through it, except that of health,
  // statistics and sessions. The server's statistics cover `storage`.
  TrackerServer(Clock* clock, CommandTable* table, SessionTable* sessions = nullptr,
                OutputGate* gate = nullptr, const MeasuredStorage& storage = {},
                AnnotationStore* annotations = nullptr);
  ~TrackerServer();

  // From now on, before Start(), authenticates callers that do not use a unix socket by these. The
  // `on_taken` of their TokenWatch must call CancelRevokedCalls().
  void SetCredentials(std::shared_ptr<const Credentials> credentials);

  // From now on, before Start(), output that does not wait at the gate passes this one, which must
  // outlive the server.
  void SetFreeGate(OutputGate* gate);

  // See AsyncServer. Call before Start().
  void SetCallMemory(int64_t bytes);

  // Starts to serve; returns the addresses with the bound ports. Call it once.
  absl::StatusOr<std::vector<Address>> Start(const std::vector<Address>& addresses, int pollers,
                                             const std::optional<TlsFiles>& tls = std::nullopt);
  absl::StatusOr<Address> Start(const Address& address, int pollers);

  // Ends calls whose credentials were revoked. Call it from any thread after Start().
  void CancelRevokedCalls();

  // Sets whether commands can be stored, as health and the statistics report. Initially true.
  void SetStoring(bool storing);

  // Reports NOT_SERVING, refuses new commands and waits, and settles all waits. Continues serving
  // for up to `grace` while workers hold commands, so that their reports are not lost; then stops.
  // Reports until then are still recorded in sessions. Call it once.
  void Drain(absl::Duration grace);

  // Thread-safe; call after Start().
  TrackerStatistics Statistics();

  // Adds a sample to the recent history in AdminService: call it each StatisticsHistory::kEvery.
  // Thread-safe.
  void NoteStatistics();

 private:
  struct Parts;

  Clock* const clock_;
  CommandTable* const table_;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace callslip::tracker
