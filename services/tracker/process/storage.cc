#include "tracker/process/storage.h"

#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/random.h"
#include "common/service_notify.h"
#include "common/status_macros.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/postgres_journal_storage.h"
#include "tracker/postgres/postgres_session_storage.h"
#include "tracker/process/half_exported.h"
#include "tracker/storage/file_session_storage.h"

namespace callslip::tracker {
namespace {

// How often a standby tracker checks whether it owns the cell.
constexpr absl::Duration kLookEvery = absl::Milliseconds(20);

}  // namespace

std::string NameOfProcess() {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return absl::StrCat(host.data(), ":", getpid(), ":", absl::Hex(Random64()));
}

absl::StatusOr<std::unique_ptr<Storage>> Storage::Open(const TrackerConfig& config, Clock* clock,
                                                       const ShutdownSignal& shutdown) {
  std::unique_ptr<Storage> storage(new Storage(clock));
  RETURN_IF_ERROR(config.storage.empty() ? storage->OpenDirectory(config, clock)
                                         : storage->JoinCell(config, clock, shutdown));
  if (storage->journal_ == nullptr) return nullptr;
  return storage;
}

absl::Status Storage::OpenDirectory(const TrackerConfig& config, Clock* clock) {
  ASSIGN_OR_RETURN(DataDirectory directory, DataDirectory::Open(config.data_dir));
  directory_.emplace(std::move(directory));
  if (directory_->is_temporary()) {
    Log(LogLevel::kWarning,
        "commands, drawings and sessions end with this process, without --data-dir",
        {{"directory", directory_->path()}});
  }
  ASSIGN_OR_RETURN(sessions_, FileSessionStorage::Open(directory_->path(), &disk_));
  RETURN_IF_ERROR(CheckWhole(directory_->path()));
  ASSIGN_OR_RETURN(journal_, DurableJournal::Open(config, directory_->path(), clock));
  return absl::OkStatus();
}

absl::Status Storage::JoinCell(const TrackerConfig& config, Clock* clock,
                               const ShutdownSignal& shutdown) {
  {
    ASSIGN_OR_RETURN(const auto connection, PostgresConnection::Open(config.storage));
    RETURN_IF_ERROR(PreparePostgres(*connection, {.standby = !config.storage_without_standby}));
  }
  membership_ = std::make_unique<Membership>(
      clock, std::make_unique<PostgresCell>(config.storage), NameOfProcess(), [] {
        Log(LogLevel::kError, "another tracker has taken the cell over; this one ends");
        // Its state is obsolete: nothing of it must be sent or stored on the way out.
        _exit(kTryAgain);
      });
  bool told = false;
  std::optional<uint64_t> ours;
  while (!(ours = membership_->epoch()).has_value()) {
    const std::string owner = membership_->owner();
    if (!told && !owner.empty()) {
      Log(LogLevel::kInfo, "standing by", {{"owner", owner}});
      // Standing by counts as ready.
      NotifyServiceManager(kServiceReady);
      told = true;
    }
    if (shutdown.WaitFor(kLookEvery)) return absl::OkStatus();
  }
  const uint64_t epoch = *ours;
  sessions_ = std::make_unique<PostgresSessionStorage>(config.storage, epoch);
  ASSIGN_OR_RETURN(auto journal, PostgresJournalStorage::Open(config.storage, epoch));
  journal_ = DurableJournal::Over(std::move(journal), JournalCommitter::Where::kOnThread, clock);
  gate_.emplace(membership_.get(), journal_->gate());
  free_gate_.emplace(membership_.get(), nullptr);
  return absl::OkStatus();
}

OutputGate* Storage::gate() { return gate_.has_value() ? &*gate_ : journal_->gate(); }

bool Storage::AwaitAnswers(const ShutdownSignal& shutdown) const {
  if (membership_ == nullptr) return true;
  while (!membership_->MayAnswer()) {
    if (shutdown.WaitFor(kLookEvery)) return false;
  }
  return true;
}

}  // namespace callslip::tracker
