#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tracker/domain/journal/journal.h"

// Encodes entries of the journal as bytes: a message of journal.proto for the entries of one
// append, or for a single entry.
namespace callslip::tracker {

namespace storage {
class Batch;
}

// Not thread-safe: use on one thread at a time.
class JournalEncoder {
 public:
  JournalEncoder();
  ~JournalEncoder();
  JournalEncoder(JournalEncoder&&) noexcept;
  JournalEncoder& operator=(JournalEncoder&&) noexcept;

  // Appends the message to `bytes`. Returns false if it would have 2 GiB or more.
  [[nodiscard]] bool Encode(absl::Span<const JournalEntry> entries, std::string& bytes);
  // The same with a message of a single entry.
  [[nodiscard]] bool EncodeEntry(const JournalEntry& entry, std::string& bytes);

 private:
  // `size`: of what was written.
  bool Finish(bool encoded, size_t size);

  std::unique_ptr<storage::Batch> batch_;
};

// Returns the newest previously decoded entry with that sequence, or null.
using EarlierEntry = std::function<const JournalEntry*(uint64_t sequence)>;

// The clocks of a command that has only its own overrides.
std::shared_ptr<const CommandDeadlines> ClocksAsBrought(const DeadlineOverrides& overrides,
                                                        CommandClass);

// Calls `each` with every entry in order. The constant part of a command or drawing is taken from
// its earlier entry. If there is none, everything but the sequence is missing from it, because
// it is stored elsewhere; its clocks are only its own overrides. Returns false if the bytes are not
// entries.
bool DecodeJournal(absl::string_view bytes, const EarlierEntry& earlier,
                   const std::function<void(JournalEntry)>& each);
// The same with a message of a single entry.
bool DecodeEntry(absl::string_view bytes, const EarlierEntry& earlier,
                 const JournalStorage::ClocksOf& clocks, JournalEntry& entry);

}  // namespace callslip::tracker
