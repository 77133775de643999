#include "gateway/readiness.h"

#include <memory>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "http_client/http_answer.h"
#include "http_client/http_connection.h"

namespace callslip::gateway {
namespace {

// The address at which this machine's gateway can be reached.
Address TargetOf(const std::vector<Address>& listen) {
  const auto in_files = absl::c_find_if(listen, [](const Address& each) { return each.is_unix(); });
  if (in_files != listen.end()) return *in_files;
  Address target = listen.front();
  // A gateway that listens on all addresses also listens on this one.
  const bool any = target.host == "0.0.0.0" || target.host == "::";
  if (any || target.host == "localhost") target.host = "127.0.0.1";
  return target;
}

absl::Status Failed(const Address& target, absl::string_view reason) {
  return absl::UnavailableError(
      absl::StrCat("the gateway at ", target.ToString(), " is not ready: ", reason));
}

}  // namespace

absl::Status CheckReadiness(const std::vector<Address>& listen, bool is_tls,
                            absl::Duration timeout) {
  const Address target = TargetOf(listen);
  const std::string host = target.is_unix() ? "localhost" : target.ToString();
  const absl::string_view scheme = is_tls ? "https://" : "http://";
  Endpoint endpoint =
      EndpointOf(target.is_unix() ? target.ToString() : absl::StrCat(scheme, target.ToString()));
  // The request only asks whether the gateway is ready, so its identity does not matter: the name
  // in its certificate need not match this address.
  if (endpoint.is_tls) endpoint.tls = ClientTls::Unverified();
  const auto connection = HttpConnection::Connect(endpoint, timeout);
  if (!connection.ok()) return Failed(target, connection.status().message());
  (*connection)->SetSilence(timeout);
  const std::string request =
      absl::StrCat("GET /readyz HTTP/1.1\r\nHost: ", host, "\r\nConnection: close\r\n\r\n");
  ResponseHead answer;
  if ((*connection)->Send(request, "")) {
    // The body only repeats the status for people.
    ReadHttpAnswer(**connection, answer,
                   [](const ResponseHead&, absl::string_view) { return false; });
  }
  if (answer.status == 200) return absl::OkStatus();
  if (answer.status != 0) return Failed(target, absl::StrCat("status ", answer.status));
  return Failed(target, endpoint.is_tls
                            ? "no answer (with --tls-client-ca this check needs an address "
                              "unix:PATH in --listen)"
                            : "no answer");
}

}  // namespace callslip::gateway
