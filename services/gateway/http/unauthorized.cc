#include "gateway/http/unauthorized.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gateway/http/error_response.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {
namespace {

HttpResponse Unauthorized(absl::string_view code, absl::string_view message, absl::string_view hint,
                          std::string challenge) {
  HttpResponse response = ErrorResponse(401, code, message, hint);
  response.headers.emplace_back("WWW-Authenticate", std::move(challenge));
  return response;
}

HttpResponse SignatureRefused(absl::string_view code, absl::string_view message,
                              absl::string_view hint) {
  return Unauthorized(code, message, hint, absl::StrCat("Callslip-HMAC error=\"", code, "\""));
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

HttpResponse SignatureMalformed() {
  return SignatureRefused("signature_malformed", "The signature cannot be read.",
                          "Send Authorization: Callslip-HMAC key=\"…\", time=\"…\", nonce=\"…\", "
                          "mac=\"…\", with 12, up to 15, 32 and 64 digits.");
}

HttpResponse SignatureWrong() {
  return SignatureRefused("signature_wrong",
                          "The signature is not one of this request with this token.",
                          "Sign the method, Host, path and query, time, nonce and body as they are "
                          "sent; whatever stands between must not change them.");
}

HttpResponse SignatureStale(absl::Time now) {
  HttpResponse response = SignatureRefused(
      "signature_stale", "The time of the signature is too far from the gateway's.",
      "Sign again with server_time_ms, if this answer is proven, and correct the clock.");
  Json body = Json::parse(response.body);
  body["server_time_ms"] = absl::ToUnixMillis(now);
  response.body = Dump(body);
  return response;
}

HttpResponse SignatureReplayed() {
  return SignatureRefused("signature_replayed", "A request with this nonce was taken before.",
                          "Make a new nonce for each request.");
}

}  // namespace callslip::gateway
