#include "runner/commands/prompt.h"

#include <termios.h>

#include <chrono>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/as_tuple.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/experimental/awaitable_operators.hpp"
#include "boost/asio/read_until.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "common/json_members.h"
#include "runner/acp/message.h"
#include "runner/commands/terminal_text.h"

namespace callslip::runner {
namespace {

constexpr int kGoOn = -1;
constexpr int kStopped = 130;
constexpr size_t kMaxLine = 1024;
// How long it can take until the agent starts or is queued.
constexpr std::chrono::seconds kGivenWithin{10};

const char* StatusText(v1::AgentStatus status) {
  switch (status) {
    case v1::AGENT_STATUS_WAITING: return "waits until another agent has stopped";
    case v1::AGENT_STATUS_STARTING: return "starts";
    case v1::AGENT_STATUS_FAILED: return "could not be started";
    default: return "";
  }
}

// Whether the question must not be asked again after this error: it, or the session, is over.
bool IsOver(const absl::Status& refusal) {
  return absl::IsNotFound(refusal) || absl::IsFailedPrecondition(refusal);
}

}  // namespace

Prompt::~Prompt() {
  // The descriptor is shared and stays in use.
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
  const int code = stopped_ ? kStopped : co_await AskAgent(question.text);
  Say(absl::StrCat("session ", session_id_));
  v1::EndSessionRequest end;
  end.set_session_id(session_id_);
  end.set_reason("prompt_ended");
  // If the session was lost and resumed meanwhile, another runner has it: the lease prevents its
  // end.
  end.set_lease(lease_);
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
  co_return stopped_ ? kStopped : co_await Follow();
}

boost::asio::awaitable<int> Prompt::Follow() {
  v1::WatchSessionRequest watch;
  watch.set_session_id(session_id_);
  const auto updates = tracker_->Open(std::move(watch));
  const auto patience = boost::asio::steady_timer::clock_type::now() + kGivenWithin;
  while (true) {
    boost::asio::steady_timer timer(
        context_, is_given_ ? boost::asio::steady_timer::time_point::max() : patience);
    using boost::asio::experimental::awaitable_operators::operator||;
    const auto next = co_await (updates->Next() || timer.async_wait(boost::asio::use_awaitable));
    if (next.index() == 1) {
      Say("nothing happened within 10 s: the tracker has not assigned the session to this runner");
      co_return 1;
    }
    const auto& update = std::get<0>(next);
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
    in_turn_ = in_turn_ || !update.snapshot().session().turn_id().empty();
    return ShowAgent(update.snapshot().session().agent());
  }
  if (update.has_permission()) {
    const bool is_over = update.permission().answered() || update.permission().cancelled();
    is_over ? Drop(update.permission()) : Ask(update.permission());
  }
  if (update.has_turn()) {
    in_turn_ = update.turn().outcome().empty();
    is_given_ = true;
  }
  // Without a turn, no end of a turn will be reported.
  if (stopped_ && !in_turn_ && !update.has_turn()) return kStopped;
  if (!update.has_turn() || in_turn_) return kGoOn;
  const v1::SessionUpdate::TurnChange& turn = update.turn();
  if (turn.outcome() == "completed") {
    Say("");
    // A turn with an unanswered question is not a success.
    return input_ended_ ? 1 : 0;
  }
  Say(absl::StrCat(turn.outcome(), ": ", turn.reason(), turn.message().empty() ? "" : ": ",
                   turn.message()));
  return turn.outcome() == "cancelled" && !input_ended_ ? kStopped : 1;
}

void Prompt::Show(const v1::SessionEvent& event) {
  const Json data = Json::parse(event.data(), nullptr, /*allow_exceptions=*/false);
  if (event.type() == "agent_message") {
    const std::string text = TerminalText(TextOf(data, "text"));
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
    if (!text.empty()) in_line_ = text.back() != '\n';
  } else if (event.type() == "tool_call") {
    Say(absl::StrCat("* ", TerminalLine(TextOf(data, "title"))));
  } else if (event.type() == "tool_call_update" && TextOf(data, "status") == "failed") {
    Say("  failed");
  } else if (event.type() == "error") {
    Say(TextOf(data, "message"));
  } else if (event.type() == "context_lost") {
    Say("the agent has lost what it knew of this session");
  }
}

int Prompt::ShowAgent(const v1::AgentState& agent) {
  is_given_ = is_given_ || in_turn_ || agent.status() != v1::AGENT_STATUS_UNSPECIFIED;
  const std::string status = StatusText(agent.status());
  if (!status.empty() && status != std::exchange(status_, status)) {
    Say(absl::StrCat("the agent ", status, agent.message().empty() ? "" : ": ", agent.message()));
  }
  return agent.status() == v1::AGENT_STATUS_FAILED ? 1 : kGoOn;
}

bool Prompt::IsAsked(const std::string& permission_id) const {
  return !questions_.empty() && questions_.front().permission_id() == permission_id;
}

void Prompt::Ask(const v1::Permission& permission) {
  const std::string& id = permission.permission_id();
  const bool is_known = absl::c_any_of(
      questions_, [&id](const v1::Permission& each) { return each.permission_id() == id; });
  if (is_known) return;
  questions_.push_back(permission);
  if (std::exchange(answers_, true)) return;
  boost::asio::co_spawn(
      context_, [self = shared_from_this()] { return self->AnswerAll(); }, boost::asio::detached);
}

void Prompt::Drop(const v1::Permission& permission) {
  const std::string& id = permission.permission_id();
  const bool is_asked = IsAsked(id);
  std::erase_if(questions_,
                [&id](const v1::Permission& each) { return each.permission_id() == id; });
  // The answer may be the one typed here.
  if (!is_asked || is_answering_) return;
  Say(absl::StrCat(
      permission.cancelled() ? "no answer is wanted any more: " : "answered elsewhere: ",
      TerminalLine(permission.title())));
  input_.cancel();
}

boost::asio::awaitable<void> Prompt::AnswerAll() {
  while (!questions_.empty() && !input_ended_) {
    const v1::Permission question = questions_.front();
    co_await Answer(question);
    if (IsAsked(question.permission_id())) questions_.pop_front();
  }
  answers_ = false;
}

boost::asio::awaitable<void> Prompt::Answer(v1::Permission permission) {
  Say(absl::StrCat("? ", TerminalLine(permission.title())));
  for (int i = 0; i < permission.options_size(); ++i) {
    Say(absl::StrCat("  ", i + 1, " ", TerminalLine(permission.options(i).name())));
  }
  // Discards what was typed at a terminal before the question was visible.
  tcflush(input_.native_handle(), TCIFLUSH);
  while (IsAsked(permission.permission_id())) {
    Say(absl::StrCat("1 to ", permission.options_size(), "?"));
    const std::optional<std::string> line = co_await ReadLine();
    if (!line.has_value() || !IsAsked(permission.permission_id())) break;
    int choice = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(*line), &choice) || choice < 1 ||
        choice > permission.options_size()) {
      continue;
    }
    v1::AnswerPermissionRequest answer;
    answer.set_session_id(session_id_);
    answer.set_permission_id(permission.permission_id());
    answer.set_option_id(permission.options(choice - 1).option_id());
    is_answering_ = true;
    const auto answered = co_await tracker_->Call(std::move(answer));
    is_answering_ = false;
    if (answered.ok()) break;
    Say(std::string(answered.status().message()));
    if (IsOver(answered.status())) break;
  }
}

boost::asio::awaitable<std::optional<std::string>> Prompt::ReadLine() {
  const auto read = [&] {
    return boost::asio::async_read_until(input_, boost::asio::dynamic_buffer(read_, kMaxLine), '\n',
                                         boost::asio::as_tuple(boost::asio::use_awaitable));
  };
  auto [error, bytes] = co_await read();
  while (error == boost::asio::error::not_found) {
    // Too long for an answer: skips the whole line.
    skips_line_ = true;
    read_.clear();
    std::tie(error, bytes) = co_await read();
  }
  if (error == boost::asio::error::operation_aborted) co_return std::nullopt;
  if (std::exchange(skips_line_, false)) {
    read_.erase(0, error ? read_.size() : bytes);
    co_return "";
  }
  // The last line may lack a line end.
  if (error && !read_.empty()) co_return std::exchange(read_, "");
  if (error) {
    Say("no user can answer here: the turn is stopped. `permissions` of a workspace can answer "
        "instead, see docs/runner.md");
    input_ended_ = true;
    StopTurn();
    co_return std::nullopt;
  }
  std::string line = read_.substr(0, bytes);
  read_.erase(0, bytes);
  co_return line;
}

void Prompt::StopTurn() {
  boost::asio::co_spawn(
      context_,
      [](std::shared_ptr<Prompt> self) -> boost::asio::awaitable<void> {
        v1::StopTurnRequest stop;
        stop.set_session_id(self->session_id_);
        (void)co_await self->tracker_->Call(std::move(stop));
      }(shared_from_this()),
      boost::asio::detached);
}

void Prompt::Stop() {
  stopped_ = true;
  if (!session_id_.empty()) StopTurn();
}

void Prompt::Say(const std::string& line) {
  if (std::exchange(in_line_, false)) {
    std::fputc('\n', out_);
    std::fflush(out_);
  }
  if (!line.empty()) std::fprintf(err_, "%s\n", TerminalText(line).c_str());
}

}  // namespace callslip::runner
