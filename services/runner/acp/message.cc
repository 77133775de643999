#include "runner/acp/message.h"

#include <utility>

namespace callslip::runner {
namespace {

constexpr int kMaxDepth = 64;
// Values, keys, and the beginnings and ends of arrays and objects: some 40 bytes of memory each.
// What is long of real agents are texts.
constexpr int kMaxParts = 500'000;
struct TooManyParts {};

bool IsId(const Json& id) { return id.is_number() || id.is_string() || id.is_null(); }

// The member, taken out of its object; null where there is none.
Json Take(Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? Json() : std::move(*found);
}

std::optional<Json> ParseObject(absl::string_view line) {
  // Before anything is built: most of what agents print beside messages is no object.
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == absl::string_view::npos || line[begin] != '{') return std::nullopt;
  int parts = 0;
  const auto keep = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > kMaxDepth || ++parts > kMaxParts) throw TooManyParts();
    return true;
  };
  try {
    Json json = Json::parse(line.begin(), line.end(), keep, /*allow_exceptions=*/false);
    if (json.is_object()) return json;
  } catch (const TooManyParts&) {
    // Nothing more of it is built.
  }
  return std::nullopt;
}

// Of what is there and not null.
RpcError ErrorFrom(const Json& from) {
  RpcError error;
  if (!from.is_object()) {
    error.message = from.is_string() ? from.get<std::string>() : Dump(from);
    return error;
  }
  if (const auto code = from.find("code"); code != from.end() && code->is_number_integer()) {
    error.code = code->get<int>();
  }
  if (const auto text = from.find("message"); text != from.end() && text->is_string()) {
    error.message = text->get<std::string>();
  }
  if (const auto data = from.find("data"); data != from.end()) error.data = *data;
  return error;
}

std::string Line(const Json& message) { return Dump(message) + '\n'; }

Json WithMethod(absl::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", std::string(method)}, {"params", std::move(params)}};
}

}  // namespace

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Message> ParseMessage(absl::string_view line) {
  std::optional<Json> json = ParseObject(line);
  if (!json.has_value()) return std::nullopt;
  const bool has_id = json->contains("id");
  Message message{.id = Take(*json, "id")};
  if (!IsId(message.id)) return std::nullopt;
  if (const auto method = json->find("method"); method != json->end()) {
    if (!method->is_string()) return std::nullopt;
    message.kind = has_id ? Message::Kind::kRequest : Message::Kind::kNotification;
    message.method = std::move(method->get_ref<std::string&>());
    message.params = Take(*json, "params");
    if (!message.params.is_object()) message.params = Json::object();
    return message;
  }
  if (!has_id) return std::nullopt;
  message.kind = Message::Kind::kResponse;
  const bool says_so = json->contains("jsonrpc") || json->size() == 1;
  if (const Json error = Take(*json, "error"); !error.is_null()) {
    message.error = ErrorFrom(error);
  } else if (!json->contains("result") && !json->contains("error") && !says_so) {
    return std::nullopt;
  }
  message.result = Take(*json, "result");
  return message;
}

std::string FormatRequest(const Json& id, absl::string_view method, Json params) {
  Json request = WithMethod(method, std::move(params));
  request["id"] = id;
  return Line(request);
}

std::string FormatNotification(absl::string_view method, Json params) {
  return Line(WithMethod(method, std::move(params)));
}

std::string FormatResult(const Json& id, Json result) {
  return Line({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

std::string FormatError(const Json& id, const RpcError& error) {
  Json body = {{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return Line({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}});
}

}  // namespace callslip::runner
