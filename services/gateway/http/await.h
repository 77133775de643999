#ifndef CALLSLIP_GATEWAY_HTTP_AWAIT_H_
#define CALLSLIP_GATEWAY_HTTP_AWAIT_H_

#include "boost/asio/as_tuple.hpp"
#include "boost/asio/use_awaitable.hpp"

namespace callslip::gateway {

// Completion token for an awaited Asio operation: it returns its error next to its result, as a
// tuple, instead of throwing it.
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_AWAIT_H_
