#ifndef CALLSLIP_TRACKER_STORAGE_JOURNAL_ENCODING_H_
#define CALLSLIP_TRACKER_STORAGE_JOURNAL_ENCODING_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tracker/domain/journal/journal.h"

// Entries of the journal as bytes: a message of journal.proto for those of one append, or for one.
namespace callslip::tracker {

namespace storage {
class Batch;
}

// Used by one thread at a time.
class JournalEncoder {
 public:
  JournalEncoder();
  ~JournalEncoder();
  JournalEncoder(JournalEncoder&&) noexcept;
  JournalEncoder& operator=(JournalEncoder&&) noexcept;

  // Adds the message at the end of `bytes`. False where it would have 2 GiB or more.
  [[nodiscard]] bool Encode(absl::Span<const JournalEntry> entries, std::string& bytes);
  // The same with a message of one entry alone.
  [[nodiscard]] bool EncodeEntry(const JournalEntry& entry, std::string& bytes);

 private:
  // Of what was written to `size` bytes.
  bool Finish(bool encoded, size_t size);

  std::unique_ptr<storage::Batch> batch_;
};

// The newest entry with that sequence among those that were decoded before, or null.
using EarlierEntry = std::function<const JournalEntry*(uint64_t sequence)>;

// The clocks of a command that has none but those that it brought along.
std::shared_ptr<const CommandDeadlines> ClocksAsBrought(const DeadlineOverrides& overrides,
                                                        CommandClass);

// Gives each entry in its order. What never changes of a command or drawing is what the earlier
// entry has of it; where there is none, all but its sequence is missing, since somebody else has
// it; of its clocks each has what it brought along only. False where the bytes are no entries.
bool DecodeJournal(absl::string_view bytes, const EarlierEntry& earlier,
                   const std::function<void(JournalEntry)>& each);
// The same with a message of one entry alone.
bool DecodeEntry(absl::string_view bytes, const EarlierEntry& earlier,
                 const JournalStorage::ClocksOf& clocks, JournalEntry& entry);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_STORAGE_JOURNAL_ENCODING_H_
