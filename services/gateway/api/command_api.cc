#include "gateway/api/command_api.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/this_coro.hpp"
#include "boost/asio/use_awaitable.hpp"
#include "gateway/api/socket_messages.h"
#include "gateway/http/error_response.h"
#include "gateway/http/request_trace.h"
#include "gateway/http/scoped_task.h"
#include "gateway/json/command_detail.h"
#include "gateway/json/command_json.h"
#include "gateway/json/json_fields.h"
#include "gateway/json/tracker_error.h"

namespace callslip::gateway {
namespace {

// In one answer; limited because a row can hold 8 KiB of context.
constexpr int kMaxListed = 200;

// The pause between two messages of changes: more frequent ones would not be visible to a person.
constexpr std::chrono::milliseconds kChangesPause{100};

const std::vector<v1::CommandState>& AllStates() {
  static const auto& states = *new std::vector<v1::CommandState>{
      v1::COMMAND_STATE_QUEUED,    v1::COMMAND_STATE_DELIVERED, v1::COMMAND_STATE_RUNNING,
      v1::COMMAND_STATE_COMPLETED, v1::COMMAND_STATE_FAILED,    v1::COMMAND_STATE_TIMED_OUT,
      v1::COMMAND_STATE_EXPIRED,   v1::COMMAND_STATE_CANCELLED};
  return states;
}

// Reads the states that `status` and `stage` select; none if both are absent.
void ReadStates(JsonFields& fields, v1::ListCommandsRequest& request) {
  std::string status;
  std::string stage;
  if (fields.Has("status")) {
    status = fields.Choice("status",
                           {"pending", "complete", "error", "timeout", "expired", "cancelled"});
  }
  if (fields.Has("stage")) {
    stage = fields.Choice("stage", {"queued", "delivered", "running"});
    if (!status.empty() && status != "pending") fields.Fail("only pending commands have a stage");
  }
  if (status.empty() && stage.empty()) return;
  if (request.dead_letters()) fields.Fail("dead_letters cannot be combined with status or stage");
  for (const v1::CommandState state : AllStates()) {
    const bool fits_status = status.empty() || WireStatus(state) == status;
    const bool fits_stage = stage.empty() || (!IsFinal(state) && StageOf(state) == stage);
    if (fits_status && fits_stage) request.add_states(state);
  }
}

HttpResponse JsonAnswer(int status, const Json& body) {
  return {.status = status, .body = Dump(body)};
}

HttpResponse NoResult(const v1::Command& command) {
  return ErrorResponse(404, "no_result",
                       absl::StrCat("The command has no result; it is ",
                                    std::string(WireStatus(command.state())), "."),
                       "Only commands that are complete have one, until it is forgotten.");
}

using ObserverPtr = std::shared_ptr<CommandObserver>;
using SocketPtr = std::shared_ptr<WebSocket>;

// A single message: {"type": "commands", "data": {"commands": [ROW, …]}}.
std::string RowsMessage(const std::vector<std::shared_ptr<const std::string>>& rows) {
  return absl::StrCat(
      R"({"type":"commands","data":{"commands":[)",
      absl::StrJoin(rows, ",", [](std::string* out, const auto& row) { out->append(*row); }),
      "]}}");
}

boost::asio::awaitable<void> SendChanges(ObserverPtr observer, SocketPtr socket) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (true) {
    const auto changes = co_await observer->Next();
    if (!changes.ok()) {
      SendFailure(*socket, changes.status());
      socket->Close(WebSocketCloseCode::kTryAgainLater, TrackerErrorOf(changes.status()).reason);
      co_return;
    }
    if (changes->lost) SendMessage(*socket, "feed_lost", Json::object());
    if (!changes->rows.empty()) socket->Send(RowsMessage(changes->rows));
    // Collects the changes of this time into one message, sent once the socket has space.
    timer.expires_after(kChangesPause);
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_await socket->AwaitRoom();
  }
}

}  // namespace

void CommandApi::AddRoutes(Router& router) const {
  const std::string one = "/api/commands/{id}";
  router.Add("GET", "/api/commands", kReaders, std::bind_front(&CommandApi::List, this));
  router.Add("GET", one, kReaders, std::bind_front(&CommandApi::Get, this));
  router.Add("GET", one + "/result", kReaders, std::bind_front(&CommandApi::GetResult, this));
  router.AddWebSocket("/api/commands/ws", kReaders,
                      std::bind_front(&CommandApi::ServeChanges, this));
  router.Add("POST", "/api/commands", kWriters, std::bind_front(&CommandApi::Register, this));
  router.Add("POST", one + "/cancel", kWriters, std::bind_front(&CommandApi::Cancel, this));
  router.Add("POST", one + "/replay", kWriters, std::bind_front(&CommandApi::Replay, this));
}

CommandApi::Answer CommandApi::List(Request request) const {
  JsonFields fields = JsonFields::OfQuery(request->query);
  v1::ListCommandsRequest list;
  list.set_client_id(OnBehalfOf(request->principal));
  list.set_owner(fields.Text("client"));
  list.set_dead_letters(fields.Boolean("dead_letters").value_or(false));
  ReadStates(fields, list);
  list.set_target(fields.Text("target"));
  list.set_label(fields.Text("session"));
  list.set_page_size(static_cast<int32_t>(fields.Integer("limit", 1, kMaxListed).value_or(0)));
  list.set_page_token(fields.Text("page_token"));
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  const auto listed = co_await tracker_->Call(std::move(list));
  if (!listed.ok()) co_return ErrorResponse(listed.status());
  Json body = {{"commands", Json::array()}};
  for (const v1::Command& command : listed->commands()) {
    body["commands"].push_back(CommandRow(command));
  }
  if (!listed->next_page_token().empty()) body["next_page_token"] = listed->next_page_token();
  co_return JsonAnswer(200, body);
}

CommandApi::Answer CommandApi::Register(Request request) const {
  JsonFields fields = JsonFields::OfBody(request->body);
  v1::RegisterCommandRequest registration;
  registration.set_client_id(OnBehalfOf(request->principal));
  registration.set_target(fields.Text("target"));
  registration.set_type(fields.Text("command"));
  registration.set_params(Dump(fields.Object("params")));
  registration.set_request_id(fields.Text("request_id"));
  registration.set_idempotent(fields.Boolean("idempotent").value_or(false));
  registration.set_traceparent(TraceOf(*request).ToString());
  TraceCompanions companions = CompanionsOf(*request);
  registration.set_tracestate(std::move(companions.tracestate));
  registration.set_baggage(std::move(companions.baggage));
  if (registration.type().empty()) fields.Fail("command is missing: name the command to execute");
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  const auto registered = co_await tracker_->Call(std::move(registration));
  if (!registered.ok()) co_return ErrorResponse(registered.status());
  co_return JsonAnswer(registered->existed() ? 200 : 201, CommandRow(registered->command()));
}

boost::asio::awaitable<void> CommandApi::ServeChanges(Request request, SocketPtr socket) const {
  JsonFields fields = JsonFields::OfQuery(request->query);
  const CommandHub::Which which{.client_id = OnBehalfOf(request->principal),
                                .owner = fields.Text("client"),
                                .target = fields.Text("target"),
                                .label = fields.Text("session")};
  const ObserverPtr observer = hub_->Join(which);
  SendMessage(*socket, "connected", Json::object());
  const auto executor = co_await boost::asio::this_coro::executor;
  boost::asio::awaitable<void> work = SendChanges(observer, socket);
  const ScopedTask sending(executor, std::move(work));
  co_await AnswerKeepalives(socket);
}

CommandApi::Answer CommandApi::Get(Request request) const {
  const auto command = co_await tracker_->Get(OnBehalfOf(request->principal),
                                              request->Parameter("id"), /*peek=*/true);
  if (!command.ok()) co_return ErrorResponse(command.status());
  co_return JsonAnswer(200, CommandDetail(*command));
}

CommandApi::Answer CommandApi::GetResult(Request request) const {
  auto command = co_await tracker_->Get(OnBehalfOf(request->principal), request->Parameter("id"),
                                        /*peek=*/true);
  if (!command.ok()) co_return ErrorResponse(command.status());
  if (command->result().empty()) co_return NoResult(*command);
  HttpResponse answer;
  // Its content may come from a page: browsers must not render it as one.
  answer.headers = {{"X-Content-Type-Options", "nosniff"},
                    {"Content-Disposition",
                     absl::StrCat("attachment; filename=\"", command->command_id(), ".json\"")},
                    {"Cache-Control", "no-store"}};
  answer.body = std::move(*command->mutable_result());
  co_return answer;
}

CommandApi::Answer CommandApi::Cancel(Request request) const {
  v1::CancelCommandRequest cancel;
  cancel.set_client_id(OnBehalfOf(request->principal));
  cancel.set_command_id(request->Parameter("id"));
  const auto cancelled = co_await tracker_->Call(std::move(cancel));
  if (!cancelled.ok()) co_return ErrorResponse(cancelled.status());
  co_return JsonAnswer(200, CommandRow(cancelled->command()));
}

CommandApi::Answer CommandApi::Replay(Request request) const {
  JsonFields fields = JsonFields::OfBody(request->body);
  v1::ReplayCommandRequest replay;
  replay.set_client_id(OnBehalfOf(request->principal));
  replay.set_command_id(request->Parameter("id"));
  replay.set_request_id(fields.Text("request_id"));
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  const auto replayed = co_await tracker_->Call(std::move(replay));
  if (!replayed.ok()) co_return ErrorResponse(replayed.status());
  co_return JsonAnswer(replayed->existed() ? 200 : 201, CommandRow(replayed->command()));
}

}  // namespace callslip::gateway
