#include "runner/acp/message.h"

#include <utility>

#include "common/text_scan.h"

namespace callslip::runner {
namespace {

constexpr int kMaxDepth = 64;
// Values, keys, and the starts and ends of arrays and objects: about 40 bytes of memory each. Long
// messages of real agents consist of long strings, not of many values.
constexpr int kMaxParts = 500'000;
struct TooManyParts {};

bool IsId(const Json& id) { return id.is_number() || id.is_string() || id.is_null(); }

// Moves the member out of its object; null if absent.
Json Take(Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? Json() : std::move(*found);
}

// Throws TooManyParts once the limits are exceeded; builds nothing after that.
std::optional<Json> ParseObject(absl::string_view line) {
  int parts = 0;
  const auto keep = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth || ++parts > kMaxParts) throw TooManyParts();
    if (event == Json::parse_event_t::value && value.is_number_float()) {
      if (const auto integer = IntegerIn(value.get<double>())) value = *integer;
    }
    return true;
  };
  Json json = Json::parse(line.begin(), line.end(), keep, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

// Reads the id and kind of a message, even if its JSON is truncated or invalid later on. Builds
// nothing.
class Outline final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Value(nullptr); }
  bool boolean(bool) override { return Value(Json::object()); }
  bool number_integer(int64_t value) override { return Value(value); }
  bool number_unsigned(uint64_t value) override { return Value(value); }
  bool number_float(double value, const std::string&) override {
    const auto integer = IntegerIn(value);
    return integer ? Value(*integer) : Value(value);
  }
  bool string(std::string& value) override { return Value(value); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(); }
  bool start_array(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& name) override {
    if (depth_ != 1) return true;
    is_id_ = name == "id";
    has_method_ |= name == "method";
    has_answer_ |= name == "result" || name == "error";
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  bool has_id() const { return has_id_; }
  bool has_method() const { return has_method_; }
  bool has_answer() const { return has_answer_; }
  const Json& id() const { return id_; }

 private:
  template <typename T>
  bool Value(const T& value) {
    if (depth_ != 1 || !is_id_) return true;
    has_id_ = true;
    id_ = value;
    return true;
  }
  bool Open() {
    if (depth_ == 1 && is_id_) id_ = Json::object();  // Not a valid id.
    ++depth_;
    return true;
  }
  bool Close() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool is_id_ = false;  // The next value is the message's id.
  bool has_id_ = false;
  bool has_method_ = false;
  bool has_answer_ = false;
  Json id_;
};

// For a line that cannot be parsed.
std::optional<Message> Unreadable(absl::string_view line) {
  Outline outline;
  Json::sax_parse(line.begin(), line.end(), &outline);
  if (!outline.has_id() || !IsId(outline.id())) return std::nullopt;
  if (!outline.has_method() && (!outline.has_answer() || outline.id().is_null())) {
    return std::nullopt;
  }
  return Message{
      .kind = outline.has_method() ? Message::Kind::kUnreadable : Message::Kind::kResponse,
      .id = outline.id(),
      .error = RpcError{.code = kParseError,
                        .message = "the message is not valid JSON, nests deeper than 64 "
                                   "levels or has more than 500,000 values"}};
}

// `from` is not null.
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

std::optional<Message> MessageFrom(Json json) {
  const bool has_id = json.contains("id");
  Message message{.id = Take(json, "id")};
  if (!IsId(message.id)) return std::nullopt;
  if (const auto method = json.find("method"); method != json.end()) {
    if (!method->is_string()) return std::nullopt;
    message.kind = has_id ? Message::Kind::kRequest : Message::Kind::kNotification;
    message.method = std::move(method->get_ref<std::string&>());
    message.params = Take(json, "params");
    if (!message.params.is_object()) message.params = Json::object();
    return message;
  }
  if (!has_id) return std::nullopt;
  message.kind = Message::Kind::kResponse;
  const bool says_so = json.contains("jsonrpc") || json.size() == 1;
  if (const Json error = Take(json, "error"); !error.is_null()) {
    message.error = ErrorFrom(error);
  } else if (!json.contains("result") && !json.contains("error") && !says_so) {
    return std::nullopt;
  }
  message.result = Take(json, "result");
  return message;
}

std::string Line(const Json& message) { return Dump(message) + '\n'; }

Json WithMethod(absl::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", std::string(method)}, {"params", std::move(params)}};
}

}  // namespace

std::optional<Message> ParseMessage(absl::string_view line) {
  // Rejects non-objects before building anything: most non-message output of agents is not an
  // object.
  std::string mended;
  line = MendJson(line, mended);
  std::string replaced;
  if (!IsUtf8(line)) {
    replaced = WithoutBadUtf8(line);
    line = replaced;
  }
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == absl::string_view::npos || line[begin] != '{') return std::nullopt;
  try {
    if (std::optional<Json> json = ParseObject(line)) return MessageFrom(*std::move(json));
  } catch (const TooManyParts&) {
    // The partial result was discarded.
  }
  return Unreadable(line);
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
