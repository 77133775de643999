#include "gateway/http/accept.h"

#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

bool TakesJson(absl::string_view accept) { return Accepts(accept, "application/json"); }

TEST(AcceptTest, AcceptsTypesInRange) {
  for (const char* accept :
       {"", " ", "*/*", "application/json", "application/*", "text/html, application/json",
        "text/html,application/json;q=0.1", "Application/JSON", "APPLICATION/*",
        "application/json; charset=utf-8", "application/json;profile=\"a,b;q=0\"", "text/html, */*",
        "text/html;x=\"\\\",\", application/json", ",, application/json ,", "application/json;Q=1",
        "application/json;q=0.001", "application/json;a=1;q=0.5", "application/json\t;q=1"}) {
    EXPECT_TRUE(TakesJson(accept)) << accept;
  }
}

TEST(AcceptTest, RefusesTypesOutsideRange) {
  for (const char* accept :
       {"text/*", "text/html", "application/jsonx", "application/json-seq", "application",
        "application/json;q=0", "application/json; q=0.0", "application/json;Q=0",
        "x-application/json", "text/html;note=\"application/json\"", "*", ",", "application/json/x",
        "text/html;x=\", application/json"}) {
    EXPECT_FALSE(TakesJson(accept)) << accept;
  }
}

TEST(AcceptTest, MostSpecificRangeDecides) {
  EXPECT_FALSE(TakesJson("*/*, application/json;q=0"));
  EXPECT_FALSE(TakesJson("application/json;q=0, application/*"));
  EXPECT_FALSE(TakesJson("application/*;q=0, */*"));
  EXPECT_TRUE(TakesJson("*/*;q=0, application/json"));
  EXPECT_TRUE(TakesJson("application/*;q=0, application/json"));
}

TEST(AcceptTest, AsksOnlyForNamedTypes) {
  for (const char* accept : {"application/json", "text/html, Application/JSON;q=0.1",
                             "*/*;q=0, application/json;x=\",\""}) {
    EXPECT_TRUE(AsksFor(accept, "application/json")) << accept;
  }
  for (const char* accept :
       {"", "*/*", "application/*", "application/json;q=0", "application/jsonx",
        "text/html;note=\"application/json\"", "*/*, application/json; q=0.0"}) {
    EXPECT_FALSE(AsksFor(accept, "application/json")) << accept;
  }
}

}  // namespace
}  // namespace callslip::gateway
