#pragma once

#include <string>

namespace callslip::gateway {

// A request of `client` about one of its sessions.
template <typename Request>
Request RequestAbout(const std::string& client, const std::string& session_id) {
  Request request;
  request.set_client_id(client);
  request.set_session_id(session_id);
  return request;
}

}  // namespace callslip::gateway
