#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "gateway/extension/extension_handlers.h"
#include "gateway/http/error_response.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

boost::asio::awaitable<HttpResponse> HandleFile(FileStore* files,
                                                std::shared_ptr<const HttpRequest> request) {
  const std::string& text = request->Query("offset");
  int64_t offset = 0;
  if (!text.empty() && !absl::SimpleAtoi(text, &offset)) {
    co_return ErrorResponse(400, "invalid_field", "offset must be a number of bytes.",
                            "Leave it out for the beginning of the file.");
  }
  const auto part = files->Read(request->Parameter("id"), offset);
  if (!part.ok()) co_return ErrorResponse(part.status());
  HttpResponse answer{
      .body = Dump({{"base64", absl::Base64Escape(part->bytes)}, {"size", part->size}})};
  answer.headers = {{"Cache-Control", "no-store"}};
  co_return answer;
}

}  // namespace callslip::gateway
