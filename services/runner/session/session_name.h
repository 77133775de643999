#pragma once

#include <cstdint>
#include <string>

namespace callslip::runner {

// Identifies a session, its owner, and the lease by which this runner has it.
struct SessionName {
  std::string client_id;
  std::string session_id;
  int64_t lease = 0;
};

// A request about the session, with its lease if the request type has that field.
template <typename Request>
Request RequestAbout(const SessionName& session) {
  Request request;
  request.set_client_id(session.client_id);
  request.set_session_id(session.session_id);
  if constexpr (requires { request.set_lease(0); }) request.set_lease(session.lease);
  return request;
}

}  // namespace callslip::runner
