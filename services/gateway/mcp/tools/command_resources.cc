#include "gateway/mcp/tools/command_resources.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gateway/json/command_json.h"
#include "gateway/mcp/tools/tasks.h"
#include "gateway/mcp/tools/tool_result.h"

namespace callslip::gateway {
namespace {

constexpr int kPageSize = 50;

RpcError NotFound(const std::string& uri, absl::string_view why) {
  return {JsonRpcCode::kResourceNotFound, absl::StrCat("Resource not found: ", why),
          Json{{"uri", uri}}};
}

}  // namespace

std::optional<std::string> CommandResources::CommandIdOf(const std::string& uri) {
  const std::string prefix = ResultUri("");
  if (!absl::StartsWith(uri, prefix) || uri.size() == prefix.size()) return std::nullopt;
  if (uri.size() - prefix.size() > kMaxIdBytes) return std::nullopt;
  return uri.substr(prefix.size());
}

boost::asio::awaitable<RpcOutcome> CommandResources::List(std::shared_ptr<CallContext> context,
                                                          std::string cursor) const {
  v1::ListCommandsRequest request;
  request.set_client_id(OnBehalfOf(context->principal()));
  request.add_states(v1::COMMAND_STATE_COMPLETED);
  request.set_page_token(std::move(cursor));
  request.set_page_size(kPageSize);
  const auto listed = co_await tracker_->Call(std::move(request));
  if (!listed.ok()) co_return RpcErrorOf(listed.status(), Executed::kNo);
  Json result = {{"resources", Json::array()}};
  for (const v1::Command& command : listed->commands()) {
    result["resources"].push_back(
        {{"uri", ResultUri(command.command_id())},
         {"name", command.command_id()},
         {"title", absl::StrCat("Result of ", command.type())},
         {"annotations", {{"lastModified", WireTime(command.end_time())}}}});
  }
  if (!listed->next_page_token().empty()) result["nextCursor"] = listed->next_page_token();
  co_return result;
}

Json CommandResources::Templates() const {
  return Json::array({{{"uriTemplate", ResultUri("{correlation_id}")},
                       {"name", "result"},
                       {"title", "Result of a command"},
                       {"description", "Readable for a minute after the command has ended."}}});
}

boost::asio::awaitable<RpcOutcome> CommandResources::Read(std::shared_ptr<CallContext> context,
                                                          std::string uri) const {
  const std::optional<std::string> id = CommandIdOf(uri);
  if (!id.has_value()) co_return NotFound(uri, "see resources/templates/list.");
  const auto command =
      co_await tracker_->Get(OnBehalfOf(context->principal()), *id, /*peek=*/false);
  if (!command.ok()) {
    if (command.status().code() == absl::StatusCode::kNotFound) {
      co_return NotFound(uri, std::string(command.status().message()));
    }
    co_return RpcErrorOf(command.status());
  }
  if (command->state() != v1::COMMAND_STATE_COMPLETED) {
    co_return NotFound(
        uri, absl::StrCat("the command is ", WireStatus(command->state()), " and has no result."));
  }
  Json contents = {{"uri", uri}};
  Json result = JsonOrText(command->result());
  if (std::optional<ImageResult> image = TakeImage(result)) {
    contents["mimeType"] = image->mime_type;
    contents["blob"] = std::move(image->base64);
  } else {
    contents["mimeType"] = "application/json";
    contents["text"] = command->result();
  }
  co_return Json{{"contents", Json::array({std::move(contents)})}};
}

}  // namespace callslip::gateway
