#include "tracker/process/move.h"

#include <unistd.h>

#include <cinttypes>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "tracker/cluster/membership.h"
#include "tracker/postgres/cell.h"
#include "tracker/postgres/import_mark.h"
#include "tracker/postgres/postgres_journal_storage.h"
#include "tracker/postgres/postgres_session_storage.h"
#include "tracker/process/half_exported.h"
#include "tracker/process/storage.h"
#include "tracker/storage/file_session_storage.h"
#include "tracker/storage/journal_copy.h"
#include "tracker/storage/logged_journal_storage.h"
#include "tracker/storage/session_copy.h"

namespace callslip::tracker {
namespace {

// Progress is shown to an operator.
constexpr absl::Duration kSayEvery = absl::Seconds(2);
// Enough for a cell whose owner is gone: 1.5 s without a beat, and a few checks.
constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kPollEvery = absl::Milliseconds(20);

using OpenJournal = std::function<absl::StatusOr<std::unique_ptr<JournalStorage>>()>;

// Shows the progress of a copy, and stops it on request.
class Progress {
 public:
  explicit Progress(const MoveRequest* request) : request_(request) {}

  CopyProgress Of(const char* what) {
    return [this, what](int64_t done, int64_t all) -> absl::Status {
      if (request_->is_stopped()) {
        return absl::CancelledError("stopped half way; to finish it, do it again");
      }
      const absl::Time now = clock_.Now();
      if (now - said_at_ < kSayEvery) return absl::OkStatus();
      said_at_ = now;
      std::fprintf(request_->out, "%s: %" PRId64 " of %" PRId64 "\n", what, done, all);
      return absl::OkStatus();
    };
  }

 private:
  const MoveRequest* const request_;
  RealClock clock_;
  absl::Time said_at_ = clock_.Now();
};

absl::Status Differs(absl::string_view what) {
  return absl::DataLossError(absl::StrCat(
      what,
      " were not written as they were read, so that the target is not to be used: do it "
      "again, and look at the machines and the disks where that happens once more"));
}

absl::StatusOr<JournalContents> MoveJournal(JournalStorage& from, const OpenJournal& open,
                                            Progress& progress) {
  ASSIGN_OR_RETURN(auto to, open());
  ASSIGN_OR_RETURN(const JournalContents read,
                   CopyJournal(from, *to, progress.Of("commands and drawings")));
  // Read it as the next tracker will find it.
  to = nullptr;
  ASSIGN_OR_RETURN(to, open());
  ASSIGN_OR_RETURN(const JournalContents written,
                   ContentsOf(*to, progress.Of("commands and drawings compared")));
  if (written != read) return Differs("commands and drawings");
  return read;
}

absl::StatusOr<SessionContents> MoveSessions(MovableSessionStorage& from, MovableSessionStorage& to,
                                             Progress& progress) {
  ASSIGN_OR_RETURN(const SessionContents read, CopySessions(from, to, progress.Of("sessions")));
  ASSIGN_OR_RETURN(const SessionContents written, ContentsOf(to, progress.Of("sessions compared")));
  if (written.digests != read.digests) return Differs("sessions");
  return read;
}

absl::Status MoveAll(JournalStorage& from_journal, MovableSessionStorage& from_sessions,
                     const OpenJournal& open_journal, MovableSessionStorage& to_sessions,
                     const MoveRequest& request) {
  Progress progress(&request);
  ASSIGN_OR_RETURN(const JournalContents journal,
                   MoveJournal(from_journal, open_journal, progress));
  ASSIGN_OR_RETURN(const SessionContents sessions,
                   MoveSessions(from_sessions, to_sessions, progress));
  std::fprintf(request.out,
               "%" PRId64 " commands, %" PRId64 " drawings, %zu sessions with %" PRId64
               " events and %" PRId64 " images are there as they were read\n",
               journal.commands, journal.drawings, sessions.digests.size(), sessions.events,
               sessions.images);
  return absl::OkStatus();
}

// Owns the cell, like a tracker, until it is destroyed.
absl::StatusOr<std::unique_ptr<Membership>> OwnCell(const MoveRequest& request, Clock* clock,
                                                    bool for_import) {
  auto membership = std::make_unique<Membership>(
      clock, std::make_unique<PostgresCell>(request.storage, for_import), NameOfProcess(), [] {
        std::fputs("another process has taken the cell over: do it again\n", stderr);
        _exit(kTryAgain);
      });
  const std::unique_ptr<Sleeper> sleeper = clock->NewSleeper();
  const absl::Time until = clock->Now() + kPatience;
  while (!membership->epoch().has_value()) {
    if (clock->Now() >= until) {
      const std::string owner = membership->owner();
      if (owner.empty()) return absl::UnavailableError("the database does not answer in time");
      return absl::FailedPreconditionError(
          absl::StrCat("a tracker owns what is in --storage (", owner,
                       "): stop all trackers that use it, and do it again"));
    }
    sleeper->SleepUntil(clock->Now() + kPollEvery);
  }
  return membership;
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> Connect(const MoveRequest& request,
                                                            const PostgresDemands& demands) {
  ASSIGN_OR_RETURN(auto connection, PostgresConnection::Open(request.storage));
  RETURN_IF_ERROR(PreparePostgres(*connection, demands));
  return connection;
}

}  // namespace

absl::Status Import(const MoveRequest& request) {
  std::error_code unreadable;
  if (!std::filesystem::is_directory(request.data_dir, unreadable)) {
    return absl::NotFoundError(absl::StrCat("there is no directory ", request.data_dir));
  }
  RETURN_IF_ERROR(CheckWhole(request.data_dir));
  Disk disk;
  ASSIGN_OR_RETURN(const auto from_sessions, FileSessionStorage::Open(request.data_dir, &disk));
  ASSIGN_OR_RETURN(
      const auto from_journal,
      LoggedJournalStorage::Open(request.data_dir, LoggedJournalStorage::Sync::kAlways));

  ASSIGN_OR_RETURN(auto connection, Connect(request, {.standby = request.standby, .whole = false}));
  RealClock clock;
  ASSIGN_OR_RETURN(const auto cell, OwnCell(request, &clock, /*for_import=*/true));
  const uint64_t epoch = *cell->epoch();
  RETURN_IF_ERROR(BeginImport(*connection, epoch));
  PostgresSessionStorage to_sessions(request.storage, epoch);
  const auto open_journal = [&]() -> absl::StatusOr<std::unique_ptr<JournalStorage>> {
    return PostgresJournalStorage::Open(request.storage, epoch, kPostgresHalfImported);
  };
  RETURN_IF_ERROR(MoveAll(*from_journal, *from_sessions, open_journal, to_sessions, request));
  // The first connection may have been closed in the meantime.
  ASSIGN_OR_RETURN(connection, PostgresConnection::Open(request.storage));
  return EndImport(*connection, epoch);
}

absl::Status Export(const MoveRequest& request) {
  Disk disk;
  RETURN_IF_ERROR(CheckExportable(disk, request.data_dir));
  RETURN_IF_ERROR(Connect(request, {.standby = false}).status());
  RealClock clock;
  ASSIGN_OR_RETURN(const auto cell, OwnCell(request, &clock, /*for_import=*/false));
  const uint64_t epoch = *cell->epoch();
  PostgresSessionStorage from_sessions(request.storage, epoch);
  ASSIGN_OR_RETURN(const auto from_journal, PostgresJournalStorage::Open(request.storage, epoch));

  ASSIGN_OR_RETURN(const auto to_sessions, FileSessionStorage::Open(request.data_dir, &disk));
  // A tracker may have used the directory since the first check; from here on the lock prevents
  // that.
  RETURN_IF_ERROR(CheckExportable(disk, request.data_dir));
  RETURN_IF_ERROR(BeginExport(disk, request.data_dir, *to_sessions));
  const auto open_journal = [&]() -> absl::StatusOr<std::unique_ptr<JournalStorage>> {
    return SqliteJournalStorage::Open(
        absl::StrCat(request.data_dir, "/", SqliteJournalStorage::kFileName));
  };
  RETURN_IF_ERROR(MoveAll(*from_journal, from_sessions, open_journal, *to_sessions, request));
  // We owned the cell until now, so nothing was written that was not read.
  ASSIGN_OR_RETURN(const auto connection, PostgresConnection::Open(request.storage));
  RETURN_IF_ERROR(CheckEpoch(*connection, epoch));
  return EndExport(disk, request.data_dir);
}

}  // namespace callslip::tracker
