#include "gateway/mcp/tools/result_content.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace callslip::gateway {
namespace {

Json TextContent(std::string text) {
  Json content;
  content["type"] = "text";
  content["text"] = std::move(text);
  return content;
}

// "image/" and a short name, such as image/svg+xml.
bool IsImageType(absl::string_view type) {
  return absl::StartsWith(type, "image/") && type.size() <= 64 &&
         absl::c_all_of(type, [](char c) { return absl::ascii_isgraph(c); });
}

// With padding, which clients require.
bool IsBase64(absl::string_view text) {
  if (text.size() % 4 != 0) return false;
  if (absl::EndsWith(text, "=")) text.remove_suffix(absl::EndsWith(text, "==") ? 2 : 1);
  return absl::c_all_of(text,
                        [](char c) { return absl::ascii_isalnum(c) || c == '+' || c == '/'; });
}

}  // namespace

ToolResult TextResult(Json structured, std::string text, bool is_error) {
  Json result;
  result["content"].push_back(TextContent(std::move(text)));
  result["structuredContent"] = std::move(structured);
  if (is_error) result["isError"] = true;
  return {.result = std::move(result)};
}

std::optional<ImageResult> TakeImage(Json& result) {
  if (!result.is_object()) return std::nullopt;
  const auto data = result.find("data");
  Json& image = data != result.end() && data->is_object() ? *data : result;
  const auto type = image.find("mime_type");
  const auto base64 = image.find("base64");
  const bool is_image = type != image.end() && type->is_string() && base64 != image.end() &&
                        base64->is_string() && IsImageType(type->get_ref<const std::string&>()) &&
                        IsBase64(base64->get_ref<const std::string&>());
  if (!is_image) return std::nullopt;
  ImageResult taken{.mime_type = type->get<std::string>(),
                    .base64 = std::move(base64->get_ref<std::string&>())};
  image.erase("base64");
  image["bytes"] = taken.base64.size() / 4 * 3;
  return taken;
}

}  // namespace callslip::gateway
