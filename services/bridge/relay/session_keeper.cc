#include "bridge/relay/session_keeper.h"

#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "bridge/http/mcp_headers.h"
#include "bridge/relay/gateway_answer.h"
#include "common/json_scan.h"
#include "common/log.h"

namespace callslip::bridge {
namespace {

constexpr char kInitialized[] = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

bool FitsIntoHeader(absl::string_view text) {
  return text.size() <= 1024 && absl::c_all_of(text, absl::ascii_isgraph);
}

// Stores the answer in `head` and `answer` if it arrives as an event.
GatewayClient::EventSink Collect(const Message& request, ResponseHead& head,
                                 std::optional<Message>& answer) {
  return [&](const ResponseHead& event_head, absl::string_view data) {
    Message message = ParseMessage(std::string(data));
    if (!IsAnswerTo(request, message)) return true;
    head = event_head;
    answer = std::move(message);
    return false;
  };
}

}  // namespace

void SessionKeeper::Start(const Message& initialize, const ResponseHead& head,
                          const Message& answer) {
  const std::optional<std::string> version = NegotiatedVersion(answer);
  if (!version) return;
  MutexLock lock(&mutex_);
  initialize_ = initialize.line;
  set_level_.clear();
  session_ = SessionOf(head, *version);
}

void SessionKeeper::KeepLogLevel(const Message& set_level, const Message& answer) {
  if (set_level.is_modern || !FindMember(ScanJson(answer.line).members, "result")) return;
  MutexLock lock(&mutex_);
  set_level_ = set_level.line;
}

std::string SessionKeeper::id() {
  MutexLock lock(&mutex_);
  return session_.id;
}

std::string SessionKeeper::SessionHeaders() {
  MutexLock lock(&mutex_);
  return HeadersOf(session_);
}

SessionKeeper::Renewal SessionKeeper::Renew(const std::string& lost, absl::Duration silence,
                                            AbortSwitch& abort) {
  std::string initialize;
  std::string set_level;
  std::string version;
  while (true) {
    if (!AwaitRenewal(abort)) return Renewal::kTryLater;
    MutexLock lock(&mutex_);
    if (renewing_) continue;
    if (session_.id != lost) return Renewal::kDone;
    if (initialize_.empty()) return Renewal::kRefused;
    renewing_ = true;
    initialize = initialize_;
    set_level = set_level_;
    version = session_.protocol_version;
    break;
  }
  Session opened;
  const Renewal renewal = Open(initialize, set_level, version, silence, abort, opened);
  Log(LogLevel::kInfo, renewal == Renewal::kDone ? "session renewed" : "session not renewed");
  MutexLock lock(&mutex_);
  if (renewal == Renewal::kDone) session_ = std::move(opened);
  renewing_ = false;
  renewed_.NotifyAll();
  return renewal;
}

bool SessionKeeper::AwaitRenewal(AbortSwitch& abort) {
  bool stopped = false;  // Guarded by mutex_, like the state next to which it is set.
  const auto stop = [&] {
    MutexLock lock(&mutex_);
    stopped = true;
    renewed_.NotifyAll();
  };
  if (!abort.BeginWait(stop)) return false;
  {
    MutexLock lock(&mutex_);
    while (renewing_ && !stopped) renewed_.Wait(&mutex_);
  }
  // Not under mutex_, which `stop` locks.
  abort.EndExchange();
  return !abort.aborted();
}

SessionKeeper::Renewal SessionKeeper::Open(const std::string& initialize,
                                           const std::string& set_level,
                                           const std::string& protocol_version,
                                           absl::Duration silence, AbortSwitch& abort,
                                           Session& opened) {
  const Message request = ParseMessage(initialize);
  ResponseHead head;
  std::optional<Message> answer;
  Exchange exchange =
      gateway_->Post(initialize, {}, silence, abort, Collect(request, head, answer));
  if (exchange.outcome != Exchange::Outcome::kAnswered) return Renewal::kTryLater;
  if (!answer) {
    head = exchange.head;
    auto found = FindAnswer(head, std::move(exchange.body), request, gateway_->url().ToString());
    if (!std::holds_alternative<Message>(found)) return Renewal::kRefused;
    answer = std::get<Message>(std::move(found));
  }
  // The agent keeps using the version that it has negotiated.
  if (NegotiatedVersion(*answer) != protocol_version) return Renewal::kRefused;
  opened = SessionOf(head, protocol_version);
  const auto ignore = [](const ResponseHead&, absl::string_view) { return false; };
  gateway_->Post(kInitialized, HeadersOf(opened), silence, abort, ignore);
  if (!set_level.empty()) {
    gateway_->Post(set_level, HeadersOf(opened), silence, abort, ignore);
  }
  return Renewal::kDone;
}

void SessionKeeper::End(absl::Duration timeout) {
  Session session;
  {
    MutexLock lock(&mutex_);
    session = session_;
  }
  if (!session.id.empty()) {
    gateway_->Ask("DELETE", gateway_->url().path, HeadersOf(session), timeout);
  }
}

SessionKeeper::Session SessionKeeper::SessionOf(const ResponseHead& head,
                                                const std::string& protocol_version) {
  Session session;
  if (FitsIntoHeader(head.session_id)) session.id = head.session_id;
  if (FitsIntoHeader(protocol_version)) session.protocol_version = protocol_version;
  return session;
}

std::string SessionKeeper::HeadersOf(const Session& session) {
  std::string headers;
  if (!session.id.empty()) AddHeader(headers, "Mcp-Session-Id", session.id);
  if (!session.protocol_version.empty()) {
    AddHeader(headers, "MCP-Protocol-Version", session.protocol_version);
  }
  return headers;
}

}  // namespace callslip::bridge
