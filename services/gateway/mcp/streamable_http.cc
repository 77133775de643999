#include "gateway/mcp/streamable_http.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/this_coro.hpp"
#include "boost/system/system_error.hpp"
#include "gateway/http/accept.h"
#include "gateway/http/error_response.h"
#include "gateway/http/request_trace.h"
#include "gateway/mcp/protocol/call_span.h"
#include "gateway/mcp/protocol/protocol.h"

namespace callslip::gateway {

namespace asio = boost::asio;

namespace {

// The memory reserved for each message of a batch: its wait, and a small answer that reports what
// was done.
constexpr size_t kBytesOfOneInBatch = 2 * ByteBudget::kFreeBytes;

HttpResponse ErrorWithoutId(int status, JsonRpcCode code, std::string message) {
  return {.status = status, .body = JsonRpcErrorWithoutId({code, std::move(message)})};
}

HttpResponse Accepted() { return {.status = 202}; }

// Refuses a client that cannot read every answer.
std::optional<HttpResponse> CheckAccept(const HttpRequest& request) {
  const std::string& accept = request.Header("accept");
  if (Accepts(accept, "application/json") && Accepts(accept, "text/event-stream")) {
    return std::nullopt;
  }
  return ErrorResponse(406, "not_acceptable", "The client must accept JSON and event streams.",
                       "Send Accept: application/json, text/event-stream.");
}

std::string AgentSessionOf(const HttpRequest& request) {
  return request.credential == nullptr ? "" : request.credential->session_id();
}

bool IsInitialize(const JsonRpcMessage& message) {
  return message.kind == JsonRpcMessage::Kind::kRequest && message.method == "initialize";
}

}  // namespace

void StreamableHttp::HandlePost(const HttpRequest& request, Responder responder) const {
  if (auto refusal = CheckAccept(request); refusal.has_value()) {
    return std::move(responder.respond)(*std::move(refusal));
  }
  auto parsed = ParseJsonRpc(request.body);
  if (const auto* error = std::get_if<RpcError>(&parsed); error != nullptr) {
    return std::move(responder.respond)({.status = 400, .body = JsonRpcErrorWithoutId(*error)});
  }
  auto& body = std::get<JsonRpcBody>(parsed);
  auto* first = std::get_if<JsonRpcMessage>(&body.messages.front());
  Taken taken;
  if (!body.is_batch && EraOf(request, *first) == Era::kModern) {
    taken = TakeModern(request, std::move(*first), responder.executor);
  } else if (!body.is_batch && IsInitialize(*first)) {
    taken = Initialize(request, *first);
  } else {
    auto origin = LegacyOrigin(request);
    if (auto* refusal = std::get_if<HttpResponse>(&origin); refusal != nullptr) {
      taken = std::move(*refusal);
    } else if (body.is_batch) {
      return RespondWith(HandleBatch(std::get<Exchange::Origin>(std::move(origin)), std::move(body),
                                     request.body_place),
                         std::move(responder));
    } else {
      taken = TakeLegacy(std::get<Exchange::Origin>(std::move(origin)), std::move(*first),
                         responder.executor);
    }
  }
  if (auto* exchange = std::get_if<std::shared_ptr<Exchange>>(&taken); exchange != nullptr) {
    (*exchange)->set_body_place(request.body_place);
    return Answer(std::move(*exchange), std::move(responder));
  }
  std::move(responder.respond)(std::get<HttpResponse>(std::move(taken)));
}

StreamableHttp::Taken StreamableHttp::TakeModern(const HttpRequest& request, JsonRpcMessage message,
                                                 const asio::any_io_executor& executor) const {
  if (message.kind == JsonRpcMessage::Kind::kNotification) return Accepted();
  if (message.kind == JsonRpcMessage::Kind::kResponse) {
    return ErrorWithoutId(400, JsonRpcCode::kInvalidRequest,
                          "Invalid request: 2026-07-28 knows no responses of clients.");
  }
  std::optional<RpcError> error = CheckModernRequest(request, message);
  if (!error.has_value()) error = server_->CheckParamHeaders(request, message);
  Exchange::Origin origin{.era = Era::kModern,
                          .version = kModernVersion,
                          .principal = request.principal,
                          .trace = TraceOf(request),
                          .companions = CompanionsOf(request),
                          .agent_session_id = AgentSessionOf(request)};
  if (const Json& level = MetaMember(message, kMetaLogLevel); !level.is_null()) {
    origin.log_level = LogLevelOf(level);
    if (!error.has_value() && !origin.log_level.has_value()) {
      error = RpcError{JsonRpcCode::kInvalidParams,
                       absl::StrCat("params._meta[\"", kMetaLogLevel, "\"] is not a log level.")};
    }
  }
  if (error.has_value()) {
    return HttpResponse{.status = error->code == JsonRpcCode::kMethodNotFound ? 404 : 400,
                        .body = JsonRpcResponse(message.id, *error)};
  }
  clients_->Note(request.principal.name, ClientNameOf(MetaMember(message, kMetaClientInfo)));
  return std::make_shared<Exchange>(executor, std::move(origin), std::move(message));
}

std::variant<HttpResponse, Exchange::Origin> StreamableHttp::LegacyOrigin(
    const HttpRequest& request) const {
  const std::string session_id = request.Header("mcp-session-id");
  if (session_id.empty()) {
    return ErrorWithoutId(400, JsonRpcCode::kSessionRequired,
                          "The Mcp-Session-Id header is missing: send initialize first, and "
                          "repeat the header of its answer.");
  }
  const std::optional<SessionInfo> session = sessions_->Find(session_id, request.principal);
  if (!session.has_value()) {
    return ErrorWithoutId(
        404, JsonRpcCode::kSessionNotFound,
        "Session not found: it has ended or belongs to another client. Send initialize again.");
  }
  clients_->Note(request.principal.name, session->client);
  const std::string header_version = request.Header("mcp-protocol-version");
  return Exchange::Origin{
      .era = Era::kLegacy,
      .version = header_version.empty() ? session->protocol_version : header_version,
      .principal = request.principal,
      .session_id = session_id,
      .session_label = session->Label(),
      .log_level = sessions_->LogLevel(session_id),
      .trace = TraceOf(request),
      .companions = CompanionsOf(request),
      .agent_session_id = AgentSessionOf(request)};
}

StreamableHttp::Taken StreamableHttp::TakeLegacy(Exchange::Origin origin, JsonRpcMessage message,
                                                 const asio::any_io_executor& executor) const {
  if (message.kind != JsonRpcMessage::Kind::kRequest) {
    Take(origin.session_id, std::move(message));
    return Accepted();
  }
  auto exchange = std::make_shared<Exchange>(executor, std::move(origin), std::move(message));
  // Meanwhile the client can reply to our requests and cancel its own.
  const auto under_way = std::make_shared<Sessions::UnderWay>(sessions_, exchange.get());
  if (!under_way->unique()) {
    return ErrorWithoutId(400, JsonRpcCode::kInvalidRequest,
                          absl::StrCat("Invalid request: the id ", Dump(exchange->message().id),
                                       " is that of a request under way."));
  }
  exchange->set_under_way(under_way);
  return exchange;
}

void StreamableHttp::Answer(std::shared_ptr<Exchange> exchange, Responder responder) const {
  server_->Trace(*exchange);
  std::optional<McpServer::Wait> wait = server_->WaitOf(*exchange);
  const bool waits = server_->LongestWait(exchange->message()) > absl::ZeroDuration();
  if (!wait.has_value() && !waits) {
    responder.executor = exchange->WorkExecutor();
    return RespondWith(AnswerNow(std::move(exchange)), std::move(responder));
  }
  // The work holds the exchange until then.
  responder.peer_left.assign(
      [waiting = exchange.get()](asio::cancellation_type) { waiting->Cancel(); });
  exchange->OnAnswer(std::move(responder.respond));
  if (wait.has_value()) {
    server_->BeginWait(std::move(exchange), *std::move(wait));
  } else {
    exchange->Run(server_->Handle(exchange));
  }
}

asio::awaitable<HttpResponse> StreamableHttp::AnswerNow(std::shared_ptr<Exchange> exchange) const {
  std::optional<RpcOutcome> outcome;
  try {
    outcome = co_await server_->Handle(exchange);
  } catch (const boost::system::system_error&) {
    throw;  // The peer has disconnected.
  } catch (const std::exception&) {
    // The answer must have the id of its request, also in this case.
    outcome = exchange->Failure();
  }
  if (exchange->cancelled()) co_return Accepted();
  co_return exchange->ResponseOf(*outcome);
}

asio::awaitable<HttpResponse> StreamableHttp::HandleBatch(Exchange::Origin origin, JsonRpcBody body,
                                                          std::shared_ptr<void> place) const {
  if (origin.version != kBatchVersion) {
    co_return ErrorWithoutId(
        400, JsonRpcCode::kInvalidRequest,
        absl::StrCat("Invalid request: ", origin.version, " has no batches, send one message."));
  }
  // In the order of the batch: an answer, or the exchange whose answer is awaited.
  std::vector<std::variant<std::string, std::shared_ptr<Exchange>>> answers;
  std::vector<std::unique_ptr<Sessions::UnderWay>> under_way;
  const auto room = std::make_shared<ByteBudget::Place>(waiting_);
  room->SetCaller(origin.principal.name);
  if (!room->Grow(body.messages.size() * kBytesOfOneInBatch)) co_return TooManyBodies();
  const auto executor = co_await asio::this_coro::executor;
  for (auto& entry : body.messages) {
    auto* message = std::get_if<JsonRpcMessage>(&entry);
    if (message == nullptr) {
      answers.emplace_back(JsonRpcErrorWithoutId(std::get<RpcError>(entry)));
      continue;
    }
    if (message->kind != JsonRpcMessage::Kind::kRequest) {
      Take(origin.session_id, std::move(*message));
      continue;
    }
    auto exchange = std::make_shared<Exchange>(executor, origin, std::move(*message));
    exchange->set_body_place(place);
    exchange->set_keep([room](size_t bytes) {
      const size_t more = bytes - std::min<size_t>(bytes, ByteBudget::kFreeBytes);
      return room->Grow(room->bytes() + more);
    });
    server_->Trace(*exchange);
    auto entered = std::make_unique<Sessions::UnderWay>(sessions_, exchange.get());
    if (!entered->unique()) {
      answers.emplace_back(JsonRpcErrorWithoutId(
          {JsonRpcCode::kInvalidRequest, "Invalid request: this id is in use."}));
      continue;
    }
    under_way.push_back(std::move(entered));
    answers.emplace_back(std::move(exchange));
  }
  place = nullptr;
  // Requests that wait run in parallel, the others one at a time, because each may have a large
  // answer. If the peer disconnects, all are cancelled.
  const absl::Cleanup end_all = [&] {
    for (const auto& answer : answers) {
      if (const auto* exchange = std::get_if<std::shared_ptr<Exchange>>(&answer)) {
        (*exchange)->Cancel();
      }
    }
  };
  std::set<const Exchange*> begun;
  for (const auto& answer : answers) {
    const auto* exchange = std::get_if<std::shared_ptr<Exchange>>(&answer);
    if (exchange == nullptr) continue;
    if (server_->LongestWait((*exchange)->message()) == absl::ZeroDuration()) continue;
    begun.insert(exchange->get());
    (*exchange)->Run(server_->Handle(*exchange));
  }
  std::string array;
  for (const auto& answer : answers) {
    const auto* exchange = std::get_if<std::shared_ptr<Exchange>>(&answer);
    std::string text;
    if (exchange == nullptr) {
      text = std::get<std::string>(answer);
    } else {
      if (!begun.contains(exchange->get())) (*exchange)->Run(server_->Handle(*exchange));
      text = co_await (*exchange)->AnswerMessage();
    }
    if (!text.empty()) absl::StrAppend(&array, array.empty() ? "[" : ",", text);
  }
  if (array.empty()) co_return Accepted();
  co_return HttpResponse{.body = absl::StrCat(array, "]")};
}

HttpResponse StreamableHttp::Initialize(const HttpRequest& request,
                                        const JsonRpcMessage& message) const {
  TraceContext trace;
  ActiveSpan span = BeginCallSpan(message.method, "", "", TraceOf(request), trace);
  const RpcOutcome outcome = server_->Initialize(message.params);
  EndCallSpan(outcome, span);
  HttpResponse response{.body = JsonRpcResponse(message.id, outcome)};
  if (const auto* result = std::get_if<Json>(&outcome); result != nullptr) {
    const std::string client = ClientNameOf(message.params.value("clientInfo", Json()));
    clients_->Note(request.principal.name, client);
    response.headers.emplace_back("Mcp-Session-Id",
                                  sessions_->Open((*result)["protocolVersion"].get<std::string>(),
                                                  request.principal, client));
  }
  return response;
}

void StreamableHttp::Take(const std::string& session_id, JsonRpcMessage message) const {
  if (message.kind == JsonRpcMessage::Kind::kResponse) {
    sessions_->Reply(session_id, message.id, std::move(message.outcome));
    return;
  }
  if (message.method != "notifications/cancelled") return;
  const auto id = message.params.find("requestId");
  if (id != message.params.end()) sessions_->Cancel(session_id, *id);
}

asio::awaitable<HttpResponse> StreamableHttp::HandleDelete(
    std::shared_ptr<const HttpRequest> request) const {
  const std::string session_id = request->Header("mcp-session-id");
  if (session_id.empty()) {
    co_return ErrorWithoutId(400, JsonRpcCode::kSessionRequired,
                             "The Mcp-Session-Id header is missing: it names the session to end.");
  }
  if (!sessions_->Find(session_id, request->principal).has_value()) {
    co_return ErrorWithoutId(404, JsonRpcCode::kSessionNotFound, "Session not found.");
  }
  sessions_->End(session_id);
  co_return HttpResponse{.status = 204};
}

}  // namespace callslip::gateway
