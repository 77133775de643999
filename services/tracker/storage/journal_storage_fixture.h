#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_folder.h"
#include "tracker/domain/queue/command_table_fixture.h"
#include "tracker/storage/command_inspection.h"

namespace callslip::tracker {

// Tests of command storages, in a folder of their own.
class JournalStorageFixture : public testing::Test {
 protected:
  // A command that has just been registered.
  static JournalEntry Queued(uint64_t sequence, std::string params = "{}") {
    CommandRequest request;
    request.client_id = "agent";
    request.target = "browser";
    request.type = "click";
    request.params = Bytes(std::move(params));
    const absl::Time now = absl::FromUnixSeconds(1'769'947'200);
    auto command = std::make_shared<CommandSnapshot>();
    command->spec =
        std::make_shared<const CommandSpec>(CommandId::New(now, false, 3), request, now, sequence,
                                            std::make_shared<const CommandDeadlines>());
    command->trace.push_back(
        {absl::ToUnixNanos(now), TraceEntry::Stage::kQueued, TraceEntry::Source::kClient});
    return {sequence, CommandRecord{.command = std::move(command)}, /*is_first=*/true};
  }

  // A later state of the command of `queued`, with a result.
  static JournalEntry Completed(const JournalEntry& queued, std::string result) {
    const auto& before = std::get<CommandRecord>(queued.change);
    auto command = std::make_shared<CommandSnapshot>(*before.command);
    command->state = CommandState::kCompleted;
    command->attempt = 1;
    command->revision = 3;
    command->result = Bytes(std::move(result));
    return {queued.sequence,
            CommandRecord{
                .command = std::move(command), .leases = {LeaseToken::New()}, .worker = "worker"}};
  }

  static JournalEntry Removed(uint64_t sequence, int64_t at_nanos = 1000) {
    return {sequence, CommandRemoval{.id = CommandId::New(absl::UnixEpoch(), false, 3),
                                     .client_id = "agent",
                                     .ended_as = CommandState::kCompleted,
                                     .remove_nanos = at_nanos,
                                     .until_nanos = at_nanos + 1000,
                                     .number = sequence}};
  }

  static void Append(JournalStorage& storage, const std::vector<JournalEntry>& entries) {
    ASSERT_OK(storage.Append(storage.position(), entries));
  }

  static absl::StatusOr<std::vector<JournalEntry>> EntriesOf(JournalStorage& storage) {
    std::vector<JournalEntry> entries;
    const auto clocks = std::make_shared<const CommandDeadlines>();
    const auto replayed =
        storage.Replay([&](const DeadlineOverrides&, CommandClass) { return clocks; },
                       [&](JournalEntry entry) { entries.push_back(std::move(entry)); });
    if (!replayed.ok()) return replayed;
    return entries;
  }

  // The sequences of the stored commands.
  static absl::StatusOr<std::vector<uint64_t>> Replay(JournalStorage& storage) {
    const auto entries = EntriesOf(storage);
    if (!entries.ok()) return entries.status();
    std::vector<uint64_t> sequences;
    for (const JournalEntry& entry : *entries) {
      if (std::holds_alternative<CommandRecord>(entry.change)) sequences.push_back(entry.sequence);
    }
    return sequences;
  }

  // The output of an inspection of `folder`, and its status.
  static std::string Inspect(const std::string& folder, absl::Status& status) {
    char* text = nullptr;
    size_t size = 0;
    std::FILE* out = open_memstream(&text, &size);
    status = InspectCommands(folder, out);
    std::fclose(out);
    std::string shown(text, size);
    std::free(text);
    return shown;
  }

  TemporaryFolder folder_;
};

}  // namespace callslip::tracker
