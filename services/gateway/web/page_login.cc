#include "gateway/web/page_login.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "auth/sha256.h"
#include "auth/token_file.h"
#include "common/random.h"
#include "gateway/http/error_response.h"
#include "gateway/http/unauthorized.h"
#include "gateway/json/json_fields.h"
#include "openssl/crypto.h"
#include "openssl/evp.h"
#include "openssl/hmac.h"

namespace callslip::gateway {
namespace {

// A token and the JSON around it.
constexpr uint64_t kLoginBodyBytes = 4 << 10;
constexpr char kVersion[] = "v1";
constexpr char kNamedVersion[] = "v2";
constexpr absl::string_view kKeyProtocol = "callslip.key.";

// Of this gateway: several on one host have ports of their own, and would log each other out.
std::string CookieName(const HttpRequest& request) {
  const std::string& host = request.Header("host");
  const size_t colon = host.rfind(':');
  const absl::string_view port =
      colon == std::string::npos ? "" : absl::string_view(host).substr(colon + 1);
  int number = 0;
  return absl::SimpleAtoi(port, &number) ? absl::StrCat("callslip-", number) : "callslip";
}

absl::string_view CookieOf(const HttpRequest& request) {
  const std::string prefix = absl::StrCat(CookieName(request), "=");
  for (absl::string_view cookie : absl::StrSplit(request.Header("cookie"), ';')) {
    cookie = absl::StripAsciiWhitespace(cookie);
    if (absl::ConsumePrefix(&cookie, prefix)) return cookie;
  }
  return "";
}

absl::string_view KeyOf(const HttpRequest& request) {
  const std::string& header = request.Header("x-callslip-key");
  if (!header.empty()) return header;
  for (absl::string_view protocol : absl::StrSplit(request.Header("sec-websocket-protocol"), ',')) {
    protocol = absl::StripAsciiWhitespace(protocol);
    if (absl::ConsumePrefix(&protocol, kKeyProtocol)) return protocol;
  }
  return "";
}

std::string DigestOf(absl::string_view text) {
  const Sha256Digest digest = Sha256(text);
  return absl::WebSafeBase64Escape(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

bool AreSame(absl::string_view one, absl::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

std::string Cookie(const HttpRequest& request, absl::string_view value, absl::Duration lifetime) {
  // Where it came by HTTPS, perhaps to a proxy, it goes by nothing else.
  const bool is_secure = absl::StartsWith(request.Header("origin"), "https://");
  return absl::StrCat(CookieName(request), "=", value,
                      "; HttpOnly; SameSite=Strict; Path=/api; Max-Age=",
                      absl::ToInt64Seconds(lifetime), is_secure ? "; Secure" : "");
}

std::optional<absl::Time> Ends(absl::string_view unix_seconds) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(unix_seconds, &seconds)) return std::nullopt;
  return absl::FromUnixSeconds(seconds);
}

}  // namespace

void PageLogin::SetKey(std::string session_key) {
  const MutexLock lock(&mutex_);
  session_key_ = std::move(session_key);
}

void PageLogin::AddRoutes(Router& router) {
  router.AddOpen(
      "POST", "/api/login",
      [this](std::shared_ptr<HttpRequest> request) -> boost::asio::awaitable<HttpResponse> {
        co_return LogIn(*request);
      },
      kLoginBodyBytes);
  router.AddOpen(
      "POST", "/api/logout",
      [this](std::shared_ptr<HttpRequest> request) -> boost::asio::awaitable<HttpResponse> {
        co_return LogOut(*request);
      },
      kLoginBodyBytes);
}

std::string PageLogin::Sign(absl::string_view payload, absl::string_view token) const {
  // The key signs the ids of MCP sessions, too: none of those begins like this.
  const std::string text = absl::StrCat("page-login ", payload, " ", token);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac;
  unsigned int bytes = 0;
  {
    const MutexLock lock(&mutex_);
    HMAC(EVP_sha256(), session_key_.data(), static_cast<int>(session_key_.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &bytes);
  }
  return absl::WebSafeBase64Escape(
      absl::string_view(reinterpret_cast<const char*>(mac.data()), bytes));
}

HttpResponse PageLogin::LogIn(const HttpRequest& request) const {
  JsonFields fields = JsonFields::OfBody(request.body);
  const std::string token = fields.Text("token");
  if (token.empty()) fields.Fail("token is missing");
  if (!fields.status().ok()) return ErrorResponse(fields.status());
  const CredentialPtr credential =
      credentials_ == nullptr ? nullptr : credentials_->FindToken(token);
  if (credential == nullptr) {
    return ErrorResponse(401, "token_unknown", "The gateway does not know this token.",
                         "Take that of a client, viewer or admin of the file that --token-file of "
                         "the gateway names.");
  }
  return Answer(request, credential->principal(),
                absl::StrCat(kVersion, ".", TokenFingerprint(token)), absl::InfiniteFuture(),
                token);
}

HttpResponse PageLogin::LetIn(const HttpRequest& request, const Credential& credential) const {
  const Principal& who = credential.principal();
  return Answer(request, who,
                absl::StrCat(kNamedVersion, ".", absl::WebSafeBase64Escape(who.name), ".",
                             std::string(RoleName(who.role))),
                credential.expires(), "");
}

HttpResponse PageLogin::Answer(const HttpRequest& request, const Principal& who,
                               std::string payload, absl::Time expires,
                               absl::string_view token) const {
  if (who.role != Role::kClient && who.role != Role::kViewer && who.role != Role::kAdmin) {
    HttpResponse refusal = ErrorResponse(
        403, "role_not_allowed",
        absl::StrCat("A ", std::string(RoleName(who.role)), " may see nothing on the page."),
        "Log in with the token of a client, viewer or admin.");
    refusal.refused = std::make_shared<const Principal>(who);
    return refusal;
  }
  const absl::Time now = ToWallTime(clock_->Now());
  const absl::Time end = std::min(expires, now + kLifetime);
  const std::string key = absl::StrCat(RandomHex128(), RandomHex128());
  absl::StrAppend(&payload, ".", absl::ToUnixSeconds(end), ".", DigestOf(key));
  HttpResponse response;
  response.body =
      Dump(Json{{"name", who.name}, {"role", std::string(RoleName(who.role))}, {"key", key}});
  response.headers = {
      {"Set-Cookie", Cookie(request, absl::StrCat(payload, ".", Sign(payload, token)), end - now)},
      {"Cache-Control", "no-store"}};
  return response;
}

HttpResponse PageLogin::LogOut(const HttpRequest& request) const {
  HttpResponse response{.status = 204};
  response.headers = {{"Set-Cookie", Cookie(request, "", absl::ZeroDuration())}};
  return response;
}

bool PageLogin::IsFromPage(const HttpRequest& request) const { return !KeyOf(request).empty(); }

CredentialPtr PageLogin::Find(const HttpRequest& request) const {
  const absl::string_view cookie = CookieOf(request);
  if (absl::StartsWith(cookie, absl::StrCat(kNamedVersion, "."))) return FindNamed(request);
  const std::vector<absl::string_view> parts = absl::StrSplit(cookie, '.');
  if (parts.size() != 5 || parts[0] != kVersion || credentials_ == nullptr) return nullptr;
  const std::optional<Credentials::Token> token = credentials_->FindFingerprint(parts[1]);
  const absl::string_view payload = cookie.substr(0, cookie.size() - parts[4].size() - 1);
  if (!token.has_value() || !AreSame(parts[4], Sign(payload, token->text))) return nullptr;
  // From here on it is what was issued.
  const std::optional<absl::Time> end = Ends(parts[2]);
  if (!end.has_value() || ToWallTime(clock_->Now()) >= *end) return nullptr;
  return AreSame(parts[3], DigestOf(KeyOf(request))) ? token->credential : nullptr;
}

CredentialPtr PageLogin::FindNamed(const HttpRequest& request) const {
  const absl::string_view cookie = CookieOf(request);
  const std::vector<absl::string_view> parts = absl::StrSplit(cookie, '.');
  if (parts.size() != 6) return nullptr;
  const absl::string_view payload = cookie.substr(0, cookie.size() - parts[5].size() - 1);
  if (!AreSame(parts[5], Sign(payload, ""))) return nullptr;
  // From here on it is what was issued.
  std::string name;
  const std::optional<Role> role = ParseRole(parts[2]);
  const std::optional<absl::Time> end = Ends(parts[3]);
  if (!absl::WebSafeBase64Unescape(parts[1], &name) || !role.has_value() || !end.has_value()) {
    return nullptr;
  }
  if (ToWallTime(clock_->Now()) >= *end || !AreSame(parts[4], DigestOf(KeyOf(request)))) {
    return nullptr;
  }
  return std::make_shared<const Credential>(Principal{.name = name, .role = *role}, *end);
}

}  // namespace callslip::gateway
