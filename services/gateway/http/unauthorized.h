#ifndef CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_
#define CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_

#include "absl/time/time.h"
#include "gateway/http/http_message.h"

// The answers to callers who have not shown who they are: 401, with WWW-Authenticate.
namespace callslip::gateway {

// 401 `token_missing`.
HttpResponse TokenMissing(bool is_web_socket);

// 401 `token_unknown`, also for a token that was withdrawn while it was used.
HttpResponse TokenUnknown();

// 401 `signature_malformed`, and `signature_wrong` for one that is not of this request.
HttpResponse SignatureMalformed();
HttpResponse SignatureWrong();

// 401 `signature_stale`: the client's clock is off. The body has ours, `server_time_ms` since 1970.
HttpResponse SignatureStale(absl::Time now);

// 401 `signature_replayed`.
HttpResponse SignatureReplayed();

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_
