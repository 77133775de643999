#include "gateway/mcp/tool.h"

#include <utility>

#include "gateway/json/tracker_error.h"
#include "gateway/mcp/interact_tool.h"
#include "gateway/mcp/observe_tool.h"

namespace callslip::gateway {

OrderedJson ToolResult::ToMcp() && {
  OrderedJson result;
  result["content"] = OrderedJson::array({{{"type", "text"}, {"text", Dump(answer)}}});
  result["structuredContent"] = std::move(answer);
  if (is_error) result["isError"] = true;
  return result;
}

ToolResult ErrorResult(const absl::Status& status) {
  const TrackerError error = TrackerErrorOf(status);
  OrderedJson answer = {
      {"status", "error"}, {"final", true}, {"error", error.reason}, {"message", error.message}};
  if (!error.hint.empty()) answer["hint"] = error.hint;
  if (error.retry_after.has_value()) {
    answer["retry_after_ms"] = absl::ToInt64Milliseconds(*error.retry_after);
  }
  // Where the tracker itself refused, nothing was done. Where it was not heard, nobody knows.
  answer["may_have_executed"] = error.reason == "tracker_unreachable";
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
