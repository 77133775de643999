#pragma once

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace callslip {

// Fails the test if `value` does not match `schema`. Supports the part of JSON Schema that the
// output schemas of our tools use: `type`, `enum`, `properties` and `required`. `where` is a path
// for the message.
inline void ExpectValid(const nlohmann::json& value, const nlohmann::json& schema,
                        const std::string& where) {
  if (const auto type = schema.find("type"); type != schema.end()) {
    const bool valid = (*type == "object" && value.is_object()) ||
                       (*type == "string" && value.is_string()) ||
                       (*type == "boolean" && value.is_boolean());
    EXPECT_TRUE(valid) << where << " is no " << *type << ": " << value;
  }
  if (const auto choices = schema.find("enum"); choices != schema.end()) {
    EXPECT_THAT(*choices, testing::Contains(value)) << where;
  }
  for (const nlohmann::json& name : schema.value("required", nlohmann::json::array())) {
    EXPECT_TRUE(value.contains(name.get<std::string>())) << where << " lacks " << name;
  }
  if (!schema.contains("properties") || !value.is_object()) return;
  for (const auto& [name, each] : schema["properties"].items()) {
    if (value.contains(name)) ExpectValid(value[name], each, where + "." + name);
  }
}

}  // namespace callslip
