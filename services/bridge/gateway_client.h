#ifndef CALLSLIP_BRIDGE_GATEWAY_CLIENT_H_
#define CALLSLIP_BRIDGE_GATEWAY_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/abort_switch.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace httplib {
class Client;
}  // namespace httplib

namespace callslip::bridge {

// Where the gateway's MCP endpoint is.
struct GatewayUrl {
  std::string origin;  // http://127.0.0.1:7890
  std::string path;    // /mcp

  std::string ToString() const { return origin + path; }
};

// INVALID_ARGUMENT unless `text` is an http or https URL. A URL without a path gets /mcp.
absl::StatusOr<GatewayUrl> ParseGatewayUrl(absl::string_view text);

// The headers of an answer, as far as they matter here.
struct ResponseHead {
  int status = 0;
  std::string content_type;  // In lower case, without parameters.
  std::string session_id;    // Empty when the gateway issued none.
};

// What became of one POST.
struct Exchange {
  enum class Outcome {
    kAnswered,  // `head` and `body` are complete; for an event stream, the stream has ended.
    kNotSent,   // No connection could be made: the gateway has seen nothing of the call.
    kBroken,    // The connection ended, or fell silent, after the call was sent.
    kTooLarge,  // The answer, or one event of it, is larger than kMaxLineBytes.
    kAborted,   // The switch of the call was thrown.
  };

  Outcome outcome = Outcome::kNotSent;
  ResponseHead head;
  std::string body;  // Empty for an event stream.
};

// The HTTP side of the bridge: posts messages to the gateway over connections that it keeps for
// reuse, and carries the headers of the MCP session. Thread-safe; each call blocks its thread.
//
// It makes one attempt and judges no answer: retrying and answering are the Relay's.
class GatewayClient {
 public:
  // Gets the data of each event of an event stream; returns false to end the stream.
  using EventSink = std::function<bool(const ResponseHead& head, absl::string_view data)>;

  // All messages carry `token`, unless it is empty. `clock` must outlive the client.
  GatewayClient(GatewayUrl url, const std::string& token, Clock* clock);
  ~GatewayClient();

  // Posts `message` as it is. `silence` bounds each single read and write; only `abort` bounds the
  // whole.
  Exchange Post(const std::string& message, absl::Duration silence, AbortSwitch& abort,
                const EventSink& on_event);

  // From now on all messages carry these headers; an empty text stands for no header. Text that
  // does not fit into a header is ignored.
  void StartSession(absl::string_view session_id, absl::string_view protocol_version);

  // Sends a DELETE for the session, if the gateway has issued one. Blocks for `timeout` at most
  // (resolving a host name excepted); a failure is of no consequence.
  void EndSession(absl::Duration timeout);

  const GatewayUrl& url() const { return url_; }

 private:
  struct Session {
    std::string id;
    std::string protocol_version;
  };
  struct Idle {
    std::unique_ptr<httplib::Client> connection;
    absl::Time since;
  };

  std::unique_ptr<httplib::Client> TakeConnection();
  void KeepConnection(std::unique_ptr<httplib::Client> connection);
  Session session();

  const GatewayUrl url_;
  const std::string authorization_;  // Empty: none.
  Clock* const clock_;

  Mutex mutex_;
  Session session_ ABSL_GUARDED_BY(mutex_);
  std::vector<Idle> idle_ ABSL_GUARDED_BY(mutex_);  // The last one was used last.
};

}  // namespace callslip::bridge

#endif  // CALLSLIP_BRIDGE_GATEWAY_CLIENT_H_
