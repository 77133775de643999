// Any bytes in the journal's log: they are refused, or are entries that can be written to the
// database and read back unchanged.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "fuzz/require.h"
#include "google/protobuf/stubs/logging.h"
#include "tracker/storage/journal_encoding.h"
#include "tracker/storage/journal_log.h"
#include "tracker/storage/logged_journal_storage.h"
#include "tracker/storage/sqlite_journal_storage.h"

namespace callslip::tracker {
namespace {

const JournalEntry* NoEarlier(uint64_t) { return nullptr; }

// False if the bytes are not entries.
bool Decode(absl::string_view bytes, std::vector<JournalEntry>& entries) {
  entries.clear();
  return DecodeJournal(bytes, NoEarlier,
                       [&](JournalEntry entry) { entries.push_back(std::move(entry)); });
}

std::string Encode(const std::vector<JournalEntry>& entries) {
  std::string bytes;
  Require(JournalEncoder().Encode(entries, bytes), "it fits");
  return bytes;
}

// A protobuf field with bytes.
std::string Field(int number, absl::string_view bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  for (size_t size = bytes.size();; size >>= 7) {
    field.push_back(static_cast<char>(size < 0x80 ? size : size % 0x80 | 0x80));
    if (size < 0x80) break;
  }
  return absl::StrCat(field, bytes);
}

void TryEntries(const std::string& bytes) {
  std::vector<JournalEntry> entries;
  if (!Decode(bytes, entries)) return;
  const std::string once = Encode(entries);
  Require(Decode(once, entries), "what was written can be read");
  Require(Encode(entries) == once, "what was read is written as before");
}

// The bytes as the record of an append, between others, one of which may be damaged.
void TryRecords(const std::string& bytes, uint8_t damage) {
  std::string record(JournalLog::kHeadBytes, 0);
  record += bytes;
  JournalLog::Seal(damage % 4, record);
  std::array<std::string, 2> files = {absl::StrCat(record, bytes), bytes};
  files[0][damage % files[0].size()] ^= static_cast<char>(damage % 3);
  static SqliteJournalStorage& database = *SqliteJournalStorage::Open(":memory:")->release();
  (void)WriteRowsOf(JournalLogContents(std::move(files)), database);
}

void Apply(uint8_t method, const std::string& bytes) {
  switch (method % 5) {
    case 0: return TryEntries(bytes);
    case 1: return TryEntries(Field(1, bytes));
    case 2: return TryEntries(Field(1, absl::StrCat("\x10\x01", Field(3, Field(1, bytes)))));
    case 3: return TryEntries(Field(1, Field(3, bytes)));
    default: return TryRecords(bytes, method);
  }
}

}  // namespace
}  // namespace callslip::tracker

// A method, a size and as many bytes, repeatedly.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  google::protobuf::SetLogHandler(nullptr);
  while (size >= 2) {
    const uint8_t method = data[0];
    const size_t bytes = data[1] < size - 2 ? data[1] : size - 2;
    callslip::tracker::Apply(method, std::string(reinterpret_cast<const char*>(data + 2), bytes));
    data += 2 + bytes;
    size -= 2 + bytes;
  }
  return 0;
}
