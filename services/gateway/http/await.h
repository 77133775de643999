#pragma once

#include "boost/asio/as_tuple.hpp"
#include "boost/asio/use_awaitable.hpp"

namespace callslip::gateway {

// Completion token for an awaited Asio operation: it returns its error next to its result, as a
// tuple, instead of throwing it.
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace callslip::gateway
