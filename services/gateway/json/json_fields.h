#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
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
  // From `min` to `max`, which must be 0 or above.
  std::optional<int64_t> Integer(const char* name, int64_t min, int64_t max);
  // From 0 to `max`.
  std::optional<double> Number(const char* name, double max);
  std::vector<std::string> Texts(const char* name);
  std::optional<std::vector<std::string>> OptionalTexts(const char* name);
  // An empty object if absent.
  Json Object(const char* name);
  // The elements of an array, all of which must be objects.
  std::vector<Json> Objects(const char* name);

  // Records an error.
  void Fail(absl::string_view problem);
  // INVALID_ARGUMENT, reason `invalid_field` or one of ParseObject().
  absl::Status status() const;

 protected:
  JsonFields() = default;
  // Reads `object`, which must outlive this. In problems, `quote` surrounds a name, and `list` is
  // what an array is called.
  JsonFields(const Json& object, const char* quote, const char* list)
      : borrowed_(&object), quote_(quote), list_(list) {}

  const Json& object() const { return borrowed_ == nullptr ? own_ : *borrowed_; }
  // Null if absent.
  const Json* Find(const char* name);
  // Null if absent, or if it does not fit: then records that it must be `wanted`.
  const Json* Find(const char* name, absl::FunctionRef<bool(const Json&)> fits,
                   absl::string_view wanted);
  // Records an error that begins with the name.
  void FailAt(const char* name, absl::string_view problem);

  // The names that were asked for, all of them string literals.
  const std::vector<const char*>& known() const { return known_; }
  // The first problem; empty if there is none.
  const std::string& problem() const { return problem_; }

 private:
  // A number or a boolean. Null if absent.
  Json Scalar(const char* name);

  Json own_ = Json::object();
  const Json* borrowed_ = nullptr;
  const char* quote_ = "";
  const char* list_ = "an array";
  bool is_query_ = false;
  std::vector<const char*> known_;
  absl::Status parsed_;
  std::string problem_;
};

}  // namespace callslip::gateway
