// Any requests at POST and DELETE /mcp: each gets an answer that clients can read, and nothing is
// left after all callers are gone.
//
// An input is text, one request a line: four hexadecimal digits, whose bits choose the headers (see
// RequestOf), a space, and the body. Other characters in place of the digits count as zeros.

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/cancellation_signal.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/post.hpp"
#include "common/fake_clock.h"
#include "fuzz/require.h"
#include "gateway/files/file_store.h"
#include "gateway/mcp/streamable_http.h"
#include "gateway/mcp/tools/browser_tools.h"
#include "gateway/mcp/tools/command_resources.h"
#include "gateway/mcp/tools/observe_tool.h"
#include "support/fake_tracker_client.h"

namespace callslip::gateway {
namespace {

namespace asio = boost::asio;

constexpr size_t kMaxRequests = 16;

// No message of either side has `"id":null`, and each is either a request or an answer.
void RequireMessage(const Json& message, absl::string_view text) {
  Require(message.is_object() && message.value("jsonrpc", Json()) == "2.0", "is JSON-RPC", text);
  Require(!message.contains("id") || !message["id"].is_null(), "no id is null", text);
  const bool answer = message.contains("result") || message.contains("error");
  Require(answer != message.contains("method"), "is an answer or a message", text);
  if (message.contains("result")) Require(message.contains("id"), "results have an id", text);
}

Json ParseOrDie(absl::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  Require(!json.is_discarded(), "is JSON", text);
  return json;
}

class CollectingWriter final : public BodyWriter {
 public:
  asio::awaitable<void> Write(std::string piece) override {
    Require(absl::EndsWith(piece, "\n\n"), "events are whole", piece);
    for (const absl::string_view line : absl::StrSplit(piece, '\n')) {
      if (absl::StartsWith(line, "data: ")) {
        const Json message = ParseOrDie(line.substr(6));
        RequireMessage(message, line);
        Require(!answered_, "nothing comes after the answer", line);
        answered_ = message.contains("id") && !message.contains("method");
      } else {
        Require(line.empty() || line == "event: message" || line[0] == ':', "is an event", line);
      }
    }
    co_return;
  }
  bool Hold(size_t) override { return true; }

 private:
  bool answered_ = false;
};

// A request in progress; its peer may leave.
struct Call {
  std::shared_ptr<HttpRequest> request;
  asio::cancellation_signal leave;
  CollectingWriter writer;
  bool left = false;
  bool done = false;
};

class Target {
 public:
  void Send(absl::string_view line) {
    uint32_t bits = 0;
    if (!absl::SimpleHexAtoi(line.substr(0, 4), &bits)) bits = 0;
    Call& call = calls_.emplace_back();
    call.request = RequestOf(bits, line.size() > 5 ? line.substr(5) : "");
    asio::post(io_, [this, &call] { Begin(call); });
    if ((bits & 1 << 11) != 0) {
      io_.restart();
      io_.poll_one();
    }
    if ((bits & 1 << 12) != 0) Leave(call);
    if ((bits & 1 << 13) != 0) GoOn();
  }

  // Requests that do not wait for their caller end by themselves, the others when the callers
  // leave.
  void Finish() {
    GoOn();
    server_.subscriptions().End();
    GoOn();
    for (Call& call : calls_) {
      if (!call.done) Leave(call);
    }
    GoOn();
    for (const Call& call : calls_) Require(call.done, "every request ends", call.request->body);
    Require(tracker_.waits() == 0, "no wait is left over");
    Require(tracker_.commands() <= kMaxRequests * kMaxBatch, "a call makes one command at most");
  }

 private:
  // On the loop, like a connection: only there coroutines begin at once, and a coroutine that is
  // cancelled before its beginning throws out of the loop.
  void Begin(Call& call) {
    Responder responder = {
        .respond = [this, &call](HttpResponse response) { Take(call, std::move(response)); },
        .peer_left = call.leave.slot(),
        .executor = io_.get_executor()};
    if (call.request->method == "DELETE") {
      RespondWith(transport_.HandleDelete(call.request), std::move(responder));
    } else {
      transport_.HandlePost(*call.request, std::move(responder));
    }
  }

  void Leave(Call& call) {
    asio::post(io_, [&call] {
      if (call.done) return;
      call.left = true;
      call.leave.emit(asio::cancellation_type::terminal);
    });
  }

  // Runs everything that is ready. Waits for timers continue.
  void GoOn() {
    io_.restart();
    io_.poll();
  }

  static McpCatalog Catalog(TrackerClient* tracker, Clock* clock, FileStore* files) {
    McpCatalog catalog;
    catalog.tools.push_back(std::make_unique<InteractTool>(tracker, clock, files));
    catalog.tools.push_back(std::make_unique<ObserveTool>(tracker, clock));
    catalog.tools.push_back(std::make_unique<AnalyzeTool>(tracker, clock));
    catalog.resources.push_back(std::make_unique<CommandResources>(tracker));
    return catalog;
  }

  // Bits of a request, from the lowest:
  //   0-1  Accept: both kinds, anything, JSON alone; DELETE instead of POST
  //   2-4  MCP-Protocol-Version: none, the legacy ones, the modern one, an unknown one
  //   5-6  session: none, one of 2025-11-25, one of 2025-03-26, a garbled one
  //   7    Mcp-Method and Mcp-Name repeat the body; 8 in Base64
  //   9    from a viewer
  //   11   begins before the next one, 12 its peer leaves, 13 everything ready runs first
  std::shared_ptr<HttpRequest> RequestOf(uint32_t bits, absl::string_view body) {
    auto request = std::make_shared<HttpRequest>();
    const uint32_t accept = bits & 3;
    request->method = accept == 3 ? "DELETE" : "POST";
    request->path = "/mcp";
    request->headers["accept"] = accept == 1   ? "*/*"
                                 : accept == 2 ? "application/json"
                                               : "application/json, text/event-stream";
    static constexpr const char* kVersions[] = {
        "", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2027-01-01", "\xff", ""};
    const std::string version = kVersions[bits >> 2 & 7];
    if (!version.empty()) request->headers["mcp-protocol-version"] = version;
    const bool viewer = (bits & 1 << 9) != 0;
    request->principal = {.name = viewer ? "viewer" : "agent",
                          .role = viewer ? Role::kViewer : Role::kClient};
    const std::string sessions[] = {"", session_, batch_session_, session_ + "x"};
    const std::string& session = sessions[bits >> 5 & 3];
    if (!session.empty()) request->headers["mcp-session-id"] = session;
    request->body = std::string(body);
    if ((bits & 1 << 7) != 0) RepeatBody((bits & 1 << 8) != 0, *request);
    return request;
  }

  static void RepeatBody(bool base64, HttpRequest& request) {
    const Json body = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    if (!body.is_object()) return;
    const auto repeat = [&](const Json& object, const char* member, const char* header) {
      if (!object.is_object() || !object.contains(member) || !object[member].is_string()) return;
      const std::string value = object[member];
      request.headers[header] =
          base64 ? absl::StrCat("=?base64?", absl::Base64Escape(value), "?=") : value;
    };
    repeat(body, "method", "mcp-method");
    const Json params = body.value("params", Json());
    for (const char* member : {"name", "uri", "taskId"}) repeat(params, member, "mcp-name");
  }

  void Take(Call& call, HttpResponse response) {
    call.leave.slot().clear();
    if (response.stream == nullptr || call.left) {
      if (!call.left) RequireResponse(*call.request, response);
      call.done = true;
      return;
    }
    Require(response.status == 200 && response.content_type == "text/event-stream", "streams");
    asio::co_spawn(io_, Stream(&call, std::move(response)),
                   asio::bind_cancellation_slot(call.leave.slot(),
                                                [&call](std::exception_ptr) { call.done = true; }));
  }

  static asio::awaitable<void> Stream(Call* call, HttpResponse response) {
    asio::awaitable<void> stream = response.stream(call->writer);
    co_await std::move(stream);
  }

  static void RequireResponse(const HttpRequest& request, const HttpResponse& response) {
    const int status = response.status;
    Require(status == 200 || status == 202 || status == 204 || status == 400 || status == 404 ||
                status == 406,
            "the status is one of ours", absl::StrCat(status));
    Require((status == 202 || status == 204) == response.body.empty(), "202 and 204 say nothing",
            response.body);
    // Results of the fake tracker are short: a long answer repeats the caller's text.
    Require(response.body.size() <= (size_t{64} << 10) * kMaxBatch + 8 * request.body.size(),
            "answers are bounded");
    if (response.body.empty() || status == 406) return;
    const Json body = ParseOrDie(response.body);
    const auto parsed = ParseJsonRpc(request.body);
    const auto* messages = std::get_if<JsonRpcBody>(&parsed);
    if (request.method == "POST" && messages == nullptr) {
      Require(status == 400 && !body.contains("id"), "what is no request has no id", response.body);
    }
    if (body.is_array()) {
      Require(messages != nullptr && messages->is_batch &&
                  body.size() <= messages->messages.size() && body.size() <= kMaxBatch,
              "a batch is answered item by item", response.body);
      for (const Json& each : body) RequireMessage(each, response.body);
    } else {
      RequireMessage(body, response.body);
    }
  }

  FakeClock clock_;
  FakeTrackerClient tracker_{&clock_};
  Sessions sessions_{std::string(32, 'k')};
  FileStore files_{&clock_, FileStore::kAllBytes};
  McpServer server_{Catalog(&tracker_, &clock_, &files_), &tracker_, &clock_, &sessions_};
  RecentMcpClients clients_{&clock_};
  const StreamableHttp transport_{
      &server_, &sessions_, &clients_,
      std::make_shared<ByteBudget>(uint64_t{32} << 20, uint64_t{8} << 20)};
  const std::string session_ = sessions_.Open("2025-11-25", {.name = "agent"}, "fuzz");
  const std::string batch_session_ = sessions_.Open("2025-03-26", {.name = "agent"}, "fuzz");
  std::list<Call> calls_;
  // Destroyed first, with the remaining coroutines.
  asio::io_context io_;
};

}  // namespace
}  // namespace callslip::gateway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  callslip::gateway::Target target;
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  size_t requests = 0;
  for (const absl::string_view line : absl::StrSplit(input, '\n')) {
    if (line.empty()) continue;
    if (++requests > callslip::gateway::kMaxRequests) break;
    target.Send(line);
  }
  target.Finish();
  return 0;
}
