// The turns of a session, for SessionRunner.
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_type.hpp"
#include "common/error_details.h"
#include "common/log.h"
#include "common/random.h"
#include "common/text_scan.h"
#include "runner/client/client_params.h"
#include "runner/session/session_calls.h"
#include "runner/session/session_runner.h"

namespace callslip::runner {
namespace {

// What the tracker takes of a name.
constexpr size_t kNameBytes = 256;
// Of the protocol, besides `end_turn` and `cancelled`.
constexpr absl::string_view kStopReasons[] = {"max_tokens", "max_turn_requests", "refusal"};
// Of what is said of the end of a turn.
constexpr size_t kReasonBytes = 64;
constexpr size_t kReasonTextBytes = size_t{4} << 10;
// Answers in a row that may each have commands.
constexpr int kMostRounds = 50;
// How long a message may take to come to a session that was started for one.
constexpr absl::Duration kFirstMessage = absl::Seconds(2);

// What of the params of a file call is looked at.
Json FileParams(const Json& params) {
  Json used = Json::object();
  for (const char* name : {"path", "line", "limit", "content"}) {
    if (const auto member = params.find(name); member != params.end()) used[name] = *member;
  }
  return used;
}

size_t TextBytes(const Json& params) {
  size_t bytes = 0;
  for (const Json& member : params) {
    if (member.is_string()) bytes += member.get_ref<const std::string&>().size();
  }
  return bytes;
}

// What an agent calls its own is no shell command.
void KeepOffShellIds(std::string& id) {
  if (absl::StartsWith(id, kShellCommandIdPrefix)) id = absl::StrCat("agent-", id);
}

void KeepOffShellIds(AgentUpdate& update) {
  if (auto* call = std::get_if<ToolCall>(&update)) KeepOffShellIds(call->id);
  if (auto* change = std::get_if<ToolCallChange>(&update)) KeepOffShellIds(change->id);
}

v1::SessionEvent FileEventOf(const std::string& method, const FileAccess::Done& done) {
  v1::SessionEvent event;
  v1::FileEvent& file =
      method == "fs/read_text_file" ? *event.mutable_file_read() : *event.mutable_file_write();
  file.set_path(done.path);
  file.set_size(done.bytes);
  return event;
}

v1::SessionEvent DecidedByPolicy(const PermissionQuestion& question, const std::string& id,
                                 const std::string& option) {
  v1::SessionEvent event;
  v1::PermissionEvent& permission = *event.mutable_permission();
  permission.set_title(TitleOf(question));
  permission.set_selected_option(IdText(option));
  permission.set_outcome("selected");
  permission.set_permission_id(id);
  permission.set_tool_call_id(IdText(question.tool_call.id));
  permission.set_decided_by("policy");
  return event;
}

}  // namespace

void SessionRunner::BeginReceiving() {
  if (receiving_ != nullptr) return;  // In a turn that the agent before this one has begun.
  receiving_ = std::make_shared<boost::asio::cancellation_signal>();
  boost::asio::co_spawn(host_->executor, Receive(receiving_),
                        boost::asio::bind_cancellation_slot(
                            receiving_->slot(), [self = shared_from_this(), signal = receiving_](
                                                    const std::exception_ptr&) {}));
}

void SessionRunner::EndReceiving() {
  const auto receiving = std::exchange(receiving_, nullptr);
  if (receiving != nullptr) receiving->emit(boost::asio::cancellation_type::all);
}

boost::asio::awaitable<void> SessionRunner::Receive(
    std::shared_ptr<boost::asio::cancellation_signal> signal) {
  const auto self = shared_from_this();
  const auto is_on = [&] { return receiving_ == signal; };
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
    const std::string reason = callslip::DetailsOf(next.status()).reason;
    if (reason == "unknown_session" || reason == "session_ended" || reason == "receiver_replaced" ||
        reason == "not_assigned") {
      receiving_ = nullptr;
      co_return Stop();
    }
    co_await Pause(*host_->timers, again.Next());
  }
}

void SessionRunner::TakeMessage(const v1::ReceivedMessage& received) {
  if (received.stop()) {
    if (!turn_.has_value() || turn_->id != received.turn_id()) return;
    turn_->is_stopped = true;
    Changed();
    if (agent_ != nullptr) agent_->Cancel();
    StopCommands("the turn was stopped");
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
  scheduler_->Busy(id(), turn_.has_value() || !questions_->empty() || would_forget);
}

// What it was started for comes with the first answer of the tracker, if at all.
void SessionRunner::NoteIdleLater() {
  idle_timer_ = host_->timers->After(kFirstMessage, [this] { NoteBusy(); });
}

boost::asio::awaitable<void> SessionRunner::RunTurn() {
  const auto self = shared_from_this();
  while (turn_.has_value()) {
    if (turn_->is_begun || co_await StartTurn()) {
      spans_.BeginTurn(turn_->id);
      AgentSession::TurnEnd end = co_await PromptAgent();
      const auto* done = std::get_if<PromptEnd>(&end);
      if (done != nullptr && !turn_->is_stopped) restarts_.Clear();
      std::string results;
      // What was cut off may be half of what was meant.
      const bool is_whole = done != nullptr && done->stop_reason == "end_turn";
      if (shell_commands_.has_value() && is_whole && !turn_->is_stopped && !released_) {
        results = co_await shell_commands_->Run();
        if (turn_->is_stopped) {
          end = PromptEnd{.stop_reason = "cancelled", .usage = nullptr};
        } else if (shell_commands_->was_cut_off()) {
          end = AgentError{"agent_stopped", "the commands of its answer were stopped"};
        }
      }
      shell_commands_.reset();
      const bool queue_goes_on = co_await FinishTurn(std::move(end));
      rounds_ = results.empty() ? 0 : rounds_ + 1;
      const bool may_go_on = queue_goes_on && rounds_ <= kMostRounds && !turn_->is_stopped &&
                             !is_to_stop_ && !host_->is_stopping;
      if (!results.empty() && may_go_on && !next_turn_.has_value()) {
        co_await PromptWith(std::move(results));
      } else if (!results.empty()) {
        results_ = std::move(results);
      }
    }
    turn_ = std::exchange(next_turn_, std::nullopt);
  }
  if (state_ != State::kRunning) EndReceiving();
  NoteBusy();
}

void SessionRunner::NeedAfter(const std::string& turn_id) {
  failing_turn_ = true;
  Spawn(FailLostTurn(turn_id));
}

// Without an agent: there may be none that can be started.
boost::asio::awaitable<void> SessionRunner::FailLostTurn(std::string turn_id) {
  const auto self = shared_from_this();
  auto request = For<v1::FinishTurnRequest>();
  request.set_turn_id(std::move(turn_id));
  request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
  request.set_reason("runner_lost");
  request.set_message("the session's runner came back without the turn that it had begun");
  const auto failed = co_await Persistently(std::move(request));
  failing_turn_ = false;
  // It has ended otherwise; where it has failed, the queue waits for a person.
  const bool is_lost = callslip::DetailsOf(failed.status()).reason == "not_assigned";
  if (!failed.ok() && !released_ && !is_lost) Need();
  NoteBusy();
}

boost::asio::awaitable<bool> SessionRunner::StartTurn() {
  auto request = For<v1::StartTurnRequest>();
  request.set_turn_id(turn_->id);
  const auto started = co_await Persistently(std::move(request));
  if (!started.ok()) co_return false;  // Its message waits again, or is gone.
  recorder_->Passed(started->seq());
  recorder_->Begin();
  turn_->iteration = started->next_iteration();
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
      if (host_->is_stopping || is_to_stop_) {
        co_return AgentError{"agent_stopped", "the agent was stopped before it could be asked"};
      }
      if (state_ == State::kAsleep) Want();
      co_await NextChange();
    }
    if (turn_->is_stopped) co_return PromptEnd{.stop_reason = "cancelled", .usage = nullptr};
    const Later<AgentSession::TurnEnd> ended(host_->executor);
    if (!std::exchange(prompted_, true)) {
      agent_session_id_ = agent_->id();
      TellAgain();
    }
    tool_calls_.emplace();
    if (plan_.shell_commands) {
      shell_commands_.emplace(turn_->iteration, plan_.commands, files_, recorder_, &spans_);
    }
    agent_->Prompt(
        blocks, nullptr, [ended](AgentSession::TurnEnd end) { ended.Set(std::move(end)); },
        spans_.BeginPrompt());
    AgentSession::TurnEnd end = co_await ended.Get();
    // The agent has read them.
    if (std::holds_alternative<PromptEnd>(end)) results_.clear();
    tool_calls_.reset();
    spans_.EndPrompt(end);
    const auto* error = std::get_if<AgentError>(&end);
    const bool is_unsent = error != nullptr && error->prompt_unsent &&
                           error->reason != "agent_stopped" && !turn_->is_stopped;
    if (!is_unsent) co_return end;
    // The end of the agent is told after that of the turn.
    const std::shared_ptr<AgentSession> ended_with = agent_;
    while (agent_ != nullptr && agent_ == ended_with) co_await NextChange();
  }
}

boost::asio::awaitable<void> SessionRunner::NextChange() {
  const Later<bool> changed(host_->executor);
  changes_.push_back(changed);
  co_await changed.Get();
}

void SessionRunner::Changed() {
  for (const Later<bool>& each : std::exchange(changes_, {})) each.Set(true);
}

boost::asio::awaitable<Json> SessionRunner::PromptBlocks() {
  Json blocks = Json::array();
  if (!results_.empty()) blocks.push_back(acp::TextBlock(results_));
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

boost::asio::awaitable<bool> SessionRunner::FinishTurn(AgentSession::TurnEnd end) {
  auto request = For<v1::FinishTurnRequest>();
  request.set_turn_id(turn_->id);
  const absl::Status recorded = co_await recorder_->Flush();
  if (const auto* error = std::get_if<AgentError>(&end)) {
    const bool was_wanted = turn_->is_stopped;
    request.set_outcome(was_wanted ? v1::FinishTurnRequest::OUTCOME_CANCELLED
                                   : v1::FinishTurnRequest::OUTCOME_FAILED);
    request.set_reason(std::string(CutText(error->reason, kReasonBytes)));
    request.set_message(std::string(CutText(error->message, kReasonTextBytes)));
  } else {
    const auto& done = std::get<PromptEnd>(end);
    request.set_stop_reason(std::string(CutText(done.stop_reason, kReasonBytes)));
    if (done.stop_reason == "cancelled") {
      request.set_outcome(v1::FinishTurnRequest::OUTCOME_CANCELLED);
      request.set_reason("cancelled");
    } else if (done.stop_reason == "end_turn") {
      request.set_outcome(v1::FinishTurnRequest::OUTCOME_COMPLETED);
    } else {
      request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
      const bool is_known = absl::c_linear_search(kStopReasons, done.stop_reason);
      request.set_reason(is_known ? done.stop_reason : "unknown_stop_reason");
      request.set_message(
          absl::StrCat("the agent has ended the turn with \"", request.stop_reason(), "\""));
    }
  }
  if (!recorded.ok() && !turn_->is_stopped) {
    request.set_outcome(v1::FinishTurnRequest::OUTCOME_FAILED);
    request.set_reason("recording_failed");
    request.set_message(std::string(CutText(recorded.message(), kReasonTextBytes)));
  }
  const Json usage = details_.usage();
  if (usage.is_object()) {
    const std::string text = Dump(usage);
    if (text.size() <= 4096) request.set_usage(text);
  }
  const v1::FinishTurnRequest told = request;
  const auto finished = co_await Persistently(std::move(request));
  const std::string trace = spans_.UnderWay();
  spans_.EndTurn(told);
  if (!finished.ok()) {
    Log(LogLevel::kWarning, "the end of a turn was not taken",
        {{"session", id()},
         {"turn", turn_->id},
         {"traceparent", trace},
         {"error", std::string(finished.status().message())}});
  }
  co_return finished.ok() && finished->pause_reason().empty();
}

void SessionRunner::OnUpdate(AgentUpdate update) {
  if (said_.reason() == "agent_silent") Say(v1::AGENT_STATUS_IDLE);
  if (details_.Take(update)) {
    TellAgain();
    return;
  }
  if (const auto* call = std::get_if<ToolCall>(&update)) {
    if (tool_calls_.has_value()) tool_calls_->Take(*call);
    spans_.Take(*call);
  }
  if (const auto* change = std::get_if<ToolCallChange>(&update)) {
    if (tool_calls_.has_value()) tool_calls_->Take(*change);
    spans_.Take(*change);
  }
  if (const auto* title = std::get_if<SessionTitle>(&update)) {
    title_ = std::string(CutText(title->title, kNameBytes));
    return TellAgain();
  }
  if (plan_.shell_commands) KeepOffShellIds(update);
  v1::SessionEvent event = EventOf(update);
  if (shell_commands_.has_value() && event.has_agent_message()) {
    event.mutable_agent_message()->set_iteration(shell_commands_->iteration());
    shell_commands_->Read(event.agent_message().text());
  }
  if (!recorder_->Add(std::move(event)) && agent_ != nullptr && turn_.has_value()) {
    // What can't be recorded is not to be done either.
    agent_->Cancel();
  }
  if (!recorder_->has_room()) HoldAgent();
}

boost::asio::awaitable<void> SessionRunner::PromptWith(std::string results) {
  auto request = For<v1::StartTurnRequest>();
  request.mutable_prompt()->set_message(results);
  request.mutable_prompt()->set_prompt_id(absl::StrCat("shell-", turn_->iteration, "-", turn_->id));
  const auto started = co_await Persistently(std::move(request));
  if (!started.ok()) {
    // Where somebody's message came first, the agent is told with that.
    if (callslip::DetailsOf(started.status()).reason != "turn_in_progress") {
      v1::SessionEvent event;
      event.mutable_error()->set_message(absl::StrCat(
          "the agent could not be told what became of its commands: ", started.status().message()));
      recorder_->Add(std::move(event));
    }
    results_ = std::move(results);
    co_return;
  }
  Turn turn{.id = started->turn_id(), .message = {}, .iteration = started->next_iteration()};
  turn.message.set_message(results);
  turn.is_begun = true;
  next_turn_ = std::move(turn);
}

void SessionRunner::StopCommands(std::string why) {
  if (shell_commands_.has_value()) shell_commands_->Stop(std::move(why));
}

void SessionRunner::HoldAgent() {
  if (agent_ == nullptr || std::exchange(holds_agent_, true)) return;
  agent_->Hold();
  Spawn([](std::shared_ptr<SessionRunner> self,
           std::shared_ptr<AgentSession> agent) -> boost::asio::awaitable<void> {
    co_await self->recorder_->WaitForRoom();
    self->holds_agent_ = false;
    agent->GoOn();
  }(shared_from_this(), agent_));
}

void SessionRunner::OnPermission(PermissionQuestion question,
                                 std::function<void(PermissionChoice)> answer) {
  // Nobody can answer it before it is asked.
  const std::string permission_id = absl::StrCat("acp-", RandomHex128());
  if (tool_calls_.has_value()) tool_calls_->Complete(question);
  if (plan_.shell_commands) KeepOffShellIds(question.tool_call.id);
  const std::optional<std::string> decided =
      plan_.permissions.Decide(question.tool_call.kind.value_or(""), question.options);
  if (decided.has_value()) {
    recorder_->Add(DecidedByPolicy(question, permission_id, *decided));
    return answer(decided);
  }
  questions_->Ask(std::move(question), permission_id, plan_.parents_allow, spans_.BeginQuestion(),
                  [self = shared_from_this(), answer = std::move(answer)](PermissionChoice choice) {
                    answer(std::move(choice));
                    self->NoteBusy();
                  });
  NoteBusy();
}

void SessionRunner::OnPermissionOver(int64_t number) {
  questions_->Withdraw(number);
  NoteBusy();
}

void SessionRunner::OnClientCall(const std::string& method, const Json& params,
                                 Peer::Respond respond) {
  if (terminals_ == nullptr || files_ == nullptr) {
    return respond(RpcError{kInternalError, "the session is over", nullptr});
  }
  if (Terminals::Has(method) && plan_.settings.offer.terminals) {
    return terminals_->Call(method, params, std::move(respond));
  }
  const bool reads = method == "fs/read_text_file";
  if ((!reads && method != "fs/write_text_file") || !plan_.settings.offer.files) {
    return respond(RpcError{kMethodNotFound, absl::StrCat("there is no method ", method), nullptr});
  }
  const auto done = std::make_shared<FileAccess::Done>();
  Json used = FileParams(params);
  const size_t bytes = TextBytes(used);
  disk_->Do(
      bytes,
      [files = files_, used = std::move(used), reads, done](const std::atomic<bool>& is_wanted) {
        *done = reads ? files->ReadTextFile(used) : files->WriteTextFile(used, is_wanted);
      },
      [this, method, done, respond = std::move(respond)](const absl::Status& status) {
        if (!status.ok()) return respond(ErrorAnswer(status));
        if (!done->path.empty()) recorder_->Add(FileEventOf(method, *done));
        respond(std::move(done->answer));
      });
}

void SessionRunner::OnSilence(absl::Duration silent) {
  Say(v1::AGENT_STATUS_IDLE, {"agent_silent", absl::StrCat("nothing was heard of the agent for ",
                                                           absl::FormatDuration(silent))});
}

}  // namespace callslip::runner
