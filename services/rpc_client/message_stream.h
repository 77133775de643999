#ifndef CALLSLIP_RPC_CLIENT_MESSAGE_STREAM_H_
#define CALLSLIP_RPC_CLIENT_MESSAGE_STREAM_H_

#include <optional>

#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"

namespace callslip {

// The messages of a call as they come. Its destruction ends the call. Used on the executor of the
// coroutines.
template <typename Message>
class MessageStream {
 public:
  virtual ~MessageStream() = default;

  // The next message, however long that takes; nullopt where the other side has ended the call with
  // OK, else its error. A message is fetched when the one before it was taken, so that whoever
  // reads slowly slows the sender down. One call at a time.
  virtual boost::asio::awaitable<absl::StatusOr<std::optional<Message>>> Next() = 0;
};

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_MESSAGE_STREAM_H_
