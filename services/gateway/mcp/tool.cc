#include "gateway/mcp/tool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gateway/json/tracker_error.h"
#include "gateway/mcp/interact_tool.h"
#include "gateway/mcp/observe_tool.h"

namespace callslip::gateway {

Json ToolResult::ToMcp() && {
  // Twice the same megabytes, once of them escaped, would not fit through a stdio client's line.
  constexpr size_t kMaxTextBytes = 256 << 10;
  std::string text = Dump(answer);
  if (text.size() > kMaxTextBytes) {
    text = absl::StrCat("The answer has ", text.size(), " bytes: see structuredContent.");
  }
  Json result;
  result["content"] = Json::array({{{"type", "text"}, {"text", std::move(text)}}});
  result["structuredContent"] = std::move(answer);
  if (is_error) result["isError"] = true;
  return result;
}

ToolResult ErrorResult(const absl::Status& status, Executed executed) {
  const TrackerError error = TrackerErrorOf(status);
  Json answer = {
      {"status", "error"}, {"final", true}, {"error", error.reason}, {"message", error.message}};
  if (!error.hint.empty()) answer["hint"] = error.hint;
  if (error.retry_after.has_value()) {
    answer["retry_after_ms"] = absl::ToInt64Milliseconds(*error.retry_after);
  }
  answer["may_have_executed"] = executed == Executed::kPerhaps;
  return {std::move(answer), /*is_error=*/true};
}

std::vector<std::unique_ptr<Tool>> MakeTools(TrackerClient* tracker) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<InteractTool>(tracker));
  tools.push_back(std::make_unique<ObserveTool>(tracker));
  tools.push_back(std::make_unique<AnalyzeTool>(tracker));
  return tools;
}

}  // namespace callslip::gateway
