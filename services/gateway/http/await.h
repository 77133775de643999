#ifndef CALLSLIP_GATEWAY_HTTP_AWAIT_H_
#define CALLSLIP_GATEWAY_HTTP_AWAIT_H_

#include "boost/asio/as_tuple.hpp"
#include "boost/asio/use_awaitable.hpp"

namespace callslip::gateway {

// Passed to an operation of Asio that is awaited: it returns its error beside its result, as a
// tuple, and does not throw it.
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_AWAIT_H_
