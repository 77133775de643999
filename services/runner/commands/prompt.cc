#include "runner/commands/prompt.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/read_until.hpp"
#include "boost/asio/use_awaitable.hpp"

namespace callslip::runner {
namespace {

constexpr int kGoOn = -1;
constexpr int kStopped = 130;
constexpr size_t kMaxLine = 1024;

const char* StatusText(v1::AgentStatus status) {
  switch (status) {
    case v1::AGENT_STATUS_WAITING:
      return "waits until another agent has stopped";
    case v1::AGENT_STATUS_STARTING:
      return "starts";
    case v1::AGENT_STATUS_FAILED:
      return "could not be started";
    default:
      return "";
  }
}

}  // namespace

Prompt::~Prompt() {
  // Others have it too, and after this.
  boost::system::error_code ignored;
  input_.native_non_blocking(false, ignored);
  input_.release();
}

void Prompt::Start(Question question, Done done) {
  boost::asio::co_spawn(
      context_,
      [](std::shared_ptr<Prompt> self, Question asked,
         Done finished) -> boost::asio::awaitable<void> {
        finished(co_await self->Run(std::move(asked)));
      }(shared_from_this(), std::move(question), std::move(done)),
      boost::asio::detached);
}

boost::asio::awaitable<int> Prompt::Run(Question question) {
  v1::CreateSessionRequest create;
  create.set_session_id(question.session_id);
  create.set_acp_server(question.agent);
  create.set_working_dir(question.directory);
  const auto session = co_await tracker_->Call(std::move(create));
  if (!session.ok()) {
    Say(absl::StrCat("no session: ", std::string(session.status().message())));
    co_return 1;
  }
  session_id_ = session->session_id();
  const int code = co_await AskAgent(question.text);
  Say(absl::StrCat("session ", session_id_));
  v1::EndSessionRequest end;
  end.set_session_id(session_id_);
  end.set_reason("prompt_ended");
  const auto ended = co_await tracker_->Call(std::move(end));
  if (!ended.ok()) Say(absl::StrCat("not ended: ", std::string(ended.status().message())));
  co_return code;
}

boost::asio::awaitable<int> Prompt::AskAgent(std::string text) {
  v1::AddMessageRequest message;
  message.set_session_id(session_id_);
  message.set_message(std::move(text));
  const auto added = co_await tracker_->Call(std::move(message));
  if (!added.ok()) {
    Say(absl::StrCat("not asked: ", std::string(added.status().message())));
    co_return 1;
  }
  co_return co_await Follow();
}

boost::asio::awaitable<int> Prompt::Follow() {
  v1::WatchSessionRequest watch;
  watch.set_session_id(session_id_);
  const auto updates = tracker_->Open(std::move(watch));
  while (true) {
    const auto update = co_await updates->Next();
    if (!update.ok() || !update->has_value()) {
      Say(absl::StrCat("the tracker has left: ", std::string(update.status().message())));
      co_return 1;
    }
    const int code = Take(**update);
    if (code != kGoOn) co_return code;
  }
}

int Prompt::Take(const v1::SessionUpdate& update) {
  if (update.has_event()) Show(update.event());
  if (update.has_agent()) return ShowAgent(update.agent());
  if (update.has_snapshot()) {
    for (const v1::Permission& permission : update.snapshot().permissions()) Ask(permission);
    return ShowAgent(update.snapshot().session().agent());
  }
  if (update.has_permission() && !update.permission().answered() &&
      !update.permission().cancelled()) {
    Ask(update.permission());
  }
  if (update.has_turn()) in_turn_ = update.turn().outcome().empty();
  // Without a turn there is none whose end would be told.
  if (stopped_ && !in_turn_ && !update.has_turn()) return kStopped;
  if (!update.has_turn() || in_turn_) return kGoOn;
  const v1::SessionUpdate::TurnChange& turn = update.turn();
  if (turn.outcome() == "completed") {
    Say("");
    return 0;
  }
  Say(absl::StrCat(turn.outcome(), ": ", turn.reason(), turn.message().empty() ? "" : ": ",
                   turn.message()));
  return turn.outcome() == "cancelled" ? kStopped : 1;
}

void Prompt::Show(const v1::SessionEvent& event) {
  if (event.has_agent_message()) {
    const std::string& text = event.agent_message().text();
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
    if (!text.empty()) in_line_ = text.back() != '\n';
  } else if (event.has_tool_call()) {
    Say(absl::StrCat("* ", event.tool_call().title()));
  } else if (event.has_tool_call_update() && event.tool_call_update().status() == "failed") {
    Say("  failed");
  } else if (event.has_error()) {
    Say(event.error().message());
  } else if (event.other().type() == "context_lost") {
    Say("the agent has lost what it knew of this session");
  }
}

int Prompt::ShowAgent(const v1::AgentState& agent) {
  const std::string status = StatusText(agent.status());
  if (!status.empty() && status != std::exchange(status_, status)) {
    Say(absl::StrCat("the agent ", status, agent.message().empty() ? "" : ": ", agent.message()));
  }
  return agent.status() == v1::AGENT_STATUS_FAILED ? 1 : kGoOn;
}

void Prompt::Ask(const v1::Permission& permission) {
  Say(absl::StrCat("? ", permission.title()));
  for (int i = 0; i < permission.options_size(); ++i) {
    Say(absl::StrCat("  ", i + 1, " ", permission.options(i).name()));
  }
  if (std::exchange(asking_, true)) return;
  boost::asio::co_spawn(
      context_, [self = shared_from_this(), permission] { return self->Answer(permission); },
      boost::asio::detached);
}

boost::asio::awaitable<void> Prompt::Answer(v1::Permission permission) {
  while (true) {
    Say(absl::StrCat("1 to ", permission.options_size(), "?"));
    const auto [error, bytes] = co_await boost::asio::async_read_until(
        input_, boost::asio::dynamic_buffer(read_, kMaxLine), '\n',
        boost::asio::as_tuple(boost::asio::use_awaitable));
    if (error) {
      Say("nobody answers here; whoever watches the session may");
      co_return;
    }
    const std::string line = read_.substr(0, bytes);
    read_.erase(0, bytes);
    int choice = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(line), &choice) || choice < 1 ||
        choice > permission.options_size()) {
      continue;
    }
    v1::AnswerPermissionRequest answer;
    answer.set_session_id(session_id_);
    answer.set_permission_id(permission.permission_id());
    answer.set_option_id(permission.options(choice - 1).option_id());
    asking_ = false;
    const auto answered = co_await tracker_->Call(std::move(answer));
    if (!answered.ok()) Say(std::string(answered.status().message()));
    co_return;
  }
}

void Prompt::Stop() {
  stopped_ = true;
  if (session_id_.empty()) return;
  boost::asio::co_spawn(
      context_,
      [](std::shared_ptr<Prompt> self) -> boost::asio::awaitable<void> {
        v1::StopTurnRequest stop;
        stop.set_session_id(self->session_id_);
        (void)co_await self->tracker_->Call(std::move(stop));
      }(shared_from_this()),
      boost::asio::detached);
}

void Prompt::Say(const std::string& line) {
  if (std::exchange(in_line_, false)) {
    std::fputc('\n', out_);
    std::fflush(out_);
  }
  if (!line.empty()) std::fprintf(err_, "%s\n", line.c_str());
}

}  // namespace callslip::runner
