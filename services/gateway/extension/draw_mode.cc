#include "gateway/extension/draw_mode.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/text_scan.h"
#include "gateway/json/json_members.h"

namespace callslip::gateway {
namespace {

// The largest result that the tracker accepts: a screenshot of a page, and some of its parts.
constexpr size_t kMaxBodyBytes = size_t{8} << 20;
// More than any user draws on one page.
constexpr size_t kMaxAnnotations = 100;
constexpr size_t kMaxCorrelationIds = 100;
// Limits of use to a model. Longer notes and selectors are truncated.
constexpr size_t kMaxTextBytes = 2000;
constexpr size_t kMaxNameBytes = 128;
constexpr size_t kMaxStyles = 100;
constexpr size_t kMaxStyleBytes = 200;

// Copies the known members of one object of the body into another, and remembers the first error.
// Absent and null are the same.
class Reader {
 public:
  Reader(const Json& from, std::string path, absl::Status* status)
      : from_(from), path_(std::move(path)), status_(status) {
    if (!from.is_object()) Fail("", "must be an object");
  }

  // The member, or null if there is none.
  const Json* Find(const char* name) const {
    const Json& member = MemberOf(from_, name);
    return member.is_null() ? nullptr : &member;
  }

  void Text(const char* name, size_t max_bytes = kMaxTextBytes) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return Fail(name, "must be a string");
    to[name] = std::string(CutText(value->get_ref<const std::string&>(), max_bytes));
  }

  void Numbers(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const Json* value = Find(name);
      if (value == nullptr) continue;
      if (!value->is_number()) return Fail(name, "must be a number");
      to[name] = *value;
    }
  }

  // A member that is omitted if it is false.
  void Flag(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) return Fail(name, "must be a boolean");
    if (value->get<bool>()) to[name] = true;
  }

  // A member that is an object; `read` reads its members.
  template <typename Read>
  void Object(const char* name, Read read) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    Reader reader(*value, PathOf(name), status_);
    read(reader);
    to[name] = std::move(reader.to);
  }
  void Point(const char* name) {
    Object(name, [](Reader& point) { point.Numbers({"x", "y"}); });
  }
  void Rectangle(const char* name) {
    Object(name, [](Reader& rect) { rect.Numbers({"x", "y", "width", "height"}); });
  }
  void Image(const char* name) {
    Object(name, [](Reader& image) {
      image.Text("mime_type", kMaxNameBytes);
      image.Text("base64", kMaxBodyBytes);
    });
  }

  void Fail(const char* name, absl::string_view problem) {
    if (!status_->ok()) return;
    *status_ = BadField("invalid_field", absl::StrCat(PathOf(name), " ", problem, "."), "");
  }
  std::string PathOf(const char* name) const {
    if (*name == '\0') return path_.empty() ? "The body" : path_;
    return path_.empty() ? name : absl::StrCat(path_, ".", name);
  }

  Json to = Json::object();

 private:
  const Json& from_;
  const std::string path_;
  absl::Status* const status_;
};

void ReadStyles(Reader& element) {
  const Json* styles = element.Find("computed_style");
  if (styles == nullptr) return;
  if (!styles->is_object()) return element.Fail("computed_style", "must be an object");
  Json& kept = element.to["computed_style"] = Json::object();
  for (const auto& [name, value] : styles->items()) {
    if (kept.size() == kMaxStyles) break;
    if (!value.is_string() || name.size() > kMaxNameBytes) continue;
    kept[name] = std::string(CutText(value.get_ref<const std::string&>(), kMaxStyleBytes));
  }
}

Json AnnotationFrom(const Json& json, size_t index, absl::Status* status) {
  Reader annotation(json, absl::StrCat("annotations[", index, "]"), status);
  annotation.Text("id", kMaxNameBytes);
  annotation.Text("kind", kMaxNameBytes);
  // Newer extensions may have more kinds: a user's drawing is not refused because of them.
  if (annotation.to.value("kind", "").empty()) annotation.Fail("kind", "is required");
  annotation.Text("note");
  annotation.Rectangle("rect");
  annotation.Point("from");
  annotation.Point("to");
  annotation.Object("element", [](Reader& element) {
    element.Text("selector");
    element.Text("tag", kMaxNameBytes);
    element.Text("text");
    ReadStyles(element);
    element.Rectangle("bounds");
  });
  annotation.Image("crop");
  return std::move(annotation.to);
}

void ReadAnnotations(Reader& body, absl::Status* status) {
  const Json* annotations = body.Find("annotations");
  if (annotations == nullptr || !annotations->is_array()) {
    return body.Fail("annotations", "must be an array, which may be empty");
  }
  if (annotations->size() > kMaxAnnotations) {
    return body.Fail("annotations", absl::StrCat("has ", annotations->size(), " entries, at most ",
                                                 kMaxAnnotations, " are accepted"));
  }
  Json& kept = body.to["annotations"] = Json::array();
  for (const Json& each : *annotations) kept.push_back(AnnotationFrom(each, kept.size(), status));
}

int64_t TabIdFrom(Reader& body) {
  const Json* tab_id = body.Find("tab_id");
  const bool fits = tab_id != nullptr && tab_id->is_number_integer() &&
                    tab_id->get<double>() >= 0 && tab_id->get<double>() <= INT32_MAX;
  if (!fits) {
    body.Fail("tab_id", "must be the id of a tab");
    return 0;
  }
  body.to["tab_id"] = *tab_id;
  return tab_id->get<int64_t>();
}

// Combines `correlation_id` and `correlation_ids`.
void ReadCorrelationIds(Reader& body, v1::AppendAnnotationsRequest& request) {
  const auto add = [&](const char* field, const Json& id) {
    if (!id.is_string()) return body.Fail(field, "must be text");
    if (absl::c_linear_search(request.command_ids(), id.get_ref<const std::string&>())) return;
    request.add_command_ids(id.get<std::string>());
  };
  if (const Json* id = body.Find("correlation_id"); id != nullptr) add("correlation_id", *id);
  const Json* ids = body.Find("correlation_ids");
  if (ids == nullptr) return;
  if (!ids->is_array()) return body.Fail("correlation_ids", "must be an array");
  for (const Json& id : *ids) {
    if (static_cast<size_t>(request.command_ids_size()) > kMaxCorrelationIds) break;
    add("correlation_ids", id);
  }
  if (static_cast<size_t>(request.command_ids_size()) > kMaxCorrelationIds) {
    body.Fail("correlation_ids", absl::StrCat("has more than ", kMaxCorrelationIds, " entries"));
  }
}

}  // namespace

absl::StatusOr<v1::AppendAnnotationsRequest> ParseDrawing(const std::string& body) {
  if (body.size() > kMaxBodyBytes) {
    return BadField("drawing_too_large",
                    absl::StrCat("The body has ", body.size(), " bytes, at most ", kMaxBodyBytes,
                                 " are accepted."),
                    "Leave out its images, or make them smaller.");
  }
  ASSIGN_OR_RETURN(const Json json, ParseObject(body));
  absl::Status status;
  v1::AppendAnnotationsRequest request;
  v1::Drawing& drawing = *request.mutable_drawing();
  Reader reader(json, "", &status);
  drawing.set_tab_id(TabIdFrom(reader));
  reader.Text("url");
  reader.Text("title");
  // Not truncated, because a truncated name would be another name; the tracker refuses names that
  // are too long.
  reader.Text("session", body.size());
  ReadAnnotations(reader, &status);
  reader.Object("viewport", [](Reader& viewport) {
    viewport.Numbers({"width", "height", "scroll_x", "scroll_y", "device_pixel_ratio"});
  });
  reader.Image("screenshot");
  reader.Flag("crops_left_out");
  reader.Flag("screenshot_left_out");
  ReadCorrelationIds(reader, request);
  Json content = std::move(reader.to);
  if (content.value("session", "").empty()) content.erase("session");
  reader.to = Json::object();
  reader.Text("target", body.size());
  reader.Text("drawing_id", body.size());
  RETURN_IF_ERROR(status);
  request.set_drawing_id(reader.to.value("drawing_id", ""));
  drawing.set_target(reader.to.value("target", ""));
  drawing.set_url(content.value("url", ""));
  drawing.set_title(content.value("title", ""));
  drawing.set_session(content.value("session", ""));
  drawing.set_content(Dump(content));
  return request;
}

}  // namespace callslip::gateway
