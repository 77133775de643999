#ifndef CALLSLIP_TRACKER_RPC_TRACKER_SERVER_H_
#define CALLSLIP_TRACKER_RPC_TRACKER_SERVER_H_

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

// The tracker's gRPC listener: CommandService, AnnotationService, WorkerService with what it knows
// of workers, SessionService, QueueService, RunnerService, AdminService, health and reflection.
// Keeps the gRPC headers to itself.
class TrackerServer {
 public:
  // All of them must outlive the server; and `sessions` whatever fires the deadlines of `table`.
  // Without `sessions` only commands are served; without `annotations`, some that end with the
  // server. With a gate, nothing leaves but through it, and health and sessions alone. `storage` is
  // what its statistics tell of.
  TrackerServer(Clock* clock, CommandTable* table, SessionTable* sessions = nullptr,
                OutputGate* gate = nullptr, const MeasuredStorage& storage = {},
                AnnotationStore* annotations = nullptr);
  ~TrackerServer();

  // From now on, before Start(), whoever does not come over a unix socket is known by these.
  // `on_change` of their TokenWatch is to call CancelRevokedCalls().
  void SetCredentials(std::shared_ptr<const Credentials> credentials);

  // From now on, before Start(), what does not wait at the gate passes this one, which must outlive
  // the server.
  void SetFreeGate(OutputGate* gate);

  // See AsyncServer. Before Start().
  void SetCallMemory(int64_t bytes);

  // Starts to serve; returns the addresses with the ports that were bound. Once only.
  absl::StatusOr<std::vector<Address>> Start(const std::vector<Address>& addresses, int pollers,
                                             const std::optional<TlsFiles>& tls = std::nullopt);
  absl::StatusOr<Address> Start(const Address& address, int pollers);

  // Ends what was begun with credentials that were revoked. Any thread; from Start() on.
  void CancelRevokedCalls();

  // Whether commands can be stored, which health and the statistics tell of. True at first.
  void SetStoring(bool storing);

  // Reports NOT_SERVING, refuses new commands and waits, and settles all waits; goes on serving
  // for up to `grace` while workers hold commands, so that their reports are not lost; then stops.
  // What is reported until then is still recorded in sessions. Once only.
  void Drain(absl::Duration grace);

  // Thread-safe; from Start() on.
  TrackerStatistics Statistics();

  // Adds a sample to what AdminService tells of the last minutes: each StatisticsHistory::kEvery.
  // Thread-safe.
  void NoteStatistics();

 private:
  struct Parts;

  Clock* const clock_;
  CommandTable* const table_;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_TRACKER_SERVER_H_
