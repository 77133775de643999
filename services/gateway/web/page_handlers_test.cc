#include "gateway/web/page_handlers.h"

#include <map>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FilesOfTest final : public WebFiles {
 public:
  std::optional<WebFile> Find(const std::string& path, bool takes_gzip) const override {
    const auto file = files.find(path);
    if (file == files.end()) return std::nullopt;
    return WebFile{.body = takes_gzip ? absl::StrCat("gzip of ", file->second) : file->second,
                   .is_gzip = takes_gzip,
                   .etag = absl::StrCat("\"", file->second, "\"")};
  }

  std::map<std::string, std::string> files = {
      {"index.html", "shell"}, {"theme.js", "theme"}, {"assets/main-1.js", "main"}};
};

class PageHandlersTest : public testing::Test {
 protected:
  HttpResponse Get(const std::string& path, HttpHeaders headers = {}) {
    return page_.Answer({.method = "GET",
                         .path = absl::StrCat("/ui/", path),
                         .headers = std::move(headers),
                         .parameters = {{"path", path}}});
  }

  static std::string HeaderIn(const HttpResponse& response, const std::string& name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  FilesOfTest files_;
  const PageHandlers page_{&files_};
};

TEST_F(PageHandlersTest, EveryPathOfPageReturnsShell) {
  for (const char* path : {"", "index.html", "sessions", "sessions/s-1", "commands/a/b/c"}) {
    const HttpResponse response = Get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body, "shell") << path;
    EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
    EXPECT_EQ(HeaderIn(response, "Cache-Control"), "no-cache");
    EXPECT_THAT(HeaderIn(response, "Content-Security-Policy"),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("trusted-types 'none'"),
                      HasSubstr("frame-ancestors 'none'"), Not(HasSubstr("unsafe"))));
  }
}

TEST_F(PageHandlersTest, RootRedirectsBrowsersAndListsUrlsForOthers) {
  const auto at_root = [this](const std::string& accept) {
    return page_.AnswerAtRoot({.method = "GET",
                               .path = "/",
                               .headers = {{"host", "127.0.0.1:7890"}, {"accept", accept}}});
  };
  for (const char* browser : {"text/html,application/xhtml+xml,*/*;q=0.8", "Text/HTML"}) {
    const HttpResponse response = at_root(browser);
    EXPECT_EQ(response.status, 302) << browser;
    EXPECT_EQ(HeaderIn(response, "Location"), "/ui/");
    EXPECT_EQ(HeaderIn(response, "Vary"), "Accept");
  }
  for (const char* other : {"*/*", "", "text/plain", "application/json"}) {
    const HttpResponse response = at_root(other);
    EXPECT_EQ(response.status, 200) << other;
    EXPECT_EQ(HeaderIn(response, "Location"), "");
    EXPECT_EQ(HeaderIn(response, "Vary"), "Accept");
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
    EXPECT_THAT(response.body, HasSubstr("http://127.0.0.1:7890/ui/ "));
    EXPECT_THAT(response.body, HasSubstr("http://127.0.0.1:7890/mcp "));
    EXPECT_EQ(absl::c_count(response.body, '\n'), 4);
  }
  const PageHandlers over_tls{&files_, /*is_tls=*/true};
  EXPECT_THAT(over_tls.AnswerAtRoot({.method = "GET", .headers = {{"host", "a:1"}}}).body,
              HasSubstr("https://a:1/ui/ "));
}

TEST_F(PageHandlersTest, AssetsAreCachedForever) {
  const HttpResponse response = Get("assets/main-1.js");
  EXPECT_EQ(response.body, "main");
  EXPECT_EQ(response.content_type, "text/javascript; charset=utf-8");
  EXPECT_THAT(HeaderIn(response, "Cache-Control"), HasSubstr("immutable"));
  EXPECT_EQ(HeaderIn(Get("theme.js"), "Cache-Control"), "no-cache");
}

// A script that is gone must not be answered with the shell, which would be cached as the script.
TEST_F(PageHandlersTest, MissingAssetsAreNotFound) {
  EXPECT_EQ(Get("assets/main-0.js").status, 404);
  files_.files.clear();
  EXPECT_EQ(Get("sessions").status, 404);
}

TEST_F(PageHandlersTest, FileHasOneNameAndHtmlAlwaysHasPolicy) {
  files_.files["assets/../index.html"] = files_.files["/index.html"] = "shell";
  files_.files["./index.html"] = files_.files["x/../index.html"] = "shell";
  files_.files["assets/frame-1.html"] = "frame";
  for (const char* path : {"assets/../index.html", "/index.html", "./index.html", "x/../index.html",
                           "assets//main-1.js", "assets/./main-1.js", "assets/frame-1.html"}) {
    const HttpResponse response = Get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_THAT(HeaderIn(response, "Content-Security-Policy"), HasSubstr("default-src 'none'"))
        << path;
    if (!absl::StartsWith(path, "assets/frame")) {
      EXPECT_EQ(HeaderIn(response, "Cache-Control"), "no-cache") << path;
      EXPECT_EQ(response.body, "shell") << path;
    }
  }
}

TEST_F(PageHandlersTest, GzipIsSentOnlyToClientsThatAcceptIt) {
  for (const char* takes : {"gzip", "gzip, deflate, br, zstd", "br;q=1, GZIP;q=0.5"}) {
    const HttpResponse response = Get("theme.js", {{"accept-encoding", takes}});
    EXPECT_EQ(response.body, "gzip of theme") << takes;
    EXPECT_EQ(HeaderIn(response, "Content-Encoding"), "gzip");
    EXPECT_EQ(HeaderIn(response, "Vary"), "Accept-Encoding");
  }
  for (const char* takes : {"", "br", "gzip;q=0", "gzip;q=0.000", "xgzip"}) {
    const HttpResponse response = Get("theme.js", {{"accept-encoding", takes}});
    EXPECT_EQ(response.body, "theme") << takes;
    EXPECT_EQ(HeaderIn(response, "Content-Encoding"), "");
  }
}

TEST_F(PageHandlersTest, UnchangedFileIsNotSentAgain) {
  for (const char* known : {"\"theme\"", "W/\"theme\"", "\"other\", \"theme\""}) {
    const HttpResponse response = Get("theme.js", {{"if-none-match", known}});
    EXPECT_EQ(response.status, 304) << known;
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(HeaderIn(response, "ETag"), "\"theme\"");
  }
  EXPECT_EQ(Get("theme.js", {{"if-none-match", "\"shell\""}}).status, 200);
}

}  // namespace
}  // namespace callslip::gateway
