// The images of a session's messages.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tracker/domain/session/session_table_fixture.h"

namespace callslip::tracker {
namespace {

constexpr char kPng[] = "\x89PNG\r\n\x1a\n";

class SessionImagesTest : public SessionTableTest {
 protected:
  absl::StatusOr<ImageRef> Put(const std::string& data, const std::string& name = "") {
    return With<ImageRef>([&](Session& s, absl::Time) { return s.PutImage(data, name); });
  }
  absl::StatusOr<Image> Get(const std::string& id) {
    return With<Image>([&](Session& s, absl::Time) { return s.GetImage(id); });
  }
};

TEST_F(SessionImagesTest, AreStoredOnceAndSurviveRestart) {
  ASSERT_OK(Create("s1"));
  const std::string data = std::string(kPng) + "pixels";
  ASSERT_OK_AND_ASSIGN(const ImageRef first, Put(data, "cat.png"));
  EXPECT_THAT(first.id, testing::MatchesRegex("img-[0-9a-f]{16}"));
  EXPECT_EQ(first.mime_type, "image/png");
  EXPECT_EQ(Put(data, "dog.png")->name, "cat.png");
  EXPECT_EQ(table_->Get("s1")->image_bytes, static_cast<int64_t>(data.size()));
  Reopen();
  EXPECT_EQ(table_->Get("s1")->image_bytes, static_cast<int64_t>(data.size()));
  ASSERT_OK_AND_ASSIGN(const Image image, Get(first.id));
  EXPECT_EQ(image.ref, first);
  EXPECT_EQ(image.data, data);
}

TEST_F(SessionImagesTest, TypeIsDetectedFromFirstBytesAndSizeIsLimited) {
  ASSERT_OK(Create("s1"));
  EXPECT_EQ(Put("\xff\xd8\xff\xe0")->mime_type, "image/jpeg");
  EXPECT_EQ(Put("GIF89a.")->mime_type, "image/gif");
  EXPECT_EQ(Put("GIF87a.")->mime_type, "image/gif");
  EXPECT_EQ(Put("RIFF1234WEBPVP8 ")->mime_type, "image/webp");
  for (const char* other : {"", "GIF", "RIFF1234WAVE", "<svg>", "%PDF-1.7", "RIFFWEBP"}) {
    EXPECT_THAT(Put(other), kInvalid) << other;
  }
  EXPECT_THAT(Put(kPng, std::string(kMaxSessionNameBytes + 1, 'n')), kInvalid);
  const std::string png = kPng;
  EXPECT_THAT(Put(png + std::string(kMaxImageBytes - png.size() + 1, 'x')), kInvalid);
  EXPECT_OK(Put(png + std::string(kMaxImageBytes - png.size(), 'x')));
}

TEST_F(SessionImagesTest, MissingAndInvalidIdsAreUnknown) {
  ASSERT_OK(Create("s1"));
  const auto unknown = FailsWith(absl::StatusCode::kNotFound, "unknown_image");
  for (const char* id : {"", "metadata.json", "img-0123456789abcdef", "img-0123456789abcde/",
                         "img-../../../etc/pw", "img-0123456789ABCDEF"}) {
    EXPECT_THAT(Get(id), unknown) << id;
  }
}

TEST_F(SessionImagesTest, AreLimitedPerSession) {
  ASSERT_OK(Create("s1"));
  for (size_t i = 0; i < kMaxImages; ++i) ASSERT_OK(Put(absl::StrCat("GIF89a", i)));
  const auto too_many = FailsWith(absl::StatusCode::kResourceExhausted, "too_many_images");
  EXPECT_THAT(Put("GIF89a-"), too_many);
  EXPECT_OK(Put("GIF89a0"));  // It exists already.
  Reopen();
  EXPECT_THAT(Put("GIF89a-"), too_many);
}

TEST_F(SessionImagesTest, CountAsLogBytesAndAreDeletedWithSession) {
  limits_.log_bytes_of_client = 1000;
  Reopen();
  ASSERT_OK(Create("s1"));
  EXPECT_OK(table_->CheckRoom("s1"));
  ASSERT_OK(Put("GIF89a" + std::string(1000, 'x')));
  const auto full = FailsWith(absl::StatusCode::kResourceExhausted, "too_many_log_bytes");
  EXPECT_THAT(table_->CheckRoom("s1"), full);
  Reopen();
  EXPECT_THAT(table_->CheckRoom("s1"), full);
  ASSERT_OK(Run([](Session& s, absl::Time now) { return s.End("done", now); }));
  EXPECT_THAT(Put("GIF89a"), FailsWith(absl::StatusCode::kFailedPrecondition, "session_ended"));
  ASSERT_OK(Delete("s1"));
  EXPECT_FALSE(disk_.Look(folder_.path() + "/sessions/s1")->has_value());
  EXPECT_OK(Create("s1"));
}

}  // namespace
}  // namespace callslip::tracker
