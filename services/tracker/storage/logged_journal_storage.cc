#include "tracker/storage/logged_journal_storage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "tracker/storage/aside_name.h"

namespace callslip::tracker {
namespace {

using Entries = absl::node_hash_map<uint64_t, JournalEntry>;
using Summary = JournalStorage::Summary;

void Add(const Summary& more, Summary& to) {
  to.last_sequence = std::max(to.last_sequence, more.last_sequence);
  to.latest_nanos = std::max(to.latest_nanos, more.latest_nanos);
}

// In the order of their rows on the disk.
std::vector<JournalEntry> Sorted(Entries entries) {
  std::vector<JournalEntry> sorted;
  sorted.reserve(entries.size());
  for (auto& [sequence, entry] : entries) sorted.push_back(std::move(entry));
  absl::c_sort(sorted, [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  return sorted;
}

absl::Status Damaged(const std::string& folder, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(
      "the log of commands in ", folder, " is damaged, or not that of its database: ", what,
      ". To begin with what the database has, move ", JournalLog::kFileNames[0], " and ",
      JournalLog::kFileNames[1], " away"));
}

absl::Status PutAside(const std::string& folder) {
  for (const char* name : JournalLog::kFileNames) {
    const std::string path = absl::StrCat(folder, "/", name);
    ASSIGN_OR_RETURN(const std::string aside, AsideName(path, [](const std::string& taken) {
                       return access(taken.c_str(), F_OK) == 0;
                     }));
    if (std::rename(path.c_str(), aside.c_str()) != 0 && errno != ENOENT) {
      return absl::UnavailableError(
          absl::StrCat("can't rename ", path, ": ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteRowsOf(const JournalLogContents& log, SqliteJournalStorage& database) {
  uint64_t end = database.position();
  Entries entries;
  Summary summary;
  const EarlierEntry earlier = [&](uint64_t sequence) {
    const auto it = entries.find(sequence);
    return it == entries.end() ? nullptr : &it->second;
  };
  const auto note = [&](JournalEntry entry) {
    Add(SummaryOf({&entry, 1}), summary);
    const uint64_t sequence = entry.sequence;
    const auto [it, added] = entries.try_emplace(sequence, std::move(entry));
    if (!added) Supersede(it->second, std::move(entry));
  };
  RETURN_IF_ERROR(log.ForEach(end, [&](uint64_t position, absl::string_view bytes) {
    end = position + 1;
    if (DecodeJournal(bytes, earlier, note)) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("append ", position, " of it makes no sense"));
  }));
  if (end == database.position()) return absl::OkStatus();
  return database.AppendUpTo(database.position(), end, summary, Sorted(std::move(entries)));
}

absl::StatusOr<std::unique_ptr<LoggedJournalStorage>> LoggedJournalStorage::Open(
    const std::string& folder, Sync sync, LogLimits limits) {
  ASSIGN_OR_RETURN(const JournalLogContents contents, JournalLogContents::Read(folder));
  ASSIGN_OR_RETURN(auto database, SqliteJournalStorage::Open(
                                      absl::StrCat(folder, "/", SqliteJournalStorage::kFileName)));
  if (const absl::Status written = WriteRowsOf(contents, *database); !written.ok()) {
    return absl::IsDataLoss(written) ? Damaged(folder, written.message()) : written;
  }
  if (contents.HasFrom(database->position())) {
    const std::string gap = absl::StrCat("append ", database->position(), " is missing");
    if (sync == Sync::kAlways) return Damaged(folder, gap);
    Log(LogLevel::kError, "the last appends to the log are put aside: one before them is missing",
        {{"directory", folder}, {"missing", gap}});
    RETURN_IF_ERROR(PutAside(folder));
  }
  ASSIGN_OR_RETURN(JournalLog log, JournalLog::Open(folder));
  return std::unique_ptr<LoggedJournalStorage>(
      new LoggedJournalStorage(sync, limits, std::move(database), std::move(log)));
}

LoggedJournalStorage::LoggedJournalStorage(Sync sync, LogLimits limits,
                                           std::unique_ptr<SqliteJournalStorage> database,
                                           JournalLog log)
    : sync_(sync),
      limits_(limits),
      database_(std::move(database)),
      position_(database_->position()),
      log_(std::move(log)) {
  thread_ = std::thread([this] { Run(); });
}

LoggedJournalStorage::~LoggedJournalStorage() {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

absl::Status LoggedJournalStorage::Append(uint64_t position,
                                          absl::Span<const JournalEntry> entries) {
  MutexLock lock(&mutex_);
  if (position != position_) {
    return absl::FailedPreconditionError(
        absl::StrCat("append ", position, " already exists, made by another tracker"));
  }
  const bool is_longest = log_.bytes() >= limits_.is_longest;
  if (log_.bytes() >= limits_.is_long || !rows_status_.ok()) WantRows();
  if (!rows_status_.ok()) return rows_status_;
  RETURN_IF_ERROR(EmptyLog());
  if (is_longest) return absl::UnavailableError("the disk is slower than what it is given");

  record_.assign(JournalLog::kHeadBytes, 0);
  if (!encoder_.Encode(entries, record_)) {
    return absl::UnavailableError("there is more to append than a record of the log can hold");
  }
  RETURN_IF_ERROR(log_.Append(position, record_));
  if (sync_ == Sync::kAlways) RETURN_IF_ERROR(log_.Sync());
  for (const JournalEntry& entry : entries) Note(entry);
  Add(SummaryOf(entries), summary_);
  position_ = position + 1;
  if (record_.capacity() > kKeptBytes) std::string().swap(record_);
  return absl::OkStatus();
}

bool LoggedJournalStorage::HasRoom() {
  MutexLock lock(&mutex_);
  // A failed write of rows is reported by Append().
  if (log_.bytes() < limits_.is_longest || !rows_status_.ok()) return true;
  WantRows();
  return false;
}

void LoggedJournalStorage::WantRows() {
  wants_rows_ = true;
  changed_.NotifyAll();
}

absl::Status LoggedJournalStorage::EmptyLog() {
  if (!is_log_empty_) RETURN_IF_ERROR(log_.Empty());
  is_log_empty_ = true;
  return absl::OkStatus();
}

void LoggedJournalStorage::Note(const JournalEntry& entry) {
  const auto [it, added] = unwritten_.try_emplace(entry.sequence, entry);
  if (!added) Supersede(it->second, entry);
}

void LoggedJournalStorage::Run() {
  // Callers that wait for an append go first.
  setpriority(PRIO_PROCESS, 0, 10);
  while (true) {
    {
      MutexLock lock(&mutex_);
      while (!stop_ && !wants_rows_ && rows_status_.ok()) changed_.Wait(&mutex_);
      if (!stop_ && !wants_rows_) changed_.WaitFor(&mutex_, kPause);
      if (stop_) break;
      wants_rows_ = false;
    }
    (void)WriteRows();
  }
  (void)WriteRows();
}

absl::Status LoggedJournalStorage::WriteRows() {
  MutexLock rows_lock(&rows_mutex_);
  Entries entries;
  Summary summary;
  uint64_t end = 0;
  {
    MutexLock lock(&mutex_);
    entries.swap(unwritten_);
    summary = summary_;
    end = position_;
    if (end == database_->position()) return rows_status_ = absl::OkStatus();
    log_.Turn();
  }
  std::vector<JournalEntry> sorted = Sorted(std::move(entries));
  const absl::Status written = database_->AppendUpTo(database_->position(), end, summary, sorted);
  if (!written.ok()) {
    Log(LogLevel::kError, "commands can't be brought to their database",
        {{"error", std::string(written.message())}});
  }
  MutexLock lock(&mutex_);
  rows_status_ = written;
  if (written.ok()) {
    log_.Release();
  } else {
    for (JournalEntry& entry : sorted) {
      const uint64_t sequence = entry.sequence;
      const auto [it, added] = unwritten_.try_emplace(sequence, std::move(entry));
      if (added) continue;
      Supersede(entry, std::move(it->second));
      it->second = std::move(entry);
    }
  }
  return written;
}

}  // namespace callslip::tracker
