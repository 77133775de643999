#include "gateway/http/unauthorized.h"

#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

HttpResponse Unauthorized(absl::string_view code, absl::string_view message, absl::string_view hint,
                          const char* challenge) {
  HttpResponse response = ErrorResponse(401, code, message, hint);
  response.headers.emplace_back("WWW-Authenticate", challenge);
  return response;
}

}  // namespace

HttpResponse TokenMissing(bool is_web_socket) {
  return Unauthorized("token_missing", "The request carries no token.",
                      is_web_socket
                          ? "Offer the protocols callslip.v1 and callslip.bearer.TOKEN, "
                            "or send Authorization: Bearer TOKEN, with a token of the gateway's "
                            "--token-file."
                          : "Send Authorization: Bearer TOKEN, with a token of the gateway's "
                            "--token-file.",
                      "Bearer");
}

HttpResponse TokenUnknown() {
  return Unauthorized("token_unknown", "The gateway does not know this token, or not any more.",
                      "Take one from the gateway's --token-file.",
                      "Bearer error=\"invalid_token\"");
}

}  // namespace callslip::gateway
