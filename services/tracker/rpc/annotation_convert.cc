#include "tracker/rpc/annotation_convert.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "common/text_scan.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tracker/domain/errors.h"
#include "tracker/rpc/time_convert.h"
#include "tracker/storage/json.h"

namespace callslip::tracker {
namespace {

template <typename Request>
AnnotationQuery QueryOf(const Request& request) {
  AnnotationQuery query{.target = request.target(), .session = request.session()};
  if (request.has_tab_id()) query.tab_id = request.tab_id();
  return query;
}

// The requested tab and session, as the params of the command.
Payload ParamsOf(const v1::RequestAnnotationsRequest& request) {
  google::protobuf::Struct params;
  auto& fields = *params.mutable_fields();
  if (request.has_tab_id()) {
    fields["tab_id"].set_number_value(static_cast<double>(request.tab_id()));
  }
  if (!request.session().empty()) fields["session"].set_string_value(request.session());
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(params, &json);
  return std::make_shared<const std::string>(std::move(json));
}

// The limit of all its readers.
constexpr int kMaxDrawingDepth = 64;

// Normalizes a drawing for storage: serializes it anew, without parts that its readers would
// refuse, such as half a character or duplicate members. Nullopt if it is not a drawing. The other
// members of a drawing and of its annotations are known only to its worker and its readers.
std::optional<std::string> DrawingContent(const std::string& content) {
  std::string mended;
  const absl::string_view text = MendJson(content, mended);
  const std::optional<Json> json = ParseJson(text, kMaxDrawingDepth);
  if (!json.has_value()) return std::nullopt;
  const Json& annotations = MemberOf(*json, "annotations");
  const bool is_drawing =
      annotations.is_array() &&
      absl::c_all_of(annotations, [](const Json& each) { return each.is_object(); });
  if (!is_drawing) return std::nullopt;
  return Dump(FileJson::parse(text.begin(), text.end()));
}

}  // namespace

AnnotationRequest RequestFrom(const CallContext& caller,
                              const v1::RequestAnnotationsRequest& request) {
  return {.client_id = caller.client_id,
          .query = QueryOf(request),
          .params = ParamsOf(request),
          .request_id = request.request_id(),
          .label = request.label()};
}

AnnotationQuery QueryFrom(const v1::ListAnnotationsRequest& request) { return QueryOf(request); }

absl::StatusOr<Drawing> DrawingFrom(const v1::Drawing& drawing) {
  std::string content = drawing.content();
  // A missing drawing is reported elsewhere, and one that is too large is refused by its size.
  if (!content.empty() && content.size() <= kMaxDrawingBytes) {
    std::optional<std::string> kept = DrawingContent(content);
    if (!kept.has_value()) {
      return InvalidField(
          "drawing.content",
          "is not a JSON object with a member `annotations`, an array of objects, or nests too "
          "deep");
    }
    content = *std::move(kept);
  }
  return Drawing{.target = drawing.target(),
                 .tab_id = drawing.tab_id(),
                 .url = drawing.url(),
                 .title = drawing.title(),
                 .session = drawing.session(),
                 .content = std::make_shared<const std::string>(std::move(content))};
}

void Fill(const Drawing& drawing, v1::Drawing& message) {
  message.set_sequence(static_cast<int64_t>(drawing.sequence));
  message.set_target(drawing.target);
  message.set_tab_id(drawing.tab_id);
  message.set_url(drawing.url);
  message.set_title(drawing.title);
  message.set_session(drawing.session);
  message.set_content(*drawing.content);
  Set(drawing.append_time, *message.mutable_append_time());
}

}  // namespace callslip::tracker
