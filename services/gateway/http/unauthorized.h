#ifndef CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_
#define CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_

#include "gateway/http/http_message.h"

// The answers to callers who have not shown who they are: 401, with WWW-Authenticate.
namespace callslip::gateway {

// 401 `token_missing`.
HttpResponse TokenMissing(bool is_web_socket);

// 401 `token_unknown`, also for a token that was withdrawn while it was used.
HttpResponse TokenUnknown();

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_UNAUTHORIZED_H_
