#include "tracker/storage/journal_copy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/status_macros.h"
#include "tracker/storage/content_digest.h"
#include "tracker/storage/journal_encoding.h"

namespace callslip::tracker {
namespace {

// Of one append: large enough for efficient transactions, small enough for memory and one
// statement.
constexpr size_t kBatchEntries = 2000;
constexpr size_t kBatchBytes = size_t{8} << 20;

class Copy {
 public:
  // Without `to`, entries are only read.
  Copy(JournalStorage* to, const CopyProgress* progress) : to_(to), progress_(progress) {}

  absl::StatusOr<JournalContents> Run(JournalStorage& from) {
    ASSIGN_OR_RETURN(const JournalStorage::Summary summary, from.Summarize());
    contents_.last_sequence = summary.last_sequence;
    contents_.latest_nanos = summary.latest_nanos;
    if (summary.last_sequence > 0) {
      // Preserves the last sequence, even if its entry is gone.
      batch_.push_back({summary.last_sequence, DrawingRemoval()});
    }
    batch_.push_back({0, Restart{.time = absl::FromUnixNanos(summary.latest_nanos)}});
    absl::Status copied = Flush();
    absl::Status read = Survey(from);
    // Of a damaged journal, copy what can be read.
    read.Update(from.Replay(ClocksAsBrought, [&](JournalEntry entry) {
      if (copied.ok()) copied = Take(std::move(entry));
    }));
    if (copied.ok()) copied = Flush();
    RETURN_IF_ERROR(read);
    RETURN_IF_ERROR(copied);
    contents_.digest = digest_.value();
    return contents_;
  }

 private:
  // Counts what there is to copy.
  absl::Status Survey(JournalStorage& from) {
    return from.Replay(ClocksAsBrought, [&](const JournalEntry& entry) {
      ++all_;
      if (const auto* removal = std::get_if<CommandRemoval>(&entry.change)) {
        newest_removal_ = std::max(newest_removal_, removal->remove_nanos);
      }
    });
  }

  absl::Status Take(JournalEntry entry) {
    ++done_;
    const auto* removal = std::get_if<CommandRemoval>(&entry.change);
    // Appending a later removal would drop it in any case.
    if (removal != nullptr && removal->until_nanos <= newest_removal_) return absl::OkStatus();
    Count(entry);
    entry.is_first = true;
    bytes_.clear();
    if (!encoder_.EncodeEntry(entry, bytes_)) {
      return absl::DataLossError("an entry is larger than any that is written");
    }
    digest_.Add(bytes_);
    batch_bytes_ += bytes_.size();
    batch_.push_back(std::move(entry));
    return batch_.size() < kBatchEntries && batch_bytes_ < kBatchBytes ? absl::OkStatus() : Flush();
  }

  void Count(const JournalEntry& entry) {
    if (std::holds_alternative<CommandRecord>(entry.change)) {
      ++contents_.commands;
    } else if (std::holds_alternative<DrawingRecord>(entry.change)) {
      ++contents_.drawings;
    } else {
      ++contents_.others;
    }
  }

  absl::Status Flush() {
    if (to_ != nullptr && !batch_.empty()) RETURN_IF_ERROR(to_->Append(to_->position(), batch_));
    batch_.clear();
    batch_bytes_ = 0;
    return (*progress_)(done_, all_);
  }

  JournalStorage* const to_;
  const CopyProgress* const progress_;
  int64_t all_ = 0;
  int64_t newest_removal_ = 0;
  JournalContents contents_;
  JournalEncoder encoder_;
  ContentDigest digest_;
  std::string bytes_;
  std::vector<JournalEntry> batch_;
  size_t batch_bytes_ = 0;
  int64_t done_ = 0;
};

}  // namespace

absl::StatusOr<JournalContents> CopyJournal(JournalStorage& from, JournalStorage& to,
                                            const CopyProgress& progress) {
  return Copy(&to, &progress).Run(from);
}

absl::StatusOr<JournalContents> ContentsOf(JournalStorage& journal, const CopyProgress& progress) {
  return Copy(nullptr, &progress).Run(journal);
}

}  // namespace callslip::tracker
