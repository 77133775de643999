#include "tracker/metrics/metrics_listener.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "civetweb.h"

namespace callslip::tracker {
namespace {

std::string HeaderOf(const mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

int Send(mg_connection* connection, int status, const std::string& content_type,
         const std::string& body) {
  mg_response_header_start(connection, status);
  mg_response_header_add(connection, "Content-Type", content_type.c_str(), -1);
  mg_response_header_add(connection, "Content-Length", absl::StrCat(body.size()).c_str(), -1);
  mg_response_header_add(connection, "Cache-Control", "no-store", -1);
  if (status == 405) mg_response_header_add(connection, "Allow", "GET", -1);
  mg_response_header_send(connection);
  mg_write(connection, body.data(), body.size());
  return status;
}

int Refuse(mg_connection* connection, int status, const std::string& why) {
  return Send(connection, status, "text/plain; charset=utf-8", why + "\n");
}

// CivetWeb's own log is discarded; relevant errors are in the status.
int IgnoreMessage(const mg_connection*, const char*) { return 1; }

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsListener>> MetricsListener::Start(
    const Address& address, const std::vector<std::string>& allowed_hosts, Page page) {
  std::unique_ptr<MetricsListener> listener(new MetricsListener(std::move(page)));
  mg_callbacks callbacks{};
  callbacks.begin_request = &MetricsListener::Serve;
  callbacks.log_message = &IgnoreMessage;
  const std::string listen = address.ToString();
  const char* options[] = {
      "listening_ports",          listen.c_str(), "num_threads", "1", "request_timeout_ms", "5000",
      "enable_directory_listing", "no",           nullptr};
  listener->context_ = mg_start(&callbacks, listener.get(), options);
  mg_server_port port{};
  if (listener->context_ == nullptr || mg_get_server_ports(listener->context_, 1, &port) != 1) {
    return absl::UnavailableError(absl::StrCat("cannot serve metrics on ", listen,
                                               "; is it in use already, and an IP address?"));
  }
  listener->bound_ = address;
  listener->bound_.port = static_cast<uint16_t>(port.port);
  listener->hosts_ = {absl::AsciiStrToLower(listener->bound_.ToString())};
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    listener->hosts_.push_back(absl::StrCat(name, ":", port.port));
  }
  for (const std::string& host : allowed_hosts) {
    listener->hosts_.push_back(absl::AsciiStrToLower(host));
  }
  listener->ready_.Notify();
  return listener;
}

MetricsListener::MetricsListener(Page page) : page_(std::move(page)) {}

MetricsListener::~MetricsListener() {
  ready_.Notify();
  if (context_ != nullptr) mg_stop(context_);
}

int MetricsListener::Serve(mg_connection* connection) {
  const void* self = mg_get_user_data(mg_get_context(connection));
  return static_cast<const MetricsListener*>(self)->Answer(connection);
}

int MetricsListener::Answer(mg_connection* connection) const {
  // A request can arrive before Start() knows the port.
  ready_.Wait();
  const std::string host = absl::AsciiStrToLower(HeaderOf(connection, "Host"));
  if (!absl::c_linear_search(hosts_, host)) {
    return Refuse(
        connection, 403,
        "The Host header is not a host of this tracker. Use the address that the tracker printed, "
        "or add this one, with its port, to --metrics-allowed-hosts.");
  }
  const std::string site = HeaderOf(connection, "Sec-Fetch-Site");
  if (!HeaderOf(connection, "Origin").empty() || site == "cross-site" || site == "same-site") {
    return Refuse(connection, 403, "Requests from web pages are not accepted.");
  }
  const mg_request_info& request = *mg_get_request_info(connection);
  const std::string path = request.local_uri == nullptr ? "" : request.local_uri;
  if (path != "/metrics") return Refuse(connection, 404, "There is only /metrics.");
  if (std::string(request.request_method) != "GET") return Refuse(connection, 405, "Use GET.");
  const MetricsAnswer answer = page_(HeaderOf(connection, "Accept"));
  return Send(connection, 200, std::string(answer.content_type), answer.body);
}

}  // namespace callslip::tracker
