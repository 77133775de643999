// Images of sessions, which have bodies other than JSON.
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "gateway/api/forward.h"
#include "gateway/api/session_api.h"
#include "gateway/tracker_client/request_about.h"

namespace callslip::gateway {
namespace {

// Returns a literal, which responses require. Any other type is sent as octet-stream.
absl::string_view ContentTypeOf(const std::string& mime_type) {
  static constexpr absl::string_view kTypes[] = {"image/png", "image/jpeg", "image/gif",
                                                 "image/webp"};
  const auto* found = absl::c_find(kTypes, mime_type);
  return found == std::end(kTypes) ? "application/octet-stream" : *found;
}

}  // namespace

SessionApi::Answer SessionApi::PutImage(Request request) const {
  auto put =
      RequestAbout<v1::PutImageRequest>(OnBehalfOf(request->principal), request->Parameter("id"));
  put.set_name(request->Query("name"));
  put.set_data(request->body);
  const std::shared_ptr<void> place = LeaveBody(request);
  const auto image = co_await sessions_->Call(std::move(put));
  if (!image.ok()) co_return ErrorResponse(image.status());
  co_return HttpResponse{.status = 201, .body = Dump(ToJson(*image))};
}

SessionApi::Answer SessionApi::GetImage(Request request) const {
  const absl::StatusOr<v1::GetImageRequest> get = RequestOf<v1::GetImageRequest>(*request);
  if (!get.ok()) co_return ErrorResponse(get.status());
  auto image = co_await sessions_->Call(*get);
  if (!image.ok()) co_return ErrorResponse(image.status());
  HttpResponse answer;
  answer.body = std::move(*image->mutable_data());
  answer.content_type = ContentTypeOf(image->image().mime_type());
  answer.headers = {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "private"}};
  co_return answer;
}

}  // namespace callslip::gateway
