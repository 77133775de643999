#ifndef CALLSLIP_GATEWAY_JSON_JSON_FIELDS_H_
#define CALLSLIP_GATEWAY_JSON_JSON_FIELDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// Reads what a request says member by member, and remembers the first thing that is wrong with it:
// read all, then ask for status(). Null counts as absent. Members that nobody asks for are ignored:
// newer clients may send more.
class JsonFields {
 public:
  // `body`: one JSON object; empty counts as one without members.
  static JsonFields OfBody(const std::string& body);
  static JsonFields OfObject(Json object);
  // Numbers and truth values are text there.
  static JsonFields OfQuery(const std::map<std::string, std::string>& query);

  // Adds texts, in place of members of the same names.
  void Add(const std::map<std::string, std::string>& texts);

  bool Has(const char* name) const;
  // Empty where it is absent.
  std::string Text(const char* name);
  std::optional<std::string> OptionalText(const char* name);
  // One of `choices`, which has to be there.
  std::string Choice(const char* name, const std::vector<std::string>& choices);
  std::optional<bool> Boolean(const char* name);
  // From `min`, which is 0 or above, to `max`.
  std::optional<int64_t> Integer(const char* name, int64_t max, int64_t min = 0);
  // From 0 to `max`.
  std::optional<double> Number(const char* name, double max);
  std::vector<std::string> Texts(const char* name);
  // Without members where it is absent.
  Json Object(const char* name);
  // The elements of an array, all of them objects.
  std::vector<Json> Objects(const char* name);

  // Says that something else is wrong.
  void Fail(absl::string_view problem);
  // INVALID_ARGUMENT, reason `invalid_field` or one of ParseObject().
  const absl::Status& status() const { return status_; }

 private:
  // A number or a truth value. Null where it is absent.
  Json Scalar(const char* name) const;

  Json object_ = Json::object();
  bool is_query_ = false;
  absl::Status status_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_JSON_FIELDS_H_
