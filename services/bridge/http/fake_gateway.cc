#include "bridge/http/fake_gateway.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "auth/request_signature.h"
#include "bridge/json/json_rpc.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

// Each kept connection occupies a thread of the server, so there are more threads than the bridge
// opens connections.
constexpr size_t kServerThreads = 100;

// httplib requests 5, beyond which connection attempts are lost and repeated after a second.
constexpr int kBacklog = 1024;

void CloseWithReset(socket_t socket) {
  const linger reset = {.l_onoff = 1, .l_linger = 0};  // Accepted sockets inherit it.
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

}  // namespace

FakeGateway::FakeGateway() : FakeGateway(Options{}) {}

FakeGateway::FakeGateway(Options options)
    : handler_(std::move(options.handler)), token_(std::move(options.token)) {
  server_.new_task_queue = [] { return new httplib::ThreadPool(kServerThreads); };
  server_.set_tcp_nodelay(true);
  int listener = -1;
  server_.set_socket_options([&listener, reset = options.reset_on_close](socket_t socket) {
    listener = socket;
    if (reset) CloseWithReset(socket);
  });
  const auto serve = [this](const auto& request, auto& response) { Serve(request, response); };
  server_.Post(".*", serve);
  server_.Get(".*", serve);
  server_.Delete(".*", [this](const auto& request, auto&) { Record(request); });
  if (options.port == 0) {
    port_ = server_.bind_to_any_port("127.0.0.1");
  } else if (server_.bind_to_port("127.0.0.1", options.port)) {
    port_ = options.port;
  }
  listen(listener, kBacklog);
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) std::this_thread::yield();  // Until then, stop() does nothing.
}

FakeGateway::~FakeGateway() {
  Release();
  server_.stop();
  thread_.join();
}

std::string FakeGateway::url() const { return absl::StrCat("http://127.0.0.1:", port_); }

void FakeGateway::AwaitRequests(size_t count) {
  MutexLock lock(&mutex_);
  while (requests_.size() < count) arrived_.Wait(&mutex_);
}

std::vector<httplib::Request> FakeGateway::requests() {
  MutexLock lock(&mutex_);
  return requests_;
}

void FakeGateway::Release() {
  MutexLock lock(&mutex_);
  if (!released_.HasBeenNotified()) released_.Notify();
}

void FakeGateway::Serve(const httplib::Request& request, httplib::Response& response) {
  Record(request);
  const auto signature = ParseSignature(request.get_header_value("Authorization"));
  const std::string host = request.get_header_value("Host");
  const RequestToSign parts = {
      .method = request.method, .host = host, .target = request.target, .body = request.body};
  if (!token_.empty() && !(signature && IsSignatureOf(token_, parts, *signature))) {
    response.status = 401;
    response.set_content(R"({"error":"token_unknown","message":"No."})", "application/json");
    return;
  }
  if (handler_) {
    handler_(*this, request, response);
  } else {
    AnswerPlainly(request.body, response);
  }
  if (!token_.empty() && !response.has_header(kProofHeader)) Prove(token_, request, response);
}

void FakeGateway::Record(const httplib::Request& request) {
  MutexLock lock(&mutex_);
  requests_.push_back(request);
  arrived_.NotifyAll();
}

void AnswerPlainly(const std::string& body, httplib::Response& response) {
  const Message message = ParseMessage(body);
  if (message.kind != Message::Kind::kRequest) {
    response.status = 202;
    return;
  }
  const nlohmann::json result = {{"method", message.method}};
  response.set_content(ResultFor(message.id, result.dump()), "application/json");
}

void Prove(const std::string& token, const httplib::Request& request, httplib::Response& response) {
  const auto signature = ParseSignature(request.get_header_value("Authorization"));
  if (!signature) return;
  const int status = response.status == -1 ? 200 : response.status;
  const bool is_stream = response.get_header_value("Content-Type") == "text/event-stream";
  const auto body = is_stream ? std::nullopt : std::optional<absl::string_view>(response.body);
  response.set_header(kProofHeader, ProveAnswer(token, signature->nonce, status, body));
}

std::string ResultFor(absl::string_view id, absl::string_view result) {
  return absl::StrCat("{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":", result, "}");
}

int UnusedPort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0) std::abort();
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace callslip::bridge
