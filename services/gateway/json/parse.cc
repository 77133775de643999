#include "gateway/json/parse.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/error_details.h"

namespace callslip::gateway {
namespace {

absl::Status Malformed(absl::string_view problem) {
  return ErrorWithDetails(absl::StatusCode::kInvalidArgument,
                          absl::StrCat("This is no valid JSON: ", problem),
                          {.reason = "malformed_json", .hint = "Send one JSON value in UTF-8."});
}

// Builds the value while it watches depth and keys.
class BoundedBuilder final : public nlohmann::json_sax<Json> {
 public:
  absl::StatusOr<Json> Take() && {
    if (!status_.ok()) return status_;
    return std::move(root_);
  }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    key_ = std::move(name);
    if (!open_.back()->contains(key_)) return true;
    status_ = ErrorWithDetails(absl::StatusCode::kInvalidArgument,
                               absl::StrCat("The key \"", key_, "\" stands twice in one object."),
                               {.reason = "duplicate_key", .hint = "Send each key once."});
    return false;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    status_ = Malformed(absl::StrCat("the error is at byte ", position, "."));
    return false;
  }

 private:
  Json* Place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json& member = parent[key_];
    member = std::move(value);
    return &member;
  }

  bool Add(Json value) {
    Place(std::move(value));
    return true;
  }

  bool Open(Json container) {
    if (open_.size() >= kMaxJsonDepth) {
      status_ = Malformed(absl::StrCat("it nests deeper than ", kMaxJsonDepth, " levels."));
      return false;
    }
    open_.push_back(Place(std::move(container)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  // The containers around the present position. Each is the last child of the one before it, so
  // that none of these pointers is invalidated while it is in here.
  std::vector<Json*> open_;
  std::string key_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Json> ParseJson(const std::string& text) {
  BoundedBuilder builder;
  Json::sax_parse(text, &builder);
  return std::move(builder).Take();
}

Json JsonOrText(const std::string& bytes) {
  absl::StatusOr<Json> value = ParseJson(bytes);
  if (!value.ok()) return bytes;
  return *std::move(value);
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace callslip::gateway
