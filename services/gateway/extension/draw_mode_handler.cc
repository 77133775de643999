#include <string>
#include <utility>

#include "gateway/extension/draw_mode.h"
#include "gateway/extension/extension_handlers.h"
#include "gateway/http/error_response.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

boost::asio::awaitable<HttpResponse> HandleDrawMode(TrackerClient* tracker,
                                                    std::shared_ptr<const HttpRequest> request) {
  absl::StatusOr<v1::AppendAnnotationsRequest> drawing = ParseDrawing(request->body);
  if (!drawing.ok()) co_return ErrorResponse(drawing.status());
  std::string any_name;
  const absl::Status held =
      EnforceScope(request->principal, *drawing->mutable_drawing()->mutable_target(), any_name);
  if (!held.ok()) co_return ErrorResponse(held);
  const auto appended = co_await tracker->Call(*std::move(drawing));
  if (!appended.ok()) co_return ErrorResponse(appended.status());
  Json answer = {{"status", "ok"}, {"completed", Json::array()}, {"stored", appended->stored()}};
  for (const std::string& id : appended->completed_command_ids()) answer["completed"].push_back(id);
  co_return HttpResponse{.body = Dump(answer)};
}

}  // namespace callslip::gateway
