#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// Reads the members of a request one by one, and keeps the first error: read all, then check
// status(). Null counts as absent. Unknown members are ignored, because newer clients may send
// more.
class JsonFields {
 public:
  // `body`: one JSON object; an empty body counts as an object without members.
  static JsonFields OfBody(const std::string& body);
  static JsonFields OfObject(Json object);
  // In a query, numbers and booleans are text.
  static JsonFields OfQuery(const std::map<std::string, std::string>& query);

  // Adds texts; they replace members of the same names.
  void Add(const std::map<std::string, std::string>& texts);

  bool Has(const char* name) const;
  // Empty if absent.
  std::string Text(const char* name);
  std::optional<std::string> OptionalText(const char* name);
  // One of `choices`; required.
  std::string Choice(const char* name, const std::vector<std::string>& choices);
  std::optional<bool> Boolean(const char* name);
  // From `min`, which must be 0 or above, to `max`.
  std::optional<int64_t> Integer(const char* name, int64_t max, int64_t min = 0);
  // From 0 to `max`.
  std::optional<double> Number(const char* name, double max);
  std::vector<std::string> Texts(const char* name);
  // An empty object if absent.
  Json Object(const char* name);
  // The elements of an array, all of which must be objects.
  std::vector<Json> Objects(const char* name);

  // Records an error.
  void Fail(absl::string_view problem);
  // INVALID_ARGUMENT, reason `invalid_field` or one of ParseObject().
  const absl::Status& status() const { return status_; }

 private:
  // A number or a boolean. Null if absent.
  Json Scalar(const char* name) const;

  Json object_ = Json::object();
  bool is_query_ = false;
  absl::Status status_;
};

}  // namespace callslip::gateway
