#include "gateway/mcp/tools/file_tool.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/tool_result.h"

namespace callslip::gateway {
namespace {

absl::StatusOr<FileStore::Piece> ReadPiece(const Json& json) {
  Arguments arguments(json);
  FileStore::Piece piece;
  piece.id = arguments.NonEmptyText("file_id").value_or("");
  if (piece.id.empty()) {
    piece.name = arguments.RequiredText("name");
    piece.mime_type = arguments.Text("mime_type").value_or("");
    piece.size = arguments.RequiredInteger("size", 0, INT64_MAX);
  }
  piece.offset = arguments.Integer("offset", 0, FileStore::kBytesOfClient).value_or(0);
  const std::string base64 = arguments.PresentText("base64");
  if (!absl::Base64Unescape(base64, &piece.bytes)) arguments.Fail("\"base64\" is not valid Base64");
  // The bridge adds it to every call that it may send twice. Storing a piece twice changes nothing.
  arguments.Text("request_id");
  RETURN_IF_ERROR(arguments.status());
  return piece;
}

}  // namespace

const Json& FileTool::Definition() const {
  static const auto& definition = *new Json({{"name", "files"}, {"inputSchema", Json::object()}});
  return definition;
}

boost::asio::awaitable<ToolResult> FileTool::Call(std::shared_ptr<CallContext> context,
                                                  Json arguments) const {
  absl::StatusOr<FileStore::Piece> piece = ReadPiece(arguments);
  arguments = nullptr;
  if (!piece.ok()) co_return ErrorResult(piece.status(), Executed::kNo);
  const auto file = files_->Put(OnBehalfOf(context->principal()), *std::move(piece));
  if (!file.ok()) co_return ErrorResult(file.status(), Executed::kNo);
  Json answer = {{"status", "complete"}, {"final", true}};
  answer["result"] = {{"file_id", file->id}, {"received", file->received}};
  co_return TextResult(std::move(answer), absl::StrCat(file->id, ": ", file->received, " bytes"));
}

}  // namespace callslip::gateway
