#include "tracker/storage/journal_encoding.h"

#include <string>
#include <vector>

#include "tracker/storage/journal_storage_fixture.h"

namespace callslip::tracker {
namespace {

class JournalEncodingTest : public JournalStorageFixture {
 protected:
  static const JournalEntry* NoEarlier(uint64_t) { return nullptr; }

  std::vector<JournalEntry> Again(const std::vector<JournalEntry>& entries) {
    std::string bytes;
    EXPECT_TRUE(encoder_.Encode(entries, bytes));
    std::vector<JournalEntry> decoded;
    EXPECT_TRUE(DecodeJournal(bytes, NoEarlier,
                              [&](JournalEntry entry) { decoded.push_back(std::move(entry)); }));
    return decoded;
  }

  JournalEncoder encoder_;
};

// The members of commands and drawings are tested by the restarts in command_restore_test.cc and
// annotation_restore_test.cc.
TEST_F(JournalEncodingTest, EntriesKeepTheirOrderAndKind) {
  const auto decoded = Again({Queued(5), {5, CommandReceipt()}, Removed(4), {6, DrawingRemoval()}});
  ASSERT_THAT(decoded, SizeIs(4));
  EXPECT_EQ(decoded[0].sequence, 5u);
  EXPECT_TRUE(decoded[0].is_first);
  EXPECT_TRUE(std::holds_alternative<CommandReceipt>(decoded[1].change));
  EXPECT_FALSE(decoded[1].is_first);
  EXPECT_EQ(std::get<CommandRemoval>(decoded[2].change).until_nanos, 2000);
  EXPECT_TRUE(std::holds_alternative<DrawingRemoval>(decoded[3].change));
}

TEST_F(JournalEncodingTest, ImmutablePartOfCommandIsWrittenOnce) {
  const JournalEntry queued = Queued(1, std::string(10'000, 'p'));
  std::string bytes;
  EXPECT_TRUE(encoder_.Encode({&queued, 1}, bytes));
  const size_t first = bytes.size();
  EXPECT_GT(first, 10'000u);
  const JournalEntry completed = Completed(queued, "42");
  EXPECT_TRUE(encoder_.Encode({&completed, 1}, bytes));
  EXPECT_LT(bytes.size() - first, 200u);
}

TEST_F(JournalEncodingTest, EncoderKeepsNoStateBetweenAppends) {
  const JournalEntry queued = Queued(1, std::string(3 << 20, 'p'));
  EXPECT_THAT(Again({queued, Completed(queued, "42")}), SizeIs(2));
  const auto decoded = Again({Queued(2)});
  ASSERT_THAT(decoded, SizeIs(1));
  const auto& record = std::get<CommandRecord>(decoded[0].change);
  EXPECT_EQ(record.command->result, nullptr);
  EXPECT_EQ(*record.command->spec->params, "{}");
}

TEST_F(JournalEncodingTest, MalformedBytesAreRefused) {
  std::string bytes;
  const JournalEntry queued = Queued(1);
  EXPECT_TRUE(encoder_.Encode({&queued, 1}, bytes));
  const auto ignore = [](const JournalEntry&) {};
  EXPECT_FALSE(DecodeJournal("nonsense", NoEarlier, ignore));
  EXPECT_FALSE(DecodeJournal(absl::string_view(bytes).substr(1), NoEarlier, ignore));
  const size_t id = bytes.find("corr-");
  bytes[id] = 'x';
  EXPECT_FALSE(DecodeJournal(bytes, NoEarlier, ignore));
}

}  // namespace
}  // namespace callslip::tracker
