#include "gateway/mcp/subscriptions.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/json_members.h"
#include "gateway/json/command_json.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/tools/command_resources.h"
#include "gateway/mcp/tools/command_wait.h"
#include "gateway/mcp/tools/tasks.h"
#include "gateway/mcp/tools/tool_result.h"
#include "gateway/timeouts.h"

namespace callslip::gateway {

namespace asio = boost::asio;

// One open stream.
struct Subscriptions::Listener {
  Listener(Subscriptions* of, std::shared_ptr<Exchange> to, const asio::any_io_executor& executor)
      : listeners(of->listeners_),
        exchange(std::move(to)),
        end(executor, asio::steady_timer::time_point::max()),
        position(listeners->insert(listeners->end(), this)) {}
  ~Listener() {
    listeners->erase(position);
    for (const auto& watch : watches) watch->emit(asio::cancellation_type::terminal);
  }
  Listener(const Listener&) = delete;

  void Notify(const std::string& method, Json params) const {
    params["_meta"][kMetaSubscriptionId] = exchange->message().id;
    exchange->Notify(method, std::move(params));
  }

  const std::shared_ptr<std::list<Listener*>> listeners;
  const std::shared_ptr<Exchange> exchange;
  std::set<std::string> lists;
  asio::steady_timer end;
  // Each lives as long as the coroutine that it cancels.
  std::vector<std::shared_ptr<asio::cancellation_signal>> watches;
  const std::list<Listener*>::iterator position;
};

namespace {

// The strings of filter[name].
std::vector<std::string> Texts(const Json& filter, const char* name) {
  std::vector<std::string> texts;
  const Json& member = MemberOf(filter, name);
  if (!member.is_array()) return texts;
  for (const Json& each : member) {
    if (each.is_string()) texts.push_back(each.get<std::string>());
  }
  return texts;
}

// The outcome of the command can no longer be determined.
v1::Command Lost(v1::Command command, const absl::Status& why) {
  const TrackerError error = TrackerErrorOf(why);
  command.set_state(v1::COMMAND_STATE_EXPIRED);
  command.mutable_error()->set_code(error.reason);
  command.mutable_error()->set_message(error.message);
  command.mutable_error()->set_hint(error.hint);
  command.mutable_error()->set_may_have_executed(true);
  return command;
}

// Reports each change of a command until it has ended, even through failures of the tracker, by
// calling `told`. The listener is `who`: this does not collect the results of commands that other
// clients submitted.
template <typename Told>
asio::awaitable<void> Follow(TrackerClient* tracker, std::string who, v1::Command command,
                             Told told) {
  while (!IsFinal(command.state())) {
    auto next = co_await tracker->WaitForChange(who, command.command_id(), command.revision(),
                                                kBlockingWait);
    const bool is_news = next.ok() && next->revision() > command.revision();
    if (next.ok() ? !is_news : PassesWithTime(next.status())) {
      co_await PauseForDrain();
      continue;
    }
    // The gateway is stopping, and ends the stream.
    if (absl::IsCancelled(next.status())) co_return;
    command = is_news ? *std::move(next) : Lost(std::move(command), next.status());
    told(command);
  }
}

}  // namespace

asio::awaitable<RpcOutcome> Subscriptions::Listen(std::shared_ptr<Exchange> exchange) {
  const auto filter = exchange->params().find("notifications");
  if (filter == exchange->params().end() || !filter->is_object()) {
    co_return RpcError{JsonRpcCode::kInvalidParams,
                       "params.notifications is missing: say what to listen for."};
  }
  std::vector<std::string> task_ids = Texts(*filter, "taskIds");
  std::vector<std::string> uris = Texts(*filter, "resourceSubscriptions");
  if (task_ids.size() + uris.size() > kMaxIds) {
    co_return RpcError{
        JsonRpcCode::kInvalidParams,
        absl::StrCat("A stream follows at most ", kMaxIds, " tasks and resources: open another.")};
  }
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto listener = std::make_shared<Listener>(this, exchange, executor);
  const std::string who = OnBehalfOf(exchange->principal());
  const auto follow = [&](v1::Command command, auto told) {
    auto signal = std::make_shared<asio::cancellation_signal>();
    listener->watches.push_back(signal);
    asio::co_spawn(
        executor, Follow(tracker_, who, std::move(command), std::move(told)),
        asio::bind_cancellation_slot(signal->slot(), [signal](const std::exception_ptr&) {}));
  };

  Json honoured = Json::object();
  for (const char* list : {"tools", "prompts"}) {
    const std::string name = absl::StrCat(list, "ListChanged");
    if (!announces_lists_ || filter->value(name, Json()) != true) continue;
    listener->lists.insert(list);
    honoured[name] = true;
  }
  exchange->DropParams();
  // Only ids that the caller may see are honored; the acknowledgement omits the rest.
  std::vector<v1::Command> tasks;
  for (const std::string& id : task_ids) {
    if (id.size() > kMaxIdBytes) continue;
    auto command = co_await tracker_->Get(who, id, /*peek=*/true);
    if (!command.ok() && PassesWithTime(command.status())) co_return RpcErrorOf(command.status());
    if (!command.ok()) continue;
    honoured["taskIds"].push_back(id);
    tasks.push_back(*std::move(command));
  }
  std::vector<v1::Command> results;
  for (const std::string& uri : uris) {
    const std::optional<std::string> id = CommandResources::CommandIdOf(uri);
    if (!id.has_value()) continue;
    auto command = co_await tracker_->Get(who, *id, /*peek=*/true);
    if (!command.ok() && PassesWithTime(command.status())) co_return RpcErrorOf(command.status());
    if (!command.ok()) continue;
    honoured["resourceSubscriptions"].push_back(uri);
    results.push_back(*std::move(command));
  }
  listener->Notify("notifications/subscriptions/acknowledged", {{"notifications", honoured}});

  // The stream may be open for hours.
  honoured = Json();
  task_ids = {};
  uris = {};
  // A change can arrive after the stream is gone.
  const std::weak_ptr<Listener> stream = listener;
  const auto tell_task = [stream](const v1::Command& command) {
    if (const auto open = stream.lock()) open->Notify("notifications/tasks", DetailedTask(command));
  };
  const auto tell_result = [stream](const v1::Command& command) {
    const auto open = stream.lock();
    if (open == nullptr || command.state() != v1::COMMAND_STATE_COMPLETED) return;
    open->Notify("notifications/resources/updated", {{"uri", ResultUri(command.command_id())}});
  };
  for (v1::Command& command : tasks) {
    // A subscriber to a task that has already ended is notified too.
    if (IsFinal(command.state())) tell_task(command);
    follow(std::move(command), tell_task);
  }
  for (v1::Command& command : results) follow(std::move(command), tell_result);

  if (!ended_) co_await listener->end.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return Json{{"_meta", {{kMetaSubscriptionId, exchange->message().id}}}};
}

void Subscriptions::Announce(const std::string& list) {
  for (const Listener* listener : *listeners_) {
    if (!listener->lists.contains(list)) continue;
    listener->Notify(absl::StrCat("notifications/", list, "/list_changed"), Json::object());
  }
}

void Subscriptions::End() {
  ended_ = true;
  for (Listener* listener : *listeners_) listener->end.cancel();
}

}  // namespace callslip::gateway
