#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "httplib.h"

namespace callslip::bridge {

// A gateway for tests that answers or misbehaves as configured. It listens on a free port of
// 127.0.0.1. Thread-safe. Destroy the clients before it.
//
// By default it answers a request with {"method": …} and a notification with 202.
class FakeGateway {
 public:
  using Handler = std::function<void(FakeGateway&, const httplib::Request&, httplib::Response&)>;

  struct Options {
    Handler handler = {};  // Answers POST requests; default as above.
    int port = 0;          // 0 picks a free one.
    // If set, requests that are not signed with it are refused, and answers to all others are
    // proven.
    std::string token = {};
    bool reset_on_close = false;  // Connections end with RST instead of FIN.
  };

  FakeGateway();
  explicit FakeGateway(Options options);
  ~FakeGateway();

  std::string url() const;
  int port() const { return port_; }

  // Blocks until at least `count` HTTP requests have arrived.
  void AwaitRequests(size_t count);
  std::vector<httplib::Request> requests();

  // Blocks a handler until Release() or the end of the gateway, which appears frozen to clients.
  void Freeze() { released_.Wait(); }
  void Release();

 private:
  void Record(const httplib::Request& request);
  void Serve(const httplib::Request& request, httplib::Response& response);

  const Handler handler_;
  const std::string token_;
  httplib::Server server_;
  int port_ = 0;
  Mutex mutex_;
  CondVar arrived_;
  std::vector<httplib::Request> requests_ ABSL_GUARDED_BY(mutex_);
  Notification released_;
  std::thread thread_;
};

// Sets the plain answer to the request in `body`: its id with {"method": …}, or 202.
void AnswerPlainly(const std::string& body, httplib::Response& response);

// Adds the proof of a complete answer to `request` with `token`.
void Prove(const std::string& token, const httplib::Request& request, httplib::Response& response);

// {"jsonrpc":"2.0","id":<id>,"result":<result>}
std::string ResultFor(absl::string_view id, absl::string_view result);

// A port on which no program listens.
int UnusedPort();

}  // namespace callslip::bridge
