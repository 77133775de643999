#include "tracker/rpc/watch_stream.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "tracker/domain/queue/command_table_fixture.h"

namespace callslip::tracker {
namespace {

// A call whose messages the test reads itself.
class UnreadCall final : public WatchStream::Call {
 public:
  void SetSource(Source asked) override { source = std::move(asked); }
  void Wake() override {}
  void Finish(const absl::Status&) override {}
  void OnCallerLeft(std::function<void()> to) override { left = std::move(to); }
  void SetReceiver(std::function<void(const v1::WatchCommandsRequest&)> on_request,
                   std::function<void()>) override {
    receive = std::move(on_request);
  }
  // Its caller has disconnected: its source and its receiver are destroyed.
  void End() {
    left();
    left = nullptr;
    source = nullptr;
    receive = nullptr;
  }

  Source source;
  std::function<void(const v1::WatchCommandsRequest&)> receive;
  std::function<void()> left;
};

class WatchStreamTest : public CommandTableTest {
 protected:
  WatchStreamTest() {
    std::make_shared<WatchStream>(&clock_, &table_, LocalCall(), call_)->Begin();
  }
  ~WatchStreamTest() override { call_->End(); }

  // Registers a command, watches it, and completes it with a result of 1 MiB. Returns its id.
  std::string Completed(int64_t watch_id) {
    const std::string id = Register(Request(kDefaultClient));
    v1::WatchCommandsRequest request;
    v1::CommandWatch& watch = *request.add_add();
    watch.set_watch_id(watch_id);
    watch.set_command_id(id);
    watch.set_only_end(true);
    call_->receive(request);
    const Payload result = Bytes(std::string(size_t{1} << 20, 'x'));
    results_.push_back(result);
    EXPECT_OK(Complete(LeaseOne(), CommandResult{result}));
    return id;
  }
  int Held() {
    return static_cast<int>(
        absl::c_count_if(results_, [](const auto& result) { return !result.expired(); }));
  }
  bool IsRead(const std::string& id) {
    return (*table_.Get(ClientScope::All(), id, /*peek=*/true))->spec->is_read();
  }

  const std::shared_ptr<UnreadCall> call_ = std::make_shared<UnreadCall>();
  std::vector<std::weak_ptr<const std::string>> results_;
};

TEST_F(WatchStreamTest, ResultIsCollectedOnceItsMessageIsSent) {
  const std::string id = Completed(1);
  std::optional<Outgoing<v1::WatchCommandsResponse>> lost = call_->source();
  ASSERT_TRUE(lost.has_value());
  EXPECT_FALSE(IsRead(id));
  lost.reset();
  const std::string other = Completed(2);
  const std::optional<Outgoing<v1::WatchCommandsResponse>> sent = call_->source();
  ASSERT_TRUE(sent.has_value() && sent->if_sent != nullptr);
  sent->if_sent();
  EXPECT_TRUE(IsRead(other));
  EXPECT_FALSE(IsRead(id));
}

TEST_F(WatchStreamTest, UnreadStreamHoldsOnlyOneMessageInMemory) {
  constexpr int kCommands = 20;
  std::vector<std::string> ids;
  for (int i = 0; i < kCommands; ++i) ids.push_back(Completed(i));
  const std::optional<Outgoing<v1::WatchCommandsResponse>> stuck = call_->source();
  ASSERT_TRUE(stuck.has_value());
  EXPECT_EQ(stuck->message.updates_size(), 1);
  for (const std::string& id : ids) ASSERT_OK(Get(id, kDefaultClient));
  Advance(CommandDeadlines().result_retention);
  EXPECT_EQ(table_.commands(), 0);
  EXPECT_LE(Held(), 1);
  const std::optional<Outgoing<v1::WatchCommandsResponse>> late = call_->source();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->message.updates_size(), kCommands - 1);
  EXPECT_EQ(late->message.updates(0).error().reason(), "command_removed");
}

}  // namespace
}  // namespace callslip::tracker
