#include "runner/acp/peer.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace callslip::runner {

Peer::Peer(Listener* listener, std::function<void(std::string)> write)
    : listener_(listener), open_(std::make_shared<Open>()) {
  open_->write = std::move(write);
}

bool Peer::Feed(absl::string_view bytes) {
  return lines_.Feed(bytes, [this](absl::string_view line) { Take(line); });
}

void Peer::Take(absl::string_view line) {
  if (open_->write == nullptr) return;
  std::optional<Message> message = ParseMessage(line);
  if (!message.has_value()) return listener_->OnNoise(line);
  switch (message->kind) {
    case Message::Kind::kRequest: return TakeRequest(*message);
    case Message::Kind::kNotification:
      return listener_->OnNotification(message->method, message->params);
    case Message::Kind::kResponse: return TakeResponse(*std::move(message), line);
    case Message::Kind::kUnreadable:
      listener_->OnNoise(line);
      return open_->write(FormatError(message->id, *message->error));
  }
}

void Peer::TakeRequest(const Message& message) {
  if (open_->requests >= kMaxOpenRequests) {
    return open_->write(FormatError(
        message.id, {.message = "too many requests are open; answer some of them first"}));
  }
  ++open_->requests;
  const auto respond = [open = open_, id = message.id,
                        answered = std::make_shared<bool>(false)](RpcAnswer answer) {
    if (std::exchange(*answered, true) || open->write == nullptr) return;
    --open->requests;
    if (auto* error = std::get_if<RpcError>(&answer)) {
      open->write(FormatError(id, *error));
    } else {
      open->write(FormatResult(id, std::get<Json>(std::move(answer))));
    }
  };
  listener_->OnRequest(message.id, message.method, message.params, respond);
}

void Peer::TakeResponse(Message message, absl::string_view line) {
  // Compares as numbers, because an agent may write 3 as 3.0; some write "3".
  const auto found = absl::c_find_if(waiting_, [&message](const auto& request) {
    return message.id == Json(request.first) || message.id == Json(absl::StrCat(request.first));
  });
  if (found == waiting_.end()) {
    listener_->OnNoise(line);
    // The agent could not read a line, and does not know whose answer this is.
    if (message.id.is_null() && message.error.has_value()) FailWaiting(*message.error);
    return;
  }
  const std::function<void(RpcAnswer)> done = std::move(found->second);
  waiting_.erase(found);
  if (message.error.has_value()) return done(*std::move(message.error));
  done(std::move(message.result));
}

void Peer::Request(absl::string_view method, Json params, std::function<void(RpcAnswer)> done) {
  if (open_->write == nullptr) return done(RpcError{.message = "the conversation is over"});
  const int64_t id = ++last_id_;
  waiting_.emplace(id, std::move(done));
  open_->write(FormatRequest(id, method, std::move(params)));
}

void Peer::Notify(absl::string_view method, Json params) {
  if (open_->write != nullptr) open_->write(FormatNotification(method, std::move(params)));
}

void Peer::Close(const RpcError& error) {
  open_->write = nullptr;
  FailWaiting(error);
}

void Peer::FailWaiting(const RpcError& error) {
  for (const auto& [id, done] : std::exchange(waiting_, {})) done(error);
}

}  // namespace callslip::runner
