#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bridge/http/abort_switch.h"
#include "bridge/http/mcp_headers.h"
#include "bridge/http/request_auth.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "http_client/http_answer.h"
#include "http_client/http_connection.h"

namespace callslip::bridge {

// The address of the gateway's MCP endpoint.
struct GatewayUrl {
  std::string origin;  // http://127.0.0.1:7890, or unix:PATH
  std::string path;    // /mcp

  bool is_unix() const;
  std::string ToString() const { return is_unix() ? origin : origin + path; }
};

// INVALID_ARGUMENT unless `text` is an http or https URL, or unix:PATH. A URL without a path gets
// /mcp.
absl::StatusOr<GatewayUrl> ParseGatewayUrl(absl::string_view text);

// The outcome of one POST.
struct Exchange {
  enum class Outcome {
    kAnswered,     // `head` and `body` are complete, or the sink has ended the event stream.
    kNotSent,      // No connection could be made: the gateway has received nothing of the call.
    kBroken,       // The connection ended, or fell silent, after the call was sent.
    kStreamEnded,  // The gateway ended its event stream before the sink did.
    kTooLarge,     // The answer, or one event of it, is larger than kMaxAnswerBytes.
    kAborted,      // The call's switch was thrown.
    // The sender of the answer has not proven that it knows the token. The answer is discarded, and
    // the effect of the call is unknown.
    kUnproven,
  };

  Outcome outcome = Outcome::kNotSent;
  ResponseHead head;
  std::string body;          // Empty for an event stream.
  int token_generation = 0;  // The generation of the call's token; see RenewToken().
  std::string failure;       // For kNotSent: why no connection could be made; may be empty.
};

// The HTTP side of the bridge: posts messages to the gateway over connections that it keeps for
// reuse. Thread-safe; each call blocks its thread.
//
// It makes one attempt and does not judge answers: the RetryingSender does.
class GatewayClient {
 public:
  // Receives the data of each event of an event stream; returns false to end the stream.
  using EventSink = std::function<bool(const ResponseHead& head, absl::string_view data)>;
  // Returns the current token, or an empty string if there is none.
  using TokenSource = std::function<std::string()>;

  // All requests carry the token, unless it is empty: over plain HTTP as a signature, and the
  // server must then prove that it knows the token too. `clock` must outlive the client. `tls` is
  // required for an https URL.
  GatewayClient(GatewayUrl url, TokenSource token_source, Clock* clock,
                std::shared_ptr<const ClientTls> tls = nullptr);
  ~GatewayClient();

  // Posts `message` unchanged; `headers` are complete lines. `silence` bounds each single read and
  // write; only `abort` bounds the whole. Sends it a second time if the gateway has proven that our
  // clock is off, and so has not executed anything.
  Exchange Post(const std::string& message, absl::string_view headers, absl::Duration silence,
                AbortSwitch& abort, const EventSink& on_event);

  // Sends a DELETE or GET without a body; `path` is below the origin. Blocks for about `timeout` at
  // most (except for resolving a host name). The status is 0 if there was no answer, or one of more
  // than kMaxAskedBytes.
  Exchange Ask(const std::string& method, const std::string& path, absl::string_view headers,
               absl::Duration timeout);

  // The token of this generation was refused: queries the source again. True if calls now carry
  // another token.
  bool RenewToken(int refused_generation);

  const GatewayUrl& url() const { return url_; }
  // False if an eavesdropper on the network can read tokens and results.
  bool IsPrivate() const { return endpoint_.IsPrivate(); }

 private:
  struct Idle {
    std::unique_ptr<HttpConnection> connection;
    absl::Time since;
  };

  // An unused connection: a kept one, or a new one.
  absl::StatusOr<std::unique_ptr<HttpConnection>> TakeConnection();
  void KeepConnection(std::unique_ptr<HttpConnection> connection);
  Exchange PostOnce(const std::string& message, absl::string_view headers, absl::Duration silence,
                    AbortSwitch& abort, const EventSink& on_event);
  Exchange AskOnce(const std::string& method, const std::string& path, absl::string_view headers,
                   absl::Duration timeout);
  // The authentication of a request, with the current token.
  RequestAuth AuthorizationFor(absl::string_view method, absl::string_view path,
                               absl::string_view body, int& token_generation);
  // True if the gateway has refused a request because of its time; the next one uses a corrected
  // time.
  bool CorrectClock(const Exchange& exchange);
  // The request line and all headers.
  std::string RequestHead(absl::string_view method, absl::string_view path,
                          absl::string_view headers, size_t content_length,
                          const RequestAuth& auth) const;

  const GatewayUrl url_;
  const Endpoint endpoint_;
  const std::string host_;  // The value of the Host header.
  const std::string usual_headers_;
  const TokenSource token_source_;
  Clock* const clock_;

  Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
  int token_generation_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration clock_offset_ ABSL_GUARDED_BY(mutex_);  // From our time to the gateway's.
  std::vector<Idle> idle_ ABSL_GUARDED_BY(mutex_);       // The most recently used is last.
};

}  // namespace callslip::bridge
