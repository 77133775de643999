#include "bridge/relay/uploads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "bridge/relay/gateway_answer.h"
#include "bridge/relay/limits.h"
#include "common/json_members.h"
#include "common/random.h"
#include "nlohmann/json.hpp"

namespace callslip::bridge {
namespace {

using Json = nlohmann::json;

// A call of the gateway's `files` tool, in the revision of the agent's own call.
Message PieceMessage(const Message& call, Json arguments) {
  arguments["request_id"] = RandomHex128();
  Json params = {{"name", "files"}, {"arguments", std::move(arguments)}};
  if (call.is_modern) {
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", call.protocol_version},
                       {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  }
  const Json message = {{"jsonrpc", "2.0"},
                        {"id", absl::StrCat("callslip-bridge-file-", RandomHex128())},
                        {"method", "tools/call"},
                        {"params", std::move(params)}};
  // The name of a file may be invalid UTF-8.
  return ParseMessage(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The failure of the whole call.
Failure OfOutcome(const Exchange& exchange, const std::string& url) {
  if (exchange.outcome == Exchange::Outcome::kUnproven) {
    Failure failure = UnprovenAnswer(url);
    failure.may_have_executed = false;
    return failure;
  }
  return GatewayUnreachable(url, absl::ZeroDuration(), exchange.failure);
}

std::variant<std::string, Failure> IdIn(const Message& answer) {
  const Json message = Json::parse(answer.line, nullptr, /*allow_exceptions=*/false);
  const Json& content = MemberOf(MemberOf(message, "result"), "structuredContent");
  std::string id = TextOf(MemberOf(content, "result"), "file_id");
  if (!id.empty()) return id;
  const std::string reason = TextOf(content, "error");
  if (reason.empty()) return FileUnavailable("The gateway does not accept files.");
  return Failure{.reason = reason,
                 .message = TextOf(content, "message"),
                 .hint = absl::StrCat("Nothing was executed. ", TextOf(content, "hint"))};
}

}  // namespace

std::variant<Message, Failure> Uploads::Prepare(const RetryingSender::Delivery& delivery) const {
  const auto folders = roots_->Folders(*delivery.message, *delivery.abort);
  if (!folders.ok()) return FileUnavailable(std::string(folders.status().message()));
  auto read = ReadLocalFiles(*folders, FilesOf(*delivery.message));
  if (Failure* failure = std::get_if<Failure>(&read)) return std::move(*failure);
  std::vector<std::string> ids;
  for (const LocalFile& file : std::get<std::vector<LocalFile>>(read)) {
    auto id = Put(delivery, file);
    if (Failure* failure = std::get_if<Failure>(&id)) return std::move(*failure);
    ids.push_back(std::get<std::string>(std::move(id)));
  }
  Message message = *delivery.message;
  SetFiles(message, ids);
  return message;
}

std::variant<std::string, Failure> Uploads::Put(const RetryingSender::Delivery& delivery,
                                                const LocalFile& file) const {
  std::string id;
  for (size_t at = 0; id.empty() || at < file.content.size();) {
    const size_t bytes = std::min(kFilePieceBytes, file.content.size() - at);
    Json arguments = {{"offset", at},
                      {"base64", absl::Base64Escape(file.content.substr(at, bytes))}};
    if (id.empty()) {
      arguments["name"] = file.name;
      arguments["mime_type"] = file.mime_type;
      arguments["size"] = file.content.size();
    } else {
      arguments["file_id"] = id;
    }
    auto put = PutPiece(delivery, PieceMessage(*delivery.message, std::move(arguments)));
    if (std::holds_alternative<Failure>(put)) return put;
    id = std::get<std::string>(std::move(put));
    at += bytes;
  }
  return id;
}

std::variant<std::string, Failure> Uploads::PutPiece(const RetryingSender::Delivery& delivery,
                                                     const Message& piece) const {
  RetryingSender::Delivery put = delivery;
  put.message = &piece;
  put.on_event = [](const ResponseHead&, absl::string_view) { return true; };
  Exchange exchange = sender_->Deliver(put);
  // No part of the agent's own call was sent.
  delivery.abort->ForgetSent();
  if (exchange.outcome != Exchange::Outcome::kAnswered) return OfOutcome(exchange, url_);
  auto answer = FindAnswer(exchange.head, std::move(exchange.body), piece, url_);
  if (Failure* failure = std::get_if<Failure>(&answer)) {
    failure->may_have_executed = false;
    return std::move(*failure);
  }
  return IdIn(std::get<Message>(answer));
}

}  // namespace callslip::bridge
