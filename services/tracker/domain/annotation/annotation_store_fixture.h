#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracker/domain/annotation/annotation_store.h"
#include "tracker/domain/queue/command_table_fixture.h"

// Shared code of the annotation store's tests. Test code only.
namespace callslip::tracker {

// Runs an action once, at the first change that its table reports: in the middle of the call that
// caused the change.
class Interruption : public CommandFeed {
 public:
  void Arm(std::function<void()> action) { action_ = std::move(action); }

  void OnReady() override {
    Take(kMaxWatchesInMessage);
    if (const auto action = std::exchange(action_, nullptr)) action();
  }

 private:
  std::function<void()> action_;
};

// A store over a table, with a fake clock: agents that request drawings, and a person who draws.
class AnnotationStoreTest : public CommandTableTest {
 protected:
  explicit AnnotationStoreTest(const AnnotationLimits& limits = {}) : store_(&table_, limits) {}

  absl::StatusOr<CommandRegistration> TryAsk(AnnotationRequest request = {}) {
    if (request.client_id.empty()) request.client_id = kClient;
    return store_.Request(std::move(request), clock_.Now());
  }
  // Returns the command of a request that must be accepted.
  CommandSnapshot Ask(AnnotationRequest request = {}) {
    const auto registration = TryAsk(std::move(request));
    EXPECT_OK(registration);
    return registration.ok() ? *registration->command : CommandSnapshot{};
  }
  // Returns the id of a request that must wait.
  std::string Wait(AnnotationRequest request = {}) {
    const CommandSnapshot command = Ask(std::move(request));
    EXPECT_EQ(command.state, State::kQueued);
    return IdOf(command);
  }
  // Returns the result of a request that must not wait.
  std::string Found(AnnotationRequest request = {}) {
    const CommandSnapshot command = Ask(std::move(request));
    EXPECT_EQ(command.state, State::kCompleted);
    return command.result == nullptr ? "" : *command.result;
  }
  std::string ResultOf(const std::string& id, const std::string& client = kClient) {
    const auto command = Get(id, client);
    EXPECT_OK(command);
    if (!command.ok()) return "";
    EXPECT_EQ((*command)->state, State::kCompleted);
    return (*command)->result == nullptr ? "" : *(*command)->result;
  }

  static Drawing In(int64_t tab_id, const std::string& content, const std::string& session = "") {
    return {.tab_id = tab_id,
            .url = "http://page/",
            .title = "A page",
            .session = session,
            .content = Bytes(content)};
  }
  AppendedDrawing Draw(Drawing drawing, const std::vector<std::string>& ids = {},
                       const std::string& drawing_id = "") {
    const auto appended = store_.Append(std::move(drawing), ids, drawing_id, clock_.Now());
    EXPECT_OK(appended);
    return appended.value_or(AppendedDrawing{});
  }

  static AnnotationRequest For(std::optional<int64_t> tab_id, const std::string& session = "",
                               const std::string& client = kClient) {
    return {.client_id = client, .query = {.tab_id = tab_id, .session = session}};
  }

  std::vector<std::string> Listed(AnnotationQuery query = {}, bool peek = true) {
    const auto page = store_.List(kClient, std::move(query), 0, "", clock_.Now());
    EXPECT_OK(page);
    if (!peek) store_.Collect(kClient, page->drawings);
    std::vector<std::string> contents;
    for (const DrawingPtr& drawing : page->drawings) contents.push_back(*drawing->content);
    return contents;
  }

  // Runs `action` in the middle of the call that next changes one of the client's commands.
  void Interrupt(const std::string& client, std::function<void()> action) {
    const auto feed = std::make_shared<Interruption>();
    ASSERT_OK(table_.WatchAll({.clients = client, .feed = feed}));
    feed->Arm(std::move(action));
  }

  AnnotationStore store_;
};

}  // namespace callslip::tracker
