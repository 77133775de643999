// The turns of a session, for SessionRunner.
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_type.hpp"
#include "common/error_details.h"
#include "common/log.h"
#include "runner/session/session_calls.h"
#include "runner/session/session_runner.h"

namespace callslip::runner {
namespace {

// Below the 60 s at which intermediaries give up.
constexpr int kAskMs = 55'000;
// An event may be 4 MiB long.
constexpr size_t kMaxAnswer = size_t{3} << 20;
// How long a message may take to come to a session that was started for one.
constexpr absl::Duration kFirstMessage = absl::Seconds(2);

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

v1::SessionEvent DecidedByPolicy(const PermissionQuestion& question, const std::string& id,
                                 const std::string& option) {
  v1::SessionEvent event;
  v1::PermissionEvent& permission = *event.mutable_permission();
  permission.set_title(question.tool_call.title.value_or(""));
  permission.set_selected_option(option);
  permission.set_outcome("selected");
  permission.set_permission_id(id);
  permission.set_tool_call_id(question.tool_call.id);
  permission.set_decided_by("policy");
  return event;
}

v1::SessionEvent FileEventOf(const std::string& method, const FileAccess::Done& done) {
  v1::SessionEvent event;
  v1::FileEvent& file =
      method == "fs/read_text_file" ? *event.mutable_file_read() : *event.mutable_file_write();
  file.set_path(done.path);
  file.set_size(done.bytes);
  return event;
}

}  // namespace

void SessionRunner::BeginReceiving() {
  receiving_ = std::make_shared<boost::asio::cancellation_signal>();
  boost::asio::co_spawn(host_->executor, Receive(life_),
                        boost::asio::bind_cancellation_slot(
                            receiving_->slot(), [self = shared_from_this(), signal = receiving_](
                                                    const std::exception_ptr&) {}));
}

void SessionRunner::EndReceiving() {
  const auto receiving = std::exchange(receiving_, nullptr);
  if (receiving != nullptr) receiving->emit(boost::asio::cancellation_type::all);
}

boost::asio::awaitable<void> SessionRunner::Receive(int64_t life) {
  const auto self = shared_from_this();
  const auto is_on = [&] { return life == life_ && state_ == State::kRunning && !released_; };
  TryAgain again;
  while (is_on()) {
    auto request = For<v1::ReceiveMessagesRequest>();
    if (turn_.has_value()) request.set_turn_id(turn_->id);
    const auto messages = host_->tracker->Open(std::move(request));
    absl::StatusOr<std::optional<v1::ReceivedMessage>> next = co_await messages->Next();
    while (is_on() && next.ok() && next->has_value()) {
      again.Reset();
      TakeMessage(**next);
      next = co_await messages->Next();
    }
    if (!is_on()) co_return;
    const std::string reason = DetailsOf(next.status()).reason;
    if (reason == "unknown_session" || reason == "session_ended" || reason == "receiver_replaced") {
      co_return Stop();
    }
    co_await Pause(*host_->timers, again.Next());
  }
}

void SessionRunner::TakeMessage(const v1::ReceivedMessage& received) {
  if (received.stop()) {
    if (!turn_.has_value() || turn_->id != received.turn_id()) return;
    turn_->is_stopped = true;
    if (agent_ != nullptr) agent_->Cancel();
    if (shell_command_ != nullptr) shell_command_->Kill();
    return;
  }
  Turn turn{.id = received.turn_id(), .message = received.message()};
  if (turn_.has_value()) {
    // The same one comes twice where this call was lost meanwhile.
    if (turn.id != turn_->id) next_turn_ = std::move(turn);
    return;
  }
  turn_ = std::move(turn);
  NoteBusy();
  Spawn(RunTurn());
}

void SessionRunner::NoteBusy() {
  idle_timer_.reset();
  const bool can_restore = running_ == nullptr || running_->agent().capabilities().resume ||
                           running_->agent().capabilities().load || plan_.allow_fresh;
  // Who would forget everything is stopped for nobody.
  const bool would_forget = prompted_ && !can_restore;
  scheduler_->Busy(id(), turn_.has_value() || open_questions_ > 0 || would_forget);
}

// What it was started for comes with the first answer of the tracker, if at all.
void SessionRunner::NoteIdleLater() {
  idle_timer_ = host_->timers->After(kFirstMessage, [this] { NoteBusy(); });
}

boost::asio::awaitable<void> SessionRunner::RunTurn() {
  const auto self = shared_from_this();
  while (turn_.has_value()) {
    if (turn_->is_begun || co_await StartTurn()) {
      answer_.clear();
      AgentSession::TurnEnd end = co_await PromptAgent();
      const auto* done = std::get_if<PromptEnd>(&end);
      const bool goes_on = done != nullptr && done->stop_reason == "end_turn";
      std::string results;
      if (plan_.shell_commands) results = co_await RunShellCommands();
      co_await FinishTurn(std::move(end));
      rounds_ = results.empty() ? 0 : rounds_ + 1;
      if (!results.empty() && goes_on && rounds_ <= kMostRounds && !turn_->is_stopped &&
          !next_turn_.has_value()) {
        co_await PromptWith(std::move(results));
      } else {
        results_ = std::move(results);
      }
    }
    turn_ = std::exchange(next_turn_, std::nullopt);
  }
  NoteBusy();
}

boost::asio::awaitable<bool> SessionRunner::StartTurn() {
  auto request = For<v1::StartTurnRequest>();
  request.set_turn_id(turn_->id);
  const auto started = co_await Persistently(std::move(request));
  if (!started.ok()) co_return false;  // Its message waits again, or is gone.
  recorder_->Passed(started->seq());
  turn_->seq = started->seq();
  co_return true;
}

boost::asio::awaitable<AgentSession::TurnEnd> SessionRunner::PromptAgent() {
  const Json blocks = co_await PromptBlocks();
  while (true) {
    // Its agent has ended before it could be told: another one is.
    while (agent_ == nullptr || state_ != State::kRunning) {
      if (released_) co_return AgentError{"runner_lost", "the session is another runner's"};
      if (gave_up_.has_value()) co_return *gave_up_;
      if (turn_->is_stopped) break;
      if (state_ == State::kAsleep) Need();
      co_await Pause(*host_->timers, absl::Milliseconds(50));
    }
    if (turn_->is_stopped) co_return PromptEnd{.stop_reason = "cancelled", .usage = nullptr};
    const Later<AgentSession::TurnEnd> ended(host_->executor);
    if (!std::exchange(prompted_, true)) {
      agent_session_id_ = agent_->id();
      Say(said_.status(), {said_.reason(), said_.message()});
    }
    agent_->Prompt(blocks, nullptr,
                   [ended](AgentSession::TurnEnd end) { ended.Set(std::move(end)); });
    AgentSession::TurnEnd end = co_await ended.Get();
    const auto* error = std::get_if<AgentError>(&end);
    const bool is_unsent = error != nullptr && error->prompt_unsent &&
                           error->reason != "agent_stopped" && !turn_->is_stopped;
    if (!is_unsent) co_return end;
    // The end of the agent is told after that of the turn.
    const std::shared_ptr<AgentSession> ended_with = agent_;
    while (agent_ != nullptr && agent_ == ended_with) {
      co_await Pause(*host_->timers, absl::Milliseconds(10));
    }
  }
}

boost::asio::awaitable<Json> SessionRunner::PromptBlocks() {
  Json blocks = Json::array();
  if (const std::string results = std::exchange(results_, ""); !results.empty()) {
    blocks.push_back(acp::TextBlock(results));
  }
  blocks.push_back(acp::TextBlock(turn_->message.message()));
  for (const std::string& image_id : turn_->message.image_ids()) {
    auto request = For<v1::GetImageRequest>();
    request.set_image_id(image_id);
    const auto image = co_await Persistently(std::move(request));
    const bool takes_images = running_ != nullptr && running_->agent().capabilities().images;
    if (image.ok() && takes_images) {
      blocks.push_back(
          acp::ImageBlock(image->image().mime_type(), absl::Base64Escape(image->data())));
    } else {
      blocks.push_back(acp::TextBlock(
          absl::StrCat("[image ", image_id,
                       image.ok() ? " was left out: you take none]" : " is not there any more]")));
    }
  }
  co_return blocks;
}

boost::asio::awaitable<void> SessionRunner::FinishTurn(AgentSession::TurnEnd end) {
  auto request = For<v1::FinishTurnRequest>();
  request.set_turn_id(turn_->id);
  const absl::Status recorded = co_await recorder_->Flush();
  if (const auto* error = std::get_if<AgentError>(&end)) {
    const bool was_wanted = turn_->is_stopped;
    request.set_outcome(was_wanted ? v1::FinishTurnRequest::OUTCOME_CANCELLED
                                   : v1::FinishTurnRequest::OUTCOME_FAILED);
    request.set_reason(error->reason);
    request.set_message(error->message);
  } else {
    const auto& done = std::get<PromptEnd>(end);
    request.set_stop_reason(done.stop_reason);
    if (done.stop_reason == "cancelled") {
      request.set_outcome(v1::FinishTurnRequest::OUTCOME_CANCELLED);
      request.set_reason("cancelled");
    } else if (done.stop_reason == "end_turn") {
      request.set_outcome(v1::FinishTurnRequest::OUTCOME_COMPLETED);
    } else {
      request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
      request.set_reason(done.stop_reason.empty() ? "no_stop_reason" : done.stop_reason);
      request.set_message(absl::StrCat("the agent has ended the turn: ", request.reason()));
    }
  }
  if (!recorded.ok() && request.outcome() == v1::FinishTurnRequest::OUTCOME_COMPLETED) {
    request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
    request.set_reason("recording_failed");
    request.set_message(std::string(recorded.message()));
  }
  const Json usage = details_.usage();
  if (usage.is_object()) {
    const std::string text = Dump(usage);
    if (text.size() <= 4096) request.set_usage(text);
  }
  const auto finished = co_await Persistently(std::move(request));
  if (!finished.ok()) {
    Log(LogLevel::kWarning, "the end of a turn was not taken",
        {{"session", id()},
         {"turn", turn_->id},
         {"error", std::string(finished.status().message())}});
  }
}

void SessionRunner::OnUpdate(AgentUpdate update) {
  if (said_.reason() == "agent_silent") Say(v1::AGENT_STATUS_IDLE);
  if (details_.Take(update)) {
    Say(said_.status(), {said_.reason(), said_.message()});
    return;
  }
  if (const auto* title = std::get_if<SessionTitle>(&update)) {
    auto request = For<v1::UpdateSessionRequest>();
    request.set_name(title->title.substr(0, 256));
    request.set_if_unnamed(true);
    Spawn([](std::shared_ptr<SessionRunner> self,
             v1::UpdateSessionRequest named) -> boost::asio::awaitable<void> {
      co_await self->Persistently(std::move(named));
    }(shared_from_this(), std::move(request)));
    return;
  }
  if (plan_.shell_commands) {
    const auto* piece = std::get_if<MessagePiece>(&update);
    if (piece != nullptr && piece->role == MessagePiece::Role::kAgent) {
      // The tracker records the answer as a whole, with what was found in it.
      const std::string text = acp::TextOf(piece->content, "text");
      if (answer_.size() + text.size() <= kMaxAnswer) answer_ += text;
      return;
    }
  }
  if (!recorder_->Add(EventOf(update)) && agent_ != nullptr && turn_.has_value()) {
    // What can't be recorded is not to be done either.
    agent_->Cancel();
  }
}

void SessionRunner::OnPermission(PermissionQuestion question,
                                 std::function<void(PermissionChoice)> answer) {
  const std::string permission_id = absl::StrCat("acp-", absl::ToUnixSeconds(host_->timers->Now()),
                                                 "-", life_, "-", ++last_question_);
  const std::optional<std::string> decided =
      plan_.permissions.Decide(question.tool_call.kind.value_or("other"), question.options);
  if (decided.has_value()) {
    recorder_->Add(DecidedByPolicy(question, permission_id, *decided));
    return answer(decided);
  }
  ++open_questions_;
  NoteBusy();
  Spawn(Ask(std::move(question), permission_id, std::move(answer)));
}

boost::asio::awaitable<void> SessionRunner::Ask(PermissionQuestion question,
                                                std::string permission_id,
                                                std::function<void(PermissionChoice)> answer) {
  const auto self = shared_from_this();
  const int64_t life = life_;
  // What the agent has said before is seen before.
  co_await recorder_->Flush();
  auto request = For<v1::AskPermissionRequest>();
  request.set_permission_id(permission_id);
  request.set_title(question.tool_call.title.value_or("The agent asks for permission"));
  request.set_tool_call_id(question.tool_call.id.substr(0, 128));
  request.set_kind(question.tool_call.kind.value_or(""));
  const std::string details = Dump(question.details);
  if (question.details.is_object() && details.size() <= (size_t{64} << 10)) {
    request.set_details(details);
  }
  for (const PermissionOption& option : question.options) {
    v1::Permission::Option& to = *request.add_options();
    to.set_option_id(option.id);
    to.set_name(option.name);
    to.set_kind(option.kind);
  }
  request.set_max_wait_ms(kAskMs);
  PermissionChoice choice;
  TryAgain again;
  while (life == life_ && !released_) {
    const auto asked = co_await host_->tracker->Call(request);
    if (asked.ok() && asked->answered()) {
      choice = asked->selected_option();
      break;
    }
    if (asked.ok() && asked->cancelled()) break;
    if (asked.ok()) continue;
    const std::string reason = DetailsOf(asked.status()).reason;
    if (!IsPassing(asked.status()) && reason != "too_many_waits" &&
        reason != "too_many_permissions") {
      Log(LogLevel::kWarning, "a permission could not be asked for",
          {{"session", id()}, {"error", std::string(asked.status().message())}});
      break;
    }
    co_await Pause(*host_->timers, again.Next());
  }
  --open_questions_;
  if (life == life_) {
    answer(choice);
    NoteBusy();
  }
}

void SessionRunner::OnClientCall(const std::string& method, const Json& params,
                                 Peer::Respond respond) {
  if (!files_.has_value()) {
    std::vector<std::string> folders = {plan_.setup.directory};
    for (const std::string& more : plan_.setup.additional_directories) folders.push_back(more);
    absl::StatusOr<FileAccess> files = FileAccess::Of(folders);
    if (!files.ok())
      return respond(RpcError{kInternalError, std::string(files.status().message()), nullptr});
    files_ = *std::move(files);
    terminals_ = std::make_unique<Terminals>(plan_.commands, &*files_);
  }
  if (Terminals::Has(method) && plan_.settings.offer.terminals) {
    return terminals_->Call(method, params, std::move(respond));
  }
  const bool reads = method == "fs/read_text_file";
  if ((!reads && method != "fs/write_text_file") || !plan_.settings.offer.files) {
    return respond(RpcError{kMethodNotFound, absl::StrCat("there is no method ", method), nullptr});
  }
  const FileAccess::Done done =
      reads ? files_->ReadTextFile(params) : files_->WriteTextFile(params);
  if (!done.path.empty()) recorder_->Add(FileEventOf(method, done));
  respond(done.answer);
}

void SessionRunner::OnSilence(absl::Duration silent) {
  Say(v1::AGENT_STATUS_IDLE, {"agent_silent", absl::StrCat("nothing was heard of the agent for ",
                                                           absl::FormatDuration(silent))});
}

}  // namespace callslip::runner
