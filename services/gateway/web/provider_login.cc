#include "gateway/web/provider_login.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "boost/asio/post.hpp"
#include "boost/asio/this_coro.hpp"
#include "common/log.h"
#include "gateway/http/error_response.h"
#include "gateway/http/unauthorized.h"
#include "gateway/json/json_fields.h"
#include "gateway/json/json_members.h"
#include "rpc_client/promise.h"

namespace callslip::gateway {

namespace asio = boost::asio;

namespace {

constexpr uint64_t kBodyBytes = 8 << 10;
// The maximum length of the server's error word.
constexpr size_t kErrorBytes = 64;
// SHA-256 in base64url, as RFC 7636 specifies for S256.
constexpr size_t kChallengeLetters = 43;
// The path of the page to which users return.
constexpr absl::string_view kReturnPath = "/ui/login";

// The URL to which users return; empty if the request does not come from a page.
std::string ReturnUrl(const HttpRequest& request) {
  const std::string& origin = request.Header("origin");
  return origin.empty() ? "" : absl::StrCat(origin, kReturnPath);
}

std::string FormEncoded(absl::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
    } else {
      absl::StrAppend(&encoded, "%", std::string(1, kHex[byte >> 4]),
                      std::string(1, kHex[byte & 15]));
    }
  }
  return encoded;
}

std::string Form(const std::vector<std::pair<absl::string_view, absl::string_view>>& fields) {
  return absl::StrJoin(fields, "&", [](std::string* out, const auto& field) {
    absl::StrAppend(out, field.first, "=", FormEncoded(field.second));
  });
}

HttpResponse Unavailable(absl::string_view message) {
  HttpResponse response =
      ErrorResponse(503, "provider_unavailable", std::string(message),
                    "Try again in a moment; the gateway's log says what fails.");
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

HttpResponse NotHeardOf() { return Unavailable("The authorization server was not heard of yet."); }

// The server's error word, reduced to the letters that such words have.
std::string WordIn(const std::string& body) {
  const absl::StatusOr<Json> answer = ParseObject(body);
  std::string word = answer.ok() ? TextOf(*answer, "error") : "";
  std::erase_if(word, [](char c) { return !absl::ascii_islower(c) && c != '_'; });
  return word.substr(0, kErrorBytes);
}

}  // namespace

ProviderLogin::ProviderLogin(Settings settings, std::unique_ptr<DocumentSource> source,
                             std::function<LoginEndpoints()> endpoints, Grants* grants,
                             const PageLogin* login, Clock* clock)
    : settings_(std::move(settings)),
      source_(std::move(source)),
      endpoints_(std::move(endpoints)),
      grants_(grants),
      login_(login),
      states_([login](absl::string_view text) { return login->Sign("login-state", text); }, clock),
      quota_(clock) {}

ProviderLogin::~ProviderLogin() {
  source_->Stop();
  thread_.join();
}

void ProviderLogin::AddRoutes(Router& router) {
  router.AddOpen(
      "POST", "/api/login/provider/begin",
      [this](std::shared_ptr<HttpRequest> request) -> asio::awaitable<HttpResponse> {
        co_return Begin(*request);
      },
      kBodyBytes);
  router.AddOpen(
      "POST", "/api/login/provider",
      [this](std::shared_ptr<HttpRequest> request) { return LogIn(std::move(request)); },
      kBodyBytes);
}

Json ProviderLogin::Description() const {
  const LoginEndpoints endpoints = endpoints_();
  if (!endpoints.authorization.has_value() || !endpoints.token.has_value()) return nullptr;
  return {{"issuer", settings_.issuer}};
}

HttpResponse ProviderLogin::Begin(const HttpRequest& request) const {
  JsonFields fields = JsonFields::OfBody(request.body);
  const std::string challenge = fields.Text("code_challenge");
  const std::string redirect = ReturnUrl(request);
  const auto is_of_challenge = [](char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_';
  };
  if (challenge.size() != kChallengeLetters || !absl::c_all_of(challenge, is_of_challenge)) {
    fields.Fail("code_challenge has to be the SHA-256 of the code_verifier, in base64url");
  }
  if (redirect.empty()) fields.Fail("a login must start in the page: the request has no Origin");
  if (!fields.status().ok()) return ErrorResponse(fields.status());
  const LoginEndpoints endpoints = endpoints_();
  if (!endpoints.authorization.has_value()) return NotHeardOf();
  const std::string address =
      absl::StrCat(endpoints.authorization->Origin(), endpoints.authorization->path);
  const std::string state = states_.Give(challenge, redirect);
  const std::string query = Form({{"response_type", "code"},
                                  {"client_id", settings_.client_id},
                                  {"redirect_uri", redirect},
                                  {"scope", absl::StrJoin(settings_.scopes, " ")},
                                  {"resource", settings_.resource},
                                  {"state", state},
                                  {"code_challenge", challenge},
                                  {"code_challenge_method", "S256"}});
  const absl::string_view joint = absl::StrContains(address, '?') ? "&" : "?";
  return {.body = Dump({{"state", state}, {"url", absl::StrCat(address, joint, query)}}),
          .headers = {{"Cache-Control", "no-store"}}};
}

asio::awaitable<HttpResponse> ProviderLogin::LogIn(std::shared_ptr<HttpRequest> request) {
  JsonFields fields = JsonFields::OfBody(request->body);
  const std::string state = fields.Text("state");
  const std::string code = fields.Text("code");
  const std::string verifier = fields.Text("code_verifier");
  const std::string redirect = ReturnUrl(*request);
  if (code.empty() || verifier.empty()) fields.Fail("code and code_verifier are required");
  if (state.empty()) fields.Fail("state is required: POST /api/login/provider/begin gives it");
  if (!fields.status().ok()) co_return ErrorResponse(fields.status());
  const LoginEndpoints endpoints = endpoints_();
  if (!endpoints.token.has_value()) co_return NotHeardOf();
  const std::string address = request->address;
  const absl::StatusOr<std::shared_ptr<void>> place = quota_.Take(address);
  if (!place.ok()) co_return ErrorResponse(place.status());
  // A client whose login did not begin here causes no request to the server.
  if (const absl::Status begun = states_.Take(state, verifier, redirect); !begun.ok()) {
    co_return ErrorResponse(401, "login_refused", begun.message(), "Log in again.");
  }
  // Continues even if the client has left, to complete what it began.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  auto exchange = Exchange(*endpoints.token, Form({{"grant_type", "authorization_code"},
                                                   {"code", code},
                                                   {"code_verifier", verifier},
                                                   {"redirect_uri", redirect},
                                                   {"client_id", settings_.client_id},
                                                   {"resource", settings_.resource}}));
  absl::StatusOr<FormAnswer> answer = co_await std::move(exchange);
  auto let_in = LetIn(std::move(request), std::move(answer), address);
  HttpResponse response = co_await std::move(let_in);
  co_return response;
}

asio::awaitable<HttpResponse> ProviderLogin::LetIn(std::shared_ptr<HttpRequest> request,
                                                   absl::StatusOr<FormAnswer> answer,
                                                   std::string address) {
  if (!answer.ok() || answer->status >= 500) {
    Log(LogLevel::kWarning, "the authorization server exchanged no code",
        {{"reason", answer.ok() ? absl::StrCat("status ", answer->status)
                                : std::string(answer.status().message())}});
    quota_.CountFailed(address);
    co_return Unavailable("The authorization server does not answer.");
  }
  const absl::StatusOr<Json> told = ParseObject(answer->body);
  const std::string token = told.ok() ? TextOf(*told, "access_token") : "";
  if (answer->status != 200 || token.empty()) {
    quota_.CountFailed(address);
    const std::string word = WordIn(answer->body);
    Log(LogLevel::kInfo, "the authorization server refused a code", {{"error", word}});
    co_return ErrorResponse(
        401, "login_refused",
        absl::StrCat("The authorization server did not let you in",
                     word.empty() ? "." : absl::StrCat(": ", word, ".")),
        "Log in again. Where that does not help, the id or the redirect URI of --oauth-page-client "
        "is not what the server knows.");
  }
  auto verified = Verify(token);
  const absl::StatusOr<CredentialPtr> credential = co_await std::move(verified);
  if (!credential.ok()) {
    co_return TokenInvalid({}, kReaders, credential.status());
  }
  const absl::StatusOr<Grant> grant = grants_->GrantOf(token);
  if (!grant.ok()) {
    co_return TokenInvalid({}, kReaders, grant.status());
  }
  co_return login_->LetIn(*request, *grant);
}

asio::awaitable<absl::StatusOr<FormAnswer>> ProviderLogin::Exchange(Url url, std::string form) {
  const auto loop = co_await asio::this_coro::executor;
  const Promise<absl::StatusOr<FormAnswer>> brought(loop);
  asio::post(thread_, [this, loop, brought, url = std::move(url), form = std::move(form)] {
    absl::StatusOr<FormAnswer> answer = source_->Post(url, form);
    asio::post(loop,
               [brought, answer = std::move(answer)]() mutable { brought.Set(std::move(answer)); });
  });
  auto got = brought.Get();
  absl::StatusOr<FormAnswer> answer = co_await std::move(got);
  co_return answer;
}

asio::awaitable<absl::StatusOr<CredentialPtr>> ProviderLogin::Verify(std::string token) {
  const auto loop = co_await asio::this_coro::executor;
  const Promise<absl::StatusOr<CredentialPtr>> brought(loop);
  grants_->Verify(token, "", [brought](absl::StatusOr<CredentialPtr> verified) {
    brought.Set(std::move(verified));
  });
  auto got = brought.Get();
  absl::StatusOr<CredentialPtr> verified = co_await std::move(got);
  co_return verified;
}

void AddLoginWays(Router& router, bool takes_tokens, const ProviderLogin* provider) {
  router.AddOpen("GET", "/api/login",
                 [=](std::shared_ptr<HttpRequest>) -> asio::awaitable<HttpResponse> {
                   Json ways = {{"token", takes_tokens}};
                   Json described = provider == nullptr ? Json() : provider->Description();
                   if (!described.is_null()) ways["provider"] = std::move(described);
                   HttpResponse response;
                   response.body = Dump(ways);
                   response.headers = {{"Cache-Control", "no-store"}};
                   co_return response;
                 });
}

}  // namespace callslip::gateway
