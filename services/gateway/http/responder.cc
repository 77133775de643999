#include "gateway/http/responder.h"

#include <exception>
#include <utility>

#include "boost/asio/bind_cancellation_slot.hpp"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/error.hpp"
#include "boost/system/system_error.hpp"
#include "common/log.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {

namespace asio = boost::asio;

RespondingHandler Spawning(HttpHandler handler) {
  return [handler = std::move(handler)](std::shared_ptr<HttpRequest> request, Responder responder) {
    RespondWith(handler(std::move(request)), std::move(responder));
  };
}

void RespondWith(asio::awaitable<HttpResponse> answer, Responder responder) {
  auto ended = [respond = std::move(responder.respond)](const std::exception_ptr& failure,
                                                        HttpResponse response) mutable {
    try {
      if (failure != nullptr) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      response = HandlerFailure(error);
    }
    std::move(respond)(std::move(response));
  };
  asio::co_spawn(responder.executor, std::move(answer),
                 asio::bind_cancellation_slot(responder.peer_left, std::move(ended)));
}

HttpResponse HandlerFailure(const std::exception& error) {
  // An operation is aborted only when the peer has left.
  const auto* aborted = dynamic_cast<const boost::system::system_error*>(&error);
  if (aborted == nullptr || aborted->code() != asio::error::operation_aborted) {
    Log(LogLevel::kError, "handler failed", {{"error", error.what()}});
  }
  return ErrorResponse(500, "internal", "The gateway failed to answer this request.",
                       "Please report it with the gateway's log.");
}

}  // namespace callslip::gateway
