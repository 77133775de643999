#ifndef CALLSLIP_RPC_CLIENT_MESSAGE_STREAM_H_
#define CALLSLIP_RPC_CLIENT_MESSAGE_STREAM_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "google/protobuf/message.h"

namespace callslip {

// Where the messages of a call come from, of whatever type. Its destruction ends the call.
class MessageSource {
 public:
  virtual ~MessageSource() = default;

  // Whether there is a next message, which then is in `message`. As MessageStream::Next().
  virtual boost::asio::awaitable<absl::StatusOr<bool>> Next(google::protobuf::Message* message) = 0;
};

// The messages of a call as they come. Its destruction ends the call. Used on the executor of the
// coroutines.
template <typename Message>
class MessageStream {
 public:
  explicit MessageStream(std::unique_ptr<MessageSource> source) : source_(std::move(source)) {}

  // The next message, however long that takes; nullopt where the other side has ended the call with
  // OK, else its error. A message is fetched when the one before it was taken, so that whoever
  // reads slowly slows the sender down. One call at a time.
  boost::asio::awaitable<absl::StatusOr<std::optional<Message>>> Next() {
    std::optional<Message> message(std::in_place);
    const absl::StatusOr<bool> is_there = co_await source_->Next(&*message);
    if (!is_there.ok()) co_return is_there.status();
    if (!*is_there) message.reset();
    co_return std::move(message);
  }

 private:
  const std::unique_ptr<MessageSource> source_;
};

}  // namespace callslip

#endif  // CALLSLIP_RPC_CLIENT_MESSAGE_STREAM_H_
