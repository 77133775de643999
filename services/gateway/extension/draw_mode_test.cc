#include "gateway/extension/draw_mode.h"

#include <string>
#include <utility>

#include "common/status_matchers.h"
#include "gateway/json/parse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json Annotation() {
  return {{"id", "a1"},
          {"kind", "arrow"},
          {"note", "Make it green."},
          {"rect", {{"x", 1}, {"y", 2.5}, {"width", 30}, {"height", 40}}},
          {"from", {{"x", 1}, {"y", 2}}},
          {"to", {{"x", 3}, {"y", 4}}},
          {"element",
           {{"selector", "#save"},
            {"tag", "button"},
            {"text", "Save"},
            {"computed_style", {{"color", "red"}}},
            {"bounds", {{"x", 0}, {"y", 0}, {"width", 5}, {"height", 5}}}}},
          {"crop", {{"mime_type", "image/png"}, {"base64", "iVBORw0KGgo="}}}};
}

Json Body() {
  return {{"drawing_id", "5c1f6b0e-7d53-4a4e-9d1c-6f2f4d2f8a10"},
          {"tab_id", 7},
          {"url", "http://page/"},
          {"title", "A page"},
          {"session", "review"},
          {"correlation_id", "ann_1"},
          {"correlation_ids", {"ann_2", "ann_1"}},
          {"worker", "w1"},
          {"target", "second"},
          {"annotations", Json::array({Annotation()})},
          {"viewport",
           {{"width", 800},
            {"height", 600},
            {"scroll_x", 0},
            {"scroll_y", 10},
            {"device_pixel_ratio", 2}}},
          {"screenshot", {{"mime_type", "image/png"}, {"base64", "iVBORw0KGgo="}}},
          {"crops_left_out", true}};
}

absl::StatusOr<v1::AppendAnnotationsRequest> Parse(const Json& body) {
  return ParseDrawing(Dump(body));
}

Json ContentOf(const Json& body) {
  const auto request = Parse(body);
  EXPECT_OK(request);
  return request.ok() ? Json::parse(request->drawing().content()) : Json();
}

TEST(DrawModeTest, ReadsAllKnownMembers) {
  const auto request = Parse(Body());
  ASSERT_OK(request);
  EXPECT_EQ(request->drawing().tab_id(), 7);
  EXPECT_EQ(request->drawing().url(), "http://page/");
  EXPECT_EQ(request->drawing().title(), "A page");
  EXPECT_EQ(request->drawing().session(), "review");
  EXPECT_EQ(request->drawing().target(), "second");
  EXPECT_THAT(request->command_ids(), ElementsAre("ann_1", "ann_2"));
  EXPECT_EQ(request->drawing_id(), "5c1f6b0e-7d53-4a4e-9d1c-6f2f4d2f8a10");
  Json content = Body();
  for (const char* member :
       {"drawing_id", "correlation_id", "correlation_ids", "worker", "target"}) {
    content.erase(member);
  }
  EXPECT_EQ(Json::parse(request->drawing().content()), content);
}

TEST(DrawModeTest, MostMembersCanBeAbsentOrNull) {
  const auto request = Parse({{"tab_id", 0}, {"annotations", Json::array()}, {"session", ""}});
  ASSERT_OK(request);
  EXPECT_TRUE(request->command_ids().empty());
  EXPECT_EQ(request->drawing_id(), "");
  EXPECT_EQ(request->drawing().content(), R"({"annotations":[],"tab_id":0})");
  Json body = Body();
  for (auto& [name, value] : body.items()) {
    if (name != "tab_id" && name != "annotations") value = nullptr;
  }
  EXPECT_OK(Parse(body));
}

TEST(DrawModeTest, MissingPicturesAreReported) {
  Json body = Body();
  body["crops_left_out"] = false;
  body["screenshot_left_out"] = true;
  const Json content = ContentOf(body);
  EXPECT_FALSE(content.contains("crops_left_out"));
  EXPECT_EQ(content["screenshot_left_out"], true);
}

TEST(DrawModeTest, OmitsUnknownMembersAndTruncatesLongOnes) {
  Json body = Body();
  body["more"] = 1;
  Json& annotation = body["annotations"][0];
  annotation["more"] = 1;
  annotation["note"] = std::string(1999, 'x') + "ä";
  annotation["kind"] = "ellipse";
  Json& styles = annotation["element"]["computed_style"];
  styles = {{"color", std::string(300, 'x')}, {"width", 7}};
  for (int i = 0; i < 200; ++i) styles["style-" + std::to_string(i)] = "x";
  const Json content = ContentOf(body);
  EXPECT_FALSE(content.contains("more"));
  const Json& kept = content["annotations"][0];
  EXPECT_FALSE(kept.contains("more"));
  EXPECT_EQ(kept["note"], std::string(1999, 'x'));
  EXPECT_EQ(kept["kind"], "ellipse");
  EXPECT_EQ(kept["element"]["computed_style"]["color"], std::string(200, 'x'));
  EXPECT_EQ(kept["element"]["computed_style"].size(), 100u);
}

TEST(DrawModeTest, RefusesInvalidMembersAndNamesThem) {
  const auto expect_refused = [](const std::string& pointer, Json value, const std::string& named) {
    Json body = Body();
    body[Json::json_pointer(pointer)] = std::move(value);
    const auto request = Parse(body);
    EXPECT_THAT(request, FailsWith(StatusCode::kInvalidArgument, "invalid_field")) << pointer;
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(named)) << pointer;
  };
  expect_refused("/tab_id", nullptr, "tab_id");
  expect_refused("/tab_id", "7", "tab_id");
  expect_refused("/tab_id", -1, "tab_id");
  expect_refused("/tab_id", 1e10, "tab_id");
  expect_refused("/tab_id", UINT64_MAX, "tab_id");
  expect_refused("/url", 7, "url");
  expect_refused("/session", Json::array(), "session");
  expect_refused("/target", 7, "target");
  expect_refused("/drawing_id", 7, "drawing_id");
  expect_refused("/crops_left_out", 1, "crops_left_out");
  expect_refused("/screenshot_left_out", "yes", "screenshot_left_out");
  expect_refused("/correlation_id", 7, "correlation_id");
  expect_refused("/correlation_ids", "ann_1", "correlation_ids");
  expect_refused("/correlation_ids/0", 7, "correlation_ids");
  expect_refused("/annotations", nullptr, "annotations");
  expect_refused("/annotations", Json::object(), "annotations");
  expect_refused("/annotations", Json::array({7}), "annotations[0]");
  expect_refused("/annotations/0/kind", nullptr, "annotations[0].kind");
  expect_refused("/annotations/0/note", 7, "annotations[0].note");
  expect_refused("/annotations/0/rect", 7, "annotations[0].rect");
  expect_refused("/annotations/0/rect/x", "7", "annotations[0].rect.x");
  expect_refused("/annotations/0/element", "a", "annotations[0].element");
  expect_refused("/annotations/0/element/computed_style", 7, "computed_style");
  expect_refused("/annotations/0/crop/base64", 7, "annotations[0].crop.base64");
  expect_refused("/viewport/width", "800", "viewport.width");
  expect_refused("/screenshot", "iVBORw0KGgo=", "screenshot");
  expect_refused("/annotations", Json(101, Annotation()), "annotations has 101 entries");

  Json ids = Json::array();
  for (int i = 0; i <= 100; ++i) ids.push_back("ann_" + std::to_string(i));
  expect_refused("/correlation_ids", ids, "correlation_ids");
}

TEST(DrawModeTest, InvalidAndOversizedBodiesAreRefused) {
  EXPECT_THAT(ParseDrawing("[]"), FailsWith(StatusCode::kInvalidArgument, "invalid_body"));
  EXPECT_THAT(ParseDrawing("{"), FailsWith(StatusCode::kInvalidArgument, "malformed_json"));
  EXPECT_THAT(ParseDrawing(std::string((8 << 20) + 1, ' ')),
              FailsWith(StatusCode::kInvalidArgument, "drawing_too_large"));
  Json body = Body();
  body["annotations"] = Json(100, Annotation());
  EXPECT_OK(Parse(body));
}

}  // namespace
}  // namespace callslip::gateway
