#include "gateway/web/page_login.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "auth/same_secret.h"
#include "auth/sha256.h"
#include "auth/token_file.h"
#include "common/log.h"
#include "common/random.h"
#include "common/status_macros.h"
#include "gateway/http/address_quota.h"
#include "gateway/http/error_response.h"
#include "gateway/http/unauthorized.h"
#include "gateway/json/json_fields.h"
#include "gateway/json/json_members.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {
namespace {

// A token and the JSON around it.
constexpr uint64_t kLoginBodyBytes = 4 << 10;
constexpr absl::string_view kVersion = "v3.";
// Browsers silently drop a cookie of more than 4096 bytes, including its name and attributes.
constexpr size_t kMaxPayloadBytes = 3800;
constexpr absl::string_view kKeyProtocol = "callslip.key.";

// The cookie of this gateway: several gateways on one host have different ports, and would
// otherwise log each other out.
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

std::string Cookie(const HttpRequest& request, absl::string_view value, absl::Duration lifetime) {
  // A cookie set over HTTPS, perhaps through a proxy, must only be sent over HTTPS.
  const bool is_secure = absl::StartsWith(request.Header("origin"), "https://");
  return absl::StrCat(CookieName(request), "=", value,
                      "; HttpOnly; SameSite=Strict; Path=/api; Max-Age=",
                      absl::ToInt64Seconds(lifetime), is_secure ? "; Secure" : "");
}

bool SeesThePage(Role role) { return kReaders.Has(role); }

absl::Status NobodyIsLoggedIn() { return absl::UnauthenticatedError("no user is logged in"); }

// A cookie's parts: its content and the signature of the content. Nullopt if it is not the
// gateway's cookie.
struct Parts {
  absl::string_view payload;
  absl::string_view signature;
  Json said;
};
std::optional<Parts> PartsOf(absl::string_view cookie) {
  if (!absl::ConsumePrefix(&cookie, kVersion)) return std::nullopt;
  const size_t dot = cookie.find('.');
  std::string said;
  if (dot == absl::string_view::npos ||
      !absl::WebSafeBase64Unescape(cookie.substr(0, dot), &said)) {
    return std::nullopt;
  }
  absl::StatusOr<Json> json = ParseObject(said);
  if (!json.ok()) return std::nullopt;
  return Parts{cookie.substr(0, dot), cookie.substr(dot + 1), *std::move(json)};
}

Json ToJson(const Grant& grant) {
  return {{"caller", grant.caller}, {"scopes", grant.scopes}, {"key", grant.key}};
}

}  // namespace

void PageLogin::SetKey(std::string session_key) {
  if (session_key == session_key_) return;
  session_key_ = std::move(session_key);
  for (const auto& [id, in_use] : in_use_) {
    if (const auto credential = in_use.lock(); credential != nullptr) credential->Revoke();
  }
  in_use_.clear();
}

void PageLogin::Believe(Grants* grants, std::string server) {
  grants_ = grants;
  server_ = std::move(server);
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

std::string PageLogin::SignLogin(absl::string_view payload, absl::string_view secret) const {
  return Sign("page-login", absl::StrCat(payload, " ", secret));
}

std::string PageLogin::Sign(absl::string_view purpose, absl::string_view content) const {
  // The key also signs the IDs of MCP sessions, none of which begins like this.
  const std::string text = absl::StrCat(purpose, " ", content);
  return absl::WebSafeBase64Escape(AsBytes(HmacSha256(session_key_, text)));
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
                         absl::StrCat("Use that of a ", RoleNames(kReaders),
                                      " in the file that the gateway's --token-file names."));
  }
  return Answer(request, *credential, {.fingerprint = TokenFingerprint(token)}, token);
}

HttpResponse PageLogin::LetIn(const HttpRequest& request, const Grant& grant) const {
  const absl::StatusOr<CredentialPtr> credential = grants_->Find(grant);
  if (!credential.ok()) return TokenInvalid({}, {}, credential.status());
  return Answer(request, **credential, {.grant = grant}, server_);
}

HttpResponse PageLogin::Answer(const HttpRequest& request, const Credential& credential,
                               Login login, absl::string_view secret) const {
  const Principal& who = credential.principal();
  if (!SeesThePage(who.role)) {
    HttpResponse refusal =
        ErrorResponse(403, "role_not_allowed",
                      absl::StrCat("A ", RoleName(who.role), " may see nothing on the page."),
                      absl::StrCat("Log in with the token of a ", RoleNames(kReaders), "."));
    refusal.refused = std::make_shared<const Principal>(who);
    return refusal;
  }
  const absl::Time now = ToWallTime(clock_->Now());
  const absl::Time end = std::min(credential.expires(), now + kLifetime);
  const std::string key = absl::StrCat(RandomHex128(), RandomHex128());
  Json said = {{"id", Sha256Base64Url(key)}, {"end", absl::ToUnixSeconds(end)}};
  if (login.grant.has_value()) {
    said["grant"] = ToJson(*login.grant);
  } else {
    said["token"] = login.fingerprint;
  }
  const std::string payload = absl::WebSafeBase64Escape(Dump(said));
  if (payload.size() > kMaxPayloadBytes) {
    return ErrorResponse(401, "login_refused",
                         "The authorization server's data about you is too long for a cookie.",
                         "Have it name you by a shorter claim, or with fewer scopes.");
  }
  if (const std::optional<int64_t> left_out = audit_.Admit(); left_out.has_value()) {
    Log(LogLevel::kInfo, "audit",
        {{"verdict", "allowed"},
         {"method", request.method},
         {"route", request.path},
         {"principal", who.name},
         {"role", std::string(RoleName(who.role))},
         {"address", AddressText(request.address)},
         {"left_out", absl::StrCat(*left_out)}});
  }
  const std::string value = absl::StrCat(kVersion, payload, ".", SignLogin(payload, secret));
  return {
      .body = Dump({{"name", who.name}, {"role", std::string(RoleName(who.role))}, {"key", key}}),
      .headers = {{"Set-Cookie", Cookie(request, value, end - now)},
                  {"Cache-Control", "no-store"}}};
}

std::string PageLogin::Login::Account() const {
  return grant.has_value() ? absl::StrCat("grant ", grant->caller)
                           : absl::StrCat("token ", fingerprint);
}

HttpResponse PageLogin::LogOut(const HttpRequest& request) {
  if (const std::optional<Login> login = Read(request); login.has_value()) {
    logged_out_.Add(login->Account(), login->id, login->end, ToWallTime(clock_->Now()));
    const auto found = in_use_.find(login->id);
    const auto credential = found == in_use_.end() ? nullptr : found->second.lock();
    if (credential != nullptr) credential->Revoke();
  }
  return {.status = 204, .headers = {{"Set-Cookie", Cookie(request, "", absl::ZeroDuration())}}};
}

bool PageLogin::IsFromPage(const HttpRequest& request) const { return !KeyOf(request).empty(); }

absl::StatusOr<CredentialPtr> PageLogin::Find(const HttpRequest& request) {
  const std::optional<Login> login = Read(request);
  if (!login.has_value()) return NobodyIsLoggedIn();
  ASSIGN_OR_RETURN(CredentialPtr whole, WholeOf(*login));
  // Its role may have changed.
  if (!SeesThePage(whole->principal().role)) return NobodyIsLoggedIn();
  std::weak_ptr<Credential>& known = in_use_[login->id];
  std::shared_ptr<Credential> credential = known.lock();
  if (credential == nullptr || credential->IsRevoked()) {
    credential = std::make_shared<Credential>(std::move(whole), login->end);
    known = credential;
  }
  if (in_use_.size() >= forget_at_) {
    absl::erase_if(in_use_, [](const auto& each) { return each.second.expired(); });
    forget_at_ = std::max<size_t>(1000, 2 * in_use_.size());
  }
  return CredentialPtr(std::move(credential));
}

std::optional<PageLogin::Login> PageLogin::Read(const HttpRequest& request) const {
  const std::optional<Parts> parts = PartsOf(CookieOf(request));
  if (!parts.has_value()) return std::nullopt;
  const Json grant = parts->said.value("grant", Json());
  std::string secret = server_;
  Login login{.id = TextOf(parts->said, "id"), .fingerprint = TextOf(parts->said, "token")};
  if (grant.is_null()) {
    if (credentials_ == nullptr) return std::nullopt;
    std::optional<Credentials::Token> token = credentials_->FindFingerprint(login.fingerprint);
    if (!token.has_value()) return std::nullopt;
    secret = std::move(token->text);
  } else if (grants_ == nullptr) {
    return std::nullopt;
  }
  if (!IsSameSecret(parts->signature, SignLogin(parts->payload, secret))) return std::nullopt;
  // From here on the content is known to be issued by the gateway.
  login.end = absl::FromUnixSeconds(parts->said["end"].get<int64_t>());
  if (!grant.is_null()) {
    login.grant = Grant{.caller = TextOf(grant, "caller"),
                        .scopes = grant["scopes"].get<std::vector<std::string>>(),
                        .key = TextOf(grant, "key"),
                        .expires = login.end};
  }
  const bool is_over = ToWallTime(clock_->Now()) >= login.end ||
                       logged_out_.Contains(login.Account(), login.id, login.end);
  if (is_over || !IsSameSecret(login.id, Sha256Base64Url(KeyOf(request)))) return std::nullopt;
  return login;
}

absl::StatusOr<CredentialPtr> PageLogin::WholeOf(const Login& login) const {
  if (login.grant.has_value()) return grants_->Find(*login.grant);
  std::optional<Credentials::Token> token = credentials_->FindFingerprint(login.fingerprint);
  if (!token.has_value()) return NobodyIsLoggedIn();
  return std::move(token->credential);
}

}  // namespace callslip::gateway
