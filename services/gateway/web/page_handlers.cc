#include "gateway/web/page_handlers.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/version.h"
#include "gateway/http/error_response.h"

namespace callslip::gateway {
namespace {

constexpr char kShell[] = "index.html";
constexpr absl::string_view kAssets = "assets/";

// Scripts and styles are the gateway's own files, and no text is ever turned into HTML, so an
// agent's output stays text whatever it contains. The page cannot be framed, so no other page can
// place it under its own clicks.
constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

struct ContentType {
  absl::string_view suffix;
  absl::string_view name;
};
constexpr ContentType kContentTypes[] = {{".html", "text/html; charset=utf-8"},
                                         {".js", "text/javascript; charset=utf-8"},
                                         {".css", "text/css; charset=utf-8"},
                                         {".svg", "image/svg+xml"},
                                         {".png", "image/png"},
                                         {".ico", "image/x-icon"},
                                         {".webmanifest", "application/manifest+json"}};

absl::string_view ContentTypeOf(const std::string& path) {
  const auto* found = absl::c_find_if(kContentTypes, [&path](const ContentType& type) {
    return absl::EndsWith(path, type.suffix);
  });
  return found == std::end(kContentTypes) ? "application/octet-stream" : found->name;
}

// For a header such as "gzip, deflate;q=0.5".
bool Accepts(absl::string_view header, absl::string_view coding) {
  for (absl::string_view member : absl::StrSplit(header, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(member, absl::MaxSplits(';', 1));
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.first), coding)) continue;
    absl::string_view weight = absl::StripAsciiWhitespace(parts.second);
    return !absl::ConsumePrefix(&weight, "q=0") || weight.find_first_of("123456789") != weight.npos;
  }
  return false;
}

// Whether the client's copy is this one.
bool Has(absl::string_view if_none_match, absl::string_view etag) {
  for (absl::string_view member : absl::StrSplit(if_none_match, ',')) {
    member = absl::StripAsciiWhitespace(member);
    absl::ConsumePrefix(&member, "W/");
    if (member == etag) return true;
  }
  return false;
}

HttpResponse LeadTo(std::string path) {
  return {.status = 302, .headers = {{"Location", std::move(path)}, {"Cache-Control", "no-cache"}}};
}

}  // namespace

void PageHandlers::AddRoutes(Router& router) const {
  const HttpHandler lead =
      [](std::shared_ptr<HttpRequest>) -> boost::asio::awaitable<HttpResponse> {
    co_return LeadTo("/ui/");
  };
  const HttpHandler at_root =
      [this](std::shared_ptr<HttpRequest> request) -> boost::asio::awaitable<HttpResponse> {
    co_return AnswerAtRoot(*request);
  };
  const HttpHandler answer =
      [this](std::shared_ptr<HttpRequest> request) -> boost::asio::awaitable<HttpResponse> {
    co_return Answer(*request);
  };
  for (const char* method : {"GET", "HEAD"}) {
    router.AddOpen(method, "/", at_root);
    router.AddOpen(method, "/ui", lead);
    router.AddOpen(method, "/ui/", answer);
    router.AddOpen(method, "/ui/{path...}", answer);
  }
}

HttpResponse PageHandlers::AnswerAtRoot(const HttpRequest& request) const {
  const bool is_browser =
      absl::StrContains(absl::AsciiStrToLower(request.Header("accept")), "text/html");
  HttpResponse response = is_browser ? LeadTo("/ui/") : HttpResponse();
  response.headers.emplace_back("Vary", "Accept");
  if (is_browser) return response;
  response.content_type = "text/plain; charset=utf-8";
  const std::string base = absl::StrCat(is_tls_ ? "https://" : "http://", request.Header("host"));
  response.body = absl::StrCat("Callslip ", kVersion, "\n",                            //
                               base, "/ui/  the page: sessions, commands, workers\n",  //
                               base, "/mcp  for agents: MCP over HTTP\n",              //
                               base, "      for the browser extension: pair it with this\n");
  return response;
}

HttpResponse PageHandlers::Answer(const HttpRequest& request) const {
  const bool takes_gzip = Accepts(request.Header("accept-encoding"), "gzip");
  std::string path = request.Parameter("path");
  std::optional<WebFile> file;
  // Any other spelling is a location in the page.
  const bool is_plain = absl::c_none_of(absl::StrSplit(path, '/'), [](absl::string_view segment) {
    return segment.empty() || segment == "." || segment == "..";
  });
  if (is_plain) file = files_->Find(path, takes_gzip);
  const bool is_asset = is_plain && absl::StartsWith(path, kAssets);
  if (!file.has_value()) {
    if (is_asset) {
      return ErrorResponse(404, "unknown_path", absl::StrCat("The page has no file ", path, "."),
                           "It may be of another version of the page: load it again.");
    }
    path = kShell;
    file = files_->Find(path, takes_gzip);
  }
  if (!file.has_value()) {
    return ErrorResponse(404, "no_page", "There is no index.html.",
                         "Build the page into the folder of --web-root: node web/build.mjs.");
  }
  HttpResponse response;
  response.headers = {
      {"ETag", file->etag},
      {"Cache-Control", is_asset ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Vary", "Accept-Encoding"},
      {"Cross-Origin-Resource-Policy", "same-origin"}};
  if (Has(request.Header("if-none-match"), file->etag)) {
    response.status = 304;
    return response;
  }
  response.content_type = ContentTypeOf(path);
  response.body = std::move(file->body);
  if (file->is_gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  if (absl::EndsWith(path, ".html")) {
    response.headers.emplace_back("Content-Security-Policy", kContentSecurityPolicy);
    response.headers.emplace_back("Referrer-Policy", "no-referrer");
    response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
    response.headers.emplace_back("Permissions-Policy",
                                  "camera=(), display-capture=(), geolocation=(), microphone=()");
  }
  return response;
}

}  // namespace callslip::gateway
