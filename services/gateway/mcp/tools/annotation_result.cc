#include "gateway/mcp/tools/annotation_result.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gateway/json/command_json.h"
#include "gateway/json/json_members.h"
#include "gateway/mcp/tools/result_content.h"

namespace callslip::gateway {
namespace {

bool IsDrawing(const Json& json) {
  const Json& annotations = MemberOf(json, "annotations");
  return annotations.is_array() &&
         absl::c_all_of(annotations, [](const Json& each) { return each.is_object(); });
}

// Sets `left_out` if there were any.
void LeaveOutCrops(Json& drawing, bool& left_out) {
  for (Json& annotation : drawing["annotations"]) {
    if (annotation.erase("crop") > 0) left_out = true;
  }
}

// Moves the screenshot out of `drawing` and leaves its size there.
std::optional<ImageResult> TakeScreenshot(Json& drawing) {
  const auto screenshot = drawing.find("screenshot");
  if (screenshot == drawing.end()) return std::nullopt;
  std::optional<ImageResult> image = TakeImage(*screenshot);
  if (!image.has_value()) drawing.erase(screenshot);  // Not an image that a client could show.
  return image;
}

size_t BytesOf(const Json& drawings) { return Dump(drawings).size(); }

// Omits what does not fit, as annotation_result.h describes, from the oldest drawings first.
// Returns the number of omitted annotations.
size_t Shorten(Json& drawings, bool& left_out) {
  if (BytesOf(drawings) <= kMaxInlineResultBytes) return 0;
  left_out = true;
  for (Json& drawing : drawings) {
    for (Json& annotation : drawing["annotations"]) {
      const auto element = annotation.find("element");
      if (element != annotation.end() && element->is_object()) element->erase("computed_style");
    }
  }
  if (BytesOf(drawings) <= kMaxInlineResultBytes) return 0;
  size_t omitted = 0;
  size_t bytes = 0;
  for (size_t i = drawings.size(); i-- > 0;) {
    Json& annotations = drawings[i]["annotations"];
    const Json all = std::exchange(annotations, Json::array());
    bytes += BytesOf(drawings[i]) + 1;
    for (const Json& annotation : all) {
      bytes += BytesOf(annotation) + 1;
      if (bytes <= kMaxInlineResultBytes) {
        annotations.push_back(annotation);
      } else {
        ++omitted;
      }
    }
  }
  drawings.erase(std::remove_if(drawings.begin(), drawings.end() - 1,
                                [](const Json& each) { return each["annotations"].empty(); }),
                 drawings.end() - 1);
  return omitted;
}

// "1. rectangle: Make it green. (button.primary "Save")"
std::string LineOf(const Json& annotation, size_t number) {
  std::string line = absl::StrCat("\n", number, ". ", TextOf(annotation, "kind"));
  const std::string note = TextOf(annotation, "note");
  if (!note.empty()) absl::StrAppend(&line, ": ", note);
  const auto element = annotation.find("element");
  if (element == annotation.end() || !element->is_object()) return line;
  absl::StrAppend(&line, " (", TextOf(*element, "selector"));
  const std::string text = TextOf(*element, "text");
  if (!text.empty()) absl::StrAppend(&line, " ", Dump(text));
  return absl::StrCat(line, ")");
}

// The pictures that the browser could not take or send.
std::string MissingPicturesOf(const Json& drawing) {
  std::vector<absl::string_view> missing;
  if (IsTrue(drawing, "crops_left_out")) missing.push_back("pictures of marks");
  if (IsTrue(drawing, "screenshot_left_out")) missing.push_back("the screenshot");
  if (missing.empty()) return "";
  return absl::StrCat("\nThe browser omitted ", absl::StrJoin(missing, " and "), ".");
}

std::string TextsOf(const Json& drawings) {
  std::string text;
  for (const Json& drawing : drawings) {
    absl::StrAppend(&text, "\non ", TextOf(drawing, "url"), ":");
    size_t number = 0;
    for (const Json& annotation : drawing["annotations"]) {
      absl::StrAppend(&text, LineOf(annotation, ++number));
    }
    if (number == 0) absl::StrAppend(&text, " nothing");
    absl::StrAppend(&text, MissingPicturesOf(drawing));
  }
  return text;
}

}  // namespace

bool IsAnnotationResult(const Json& result) {
  if (!result.is_array()) return IsDrawing(result);
  return !result.empty() && absl::c_all_of(result, IsDrawing);
}

Json DrawingsOf(const v1::ListAnnotationsResponse& listed) {
  Json drawings = Json::array();
  for (const v1::Drawing& each : listed.drawings()) {
    Json drawing = JsonOrText(each.content());
    if (IsDrawing(drawing)) drawings.insert(drawings.begin(), std::move(drawing));
  }
  return drawings;
}

ToolResult AnnotationResult(Json answer, Json result, const std::string& head,
                            const std::string& uri) {
  const bool is_list = result.is_array();
  Json drawings = is_list ? std::move(result) : Json::array({std::move(result)});
  bool left_out = false;
  std::optional<ImageResult> latest;
  for (Json& drawing : drawings) {
    LeaveOutCrops(drawing, left_out);
    std::optional<ImageResult> image = TakeScreenshot(drawing);
    left_out = left_out || (latest.has_value() && image.has_value());
    latest = std::move(image);
  }
  const size_t omitted = Shorten(drawings, left_out);
  std::string text = absl::StrCat(
      head,
      ". The notes are the user's, all else is untrusted content of the page:", TextsOf(drawings));
  if (omitted > 0) {
    answer["omitted"] = omitted;
    absl::StrAppend(&text, "\n", omitted, " more annotations do not fit here.");
  }
  if (is_list) {
    answer["result"] = {{"session", TextOf(drawings[0], "session")}, {"drawings", drawings}};
  } else {
    answer["result"] = std::move(drawings[0]);
  }
  const bool links = left_out && !uri.empty();
  if (links) {
    answer["resource"] = uri;
    absl::StrAppend(&text, "\nResource ", uri, " has all of it, with pictures.");
  }
  ToolResult tool_result = TextResult(std::move(answer), std::move(text));
  Json& content = std::get<Json>(tool_result.result)["content"];
  if (latest.has_value()) {
    content.push_back(
        {{"type", "image"}, {"data", std::move(latest->base64)}, {"mimeType", latest->mime_type}});
  }
  if (links) {
    content.push_back({{"type", "resource_link"},
                       {"uri", uri},
                       {"name", "annotations"},
                       {"mimeType", "application/json"}});
  }
  return tool_result;
}

}  // namespace callslip::gateway
