#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "google/protobuf/message.h"

namespace callslip {

// A source of a call's messages, of any type. Its destruction ends the call.
class MessageSource {
 public:
  virtual ~MessageSource() = default;

  // Stores the next message in `message`; false if there is none. As MessageStream::Next().
  virtual boost::asio::awaitable<absl::StatusOr<bool>> Next(google::protobuf::Message* message) = 0;
};

// The messages of a call as they arrive. Its destruction ends the call. Used on the executor of the
// coroutines.
template <typename Message>
class MessageStream {
 public:
  explicit MessageStream(std::unique_ptr<MessageSource> source) : source_(std::move(source)) {}

  // Waits for the next message, without a timeout. Nullopt if the server has ended the call with
  // OK, else its error. A message is fetched only after the one before it was taken, so that a slow
  // reader slows the sender down. One call at a time.
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
