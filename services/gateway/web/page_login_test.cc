#include "gateway/web/page_login.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/fake_grants.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<TokenFile::Entry> EntriesOfAllRoles() {
  std::vector<TokenFile::Entry> entries;
  for (const Role role :
       {Role::kClient, Role::kWorker, Role::kViewer, Role::kRunner, Role::kAdmin, Role::kGateway}) {
    const std::string name(RoleName(role));
    entries.push_back({{name, role}, absl::StrCat(name, "-0123456789abcdef0123456789")});
  }
  return entries;
}

class PageLoginTest : public testing::Test {
 protected:
  PageLoginTest() { login_.Believe(&grants_, "https://issuer.test page"); }

  struct Kept {
    int status;
    std::string body;
    std::string cookie;  // The header of the answer.
    std::string key;
  };

  Kept LogIn(const std::string& role, const std::string& host = "127.0.0.1:7890",
             const std::string& origin = "http://127.0.0.1:7890") {
    HttpRequest request{.method = "POST", .path = "/api/login"};
    request.headers = {{"host", host}, {"origin", origin}};
    request.body = Dump(Json{{"token", absl::StrCat(role, "-0123456789abcdef0123456789")}});
    return KeptOf(login_.LogIn(request));
  }
  // A login by the authorization server.
  Kept LetIn() {
    HttpRequest request{.method = "POST", .path = "/api/login/provider"};
    request.headers = {{"host", "127.0.0.1:7890"}, {"origin", "http://127.0.0.1:7890"}};
    return KeptOf(login_.LetIn(request, grants_.grant));
  }
  static Kept KeptOf(const HttpResponse& response) {
    Kept kept{.status = response.status, .body = response.body};
    for (const auto& [name, value] : response.headers) {
      if (name == "Set-Cookie") kept.cookie = value;
    }
    const Json body = Json::parse(response.body);
    if (body.contains("key")) kept.key = body["key"];
    return kept;
  }

  // As the browser sends it.
  static HttpRequest Request(const Kept& kept, const std::string& host = "127.0.0.1:7890") {
    HttpRequest request{.method = "GET", .path = "/api/sessions"};
    request.headers = {
        {"host", host},
        {"cookie", absl::StrCat("a=b; ", kept.cookie.substr(0, kept.cookie.find(';')), "; c=d")},
        {"x-callslip-key", kept.key}};
    return request;
  }

  std::string WhoIs(const HttpRequest& request) {
    const CredentialPtr credential = login_.Find(request).value_or(nullptr);
    return credential == nullptr ? "" : credential->principal().name;
  }

  FakeClock clock_;
  std::shared_ptr<Credentials> credentials_ = std::make_shared<Credentials>(EntriesOfAllRoles());
  FakeGrants grants_;
  PageLogin login_{std::string(32, 'k'), credentials_, &clock_};
};

TEST_F(PageLoginTest, OnlyRolesWithAccessToPageCanLogIn) {
  for (const TokenFile::Entry& entry : EntriesOfAllRoles()) {
    const std::string& name = entry.principal.name;
    const bool may = name == "client" || name == "viewer" || name == "admin";
    const Kept kept = LogIn(name);
    EXPECT_EQ(kept.status, may ? 200 : 403) << name;
    EXPECT_EQ(WhoIs(Request(kept)), may ? name : "") << name;
    EXPECT_THAT(kept.body, Not(HasSubstr(entry.token)));
    EXPECT_THAT(kept.cookie, Not(HasSubstr(entry.token)));
  }
  EXPECT_EQ(LogIn("nobody").status, 401);
}

TEST_F(PageLoginTest, CookieHasProtectiveAttributes) {
  EXPECT_THAT(
      LogIn("client").cookie,
      AllOf(HasSubstr("callslip-7890="), HasSubstr("; HttpOnly"), HasSubstr("; SameSite=Strict"),
            HasSubstr("; Path=/api;"), HasSubstr("; Max-Age=604800"), Not(HasSubstr("Secure"))));
  EXPECT_THAT(LogIn("client", "callslip.example", "https://callslip.example").cookie,
              AllOf(HasSubstr("callslip="), HasSubstr("; Secure")));
}

TEST_F(PageLoginTest, CookieAndKeyAreBothRequired) {
  const Kept kept = LogIn("client");
  HttpRequest cookie_alone = Request(kept);
  cookie_alone.headers.erase("x-callslip-key");
  EXPECT_FALSE(login_.IsFromPage(cookie_alone));
  EXPECT_EQ(WhoIs(cookie_alone), "");
  HttpRequest key_alone = Request(kept);
  key_alone.headers.erase("cookie");
  EXPECT_TRUE(login_.IsFromPage(key_alone));
  EXPECT_EQ(WhoIs(key_alone), "");
  HttpRequest halves_of_two = Request(kept);
  halves_of_two.headers["x-callslip-key"] = LogIn("client").key;
  EXPECT_EQ(WhoIs(halves_of_two), "");
  // The cookie of another gateway on this machine has another name.
  EXPECT_EQ(WhoIs(Request(kept, "127.0.0.1:7891")), "");
}

TEST_F(PageLoginTest, WebSocketsOfferTheKey) {
  const Kept kept = LogIn("viewer");
  HttpRequest request = Request(kept);
  request.headers.erase("x-callslip-key");
  request.headers["sec-websocket-protocol"] = absl::StrCat("callslip.v1, callslip.key.", kept.key);
  EXPECT_TRUE(login_.IsFromPage(request));
  EXPECT_EQ(WhoIs(request), "viewer");
}

// Each character of the cookie matters.
TEST_F(PageLoginTest, ModifiedCookieIsInvalid) {
  const Kept kept = LogIn("client");
  const HttpRequest request = Request(kept);
  const std::string& cookie = request.Header("cookie");
  const size_t begin = cookie.find("callslip-7890=") + 14;
  const size_t end = cookie.find("; c=d");
  for (size_t at = begin; at < end; ++at) {
    HttpRequest changed = request;
    char& character = changed.headers["cookie"][at];
    character = character == 'a' ? 'b' : 'a';
    EXPECT_EQ(WhoIs(changed), "") << at;
  }
  // {}, and cookies that have too few parts or members.
  for (const char* wrong : {"", ".", "v3", "v3.", "v3..", "v3.e30.", "v3.e30.x",
                            "v3.eyJncmFudCI6e319.x", "v3.bnVsbA.x", "v3.!.x", "v1.a.b.c.d"}) {
    HttpRequest changed = request;
    changed.headers["cookie"] = absl::StrCat("callslip-7890=", wrong);
    EXPECT_EQ(WhoIs(changed), "") << wrong;
  }
  EXPECT_EQ(WhoIs(request), "client");
}

TEST_F(PageLoginTest, LoginExpires) {
  const Kept kept = LogIn("client");
  clock_.Advance(PageLogin::kLifetime - absl::Seconds(2));
  EXPECT_EQ(WhoIs(Request(kept)), "client");
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(WhoIs(Request(kept)), "");
}

TEST_F(PageLoginTest, LoginEndsWithItsTokenAndWithSessionKey) {
  const Kept kept = LogIn("client");
  std::vector<TokenFile::Entry> entries = EntriesOfAllRoles();
  std::vector<TokenFile::Entry> others = entries;
  others.erase(others.begin());
  credentials_->Replace(others);
  EXPECT_EQ(WhoIs(Request(kept)), "");
  credentials_->Replace(entries);
  EXPECT_EQ(WhoIs(Request(kept)), "client");
  login_.SetKey(std::string(32, 'x'));
  EXPECT_EQ(WhoIs(Request(kept)), "");
}

TEST_F(PageLoginTest, GatewaysWithSameTokenFileShareLogin) {
  const Kept kept = LogIn("admin");
  PageLogin other(std::string(32, 'k'), std::make_shared<Credentials>(EntriesOfAllRoles()),
                  &clock_);
  EXPECT_EQ((*other.Find(Request(kept)))->principal().name, "admin");
}

TEST_F(PageLoginTest, LogoutEndsLogin) {
  for (const bool by_issuer : {false, true}) {
    const Kept kept = by_issuer ? LetIn() : LogIn("client");
    const Kept other = by_issuer ? LetIn() : LogIn("client");
    const CredentialPtr held = *login_.Find(Request(kept));
    const CredentialPtr held_by_other = *login_.Find(Request(other));
    // One half ends no login, nor do halves of two logins.
    HttpRequest halves = Request(kept);
    halves.headers["x-callslip-key"] = other.key;
    EXPECT_EQ(login_.LogOut(halves).status, 204);
    halves.headers.erase("x-callslip-key");
    login_.LogOut(halves);
    EXPECT_FALSE(held->IsRevoked());

    const HttpResponse response = login_.LogOut(Request(kept));
    EXPECT_EQ(response.status, 204);
    EXPECT_THAT(response.headers[0].second,
                AllOf(HasSubstr("callslip-7890=;"), HasSubstr("Max-Age=0")));
    EXPECT_EQ(WhoIs(Request(kept)), "");
    EXPECT_TRUE(held->IsRevoked());
    EXPECT_NE(WhoIs(Request(other)), "");
    EXPECT_FALSE(held_by_other->IsRevoked());
    EXPECT_EQ(login_.LogOut(Request(kept)).status, 204);
  }
}

TEST_F(PageLoginTest, CredentialIsRevokedWithItsLogin) {
  const Kept kept = LogIn("client");
  const CredentialPtr held = *login_.Find(Request(kept));
  EXPECT_EQ(*login_.Find(Request(kept)), held);
  EXPECT_EQ(held->expires(), ToWallTime(clock_.Now()) + PageLogin::kLifetime);
  credentials_->Replace({});
  EXPECT_TRUE(held->IsRevoked());
  const Kept by_issuer = LetIn();
  const CredentialPtr held_by_issuer = *login_.Find(Request(by_issuer));
  EXPECT_FALSE(held_by_issuer->IsRevoked());
  grants_.given.back()->Revoke();
  EXPECT_TRUE(held_by_issuer->IsRevoked());
}

TEST_F(PageLoginTest, IssuerLoginEndsWithItsGrant) {
  grants_.grant.expires = ToWallTime(clock_.Now()) + absl::Minutes(10);
  const Kept kept = LetIn();
  EXPECT_THAT(kept.cookie, HasSubstr("; Max-Age=600"));
  const CredentialPtr found = *login_.Find(Request(kept));
  EXPECT_EQ(found->principal(), (Principal{"oauth-alice", Role::kViewer}));
  EXPECT_EQ(found->expires(), grants_.grant.expires);
  // No character of the cookie can be changed, nor can the key.
  const size_t value = kept.cookie.find('=') + 1;
  const size_t over = kept.cookie.find(';');
  for (size_t at = value; at < over; ++at) {
    Kept changed = kept;
    changed.cookie[at] = changed.cookie[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(WhoIs(Request(changed)), "") << at;
  }
  Kept other = kept;
  other.key = std::string(64, '0');
  EXPECT_EQ(WhoIs(Request(other)), "");

  // The current scopes decide the role.
  const Grant grant = grants_.grant;
  grants_.role = Role::kAdmin;
  grants_.given.back()->Revoke();
  EXPECT_EQ((*login_.Find(Request(kept)))->principal().role, Role::kAdmin);
  grants_.grant.scopes = {"other"};
  EXPECT_EQ(WhoIs(Request(kept)), "");
  grants_.grant = grant;
  grants_.grant.key = "newer";
  EXPECT_EQ(WhoIs(Request(kept)), "");
  grants_.grant = grant;
  EXPECT_EQ(WhoIs(Request(kept)), "oauth-alice");
  // While the keys are not known, the login has not ended.
  grants_.refusal = absl::UnavailableError("no keys yet");
  EXPECT_TRUE(absl::IsUnavailable(login_.Find(Request(kept)).status()));
  grants_.refusal = absl::OkStatus();
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(WhoIs(Request(kept)), "");
}

TEST_F(PageLoginTest, NewSessionKeyRevokesCredential) {
  const Kept kept = LogIn("client");
  const CredentialPtr held = *login_.Find(Request(kept));
  login_.SetKey(std::string(32, 'k'));
  EXPECT_FALSE(held->IsRevoked());
  login_.SetKey(std::string(32, 'x'));
  EXPECT_TRUE(held->IsRevoked());
}

TEST_F(PageLoginTest, LoginEndsWhenRoleLosesAccessToPage) {
  const Kept kept = LogIn("client");
  const Kept by_issuer = LetIn();
  std::vector<TokenFile::Entry> entries = EntriesOfAllRoles();
  entries[0].principal.role = Role::kWorker;
  credentials_->Replace(entries);
  grants_.role = Role::kWorker;
  EXPECT_EQ(WhoIs(Request(kept)), "");
  EXPECT_EQ(WhoIs(Request(by_issuer)), "");
}

TEST_F(PageLoginTest, LoginTooLongForCookieIsRefused) {
  grants_.grant.caller = std::string(3000, 'a');
  EXPECT_EQ(LetIn().status, 401);
  grants_.grant.caller = std::string(2000, 'a');
  EXPECT_EQ(WhoIs(Request(LetIn())), "oauth-" + grants_.grant.caller);
}

TEST_F(PageLoginTest, LoginsOfOtherServersAreInvalid) {
  const Kept kept = LetIn();
  const auto found_by = [&](Grants* grants, const std::string& server) {
    PageLogin gateway(std::string(32, 'k'), credentials_, &clock_);
    if (grants != nullptr) gateway.Believe(grants, server);
    return gateway.Find(Request(kept)).ok();
  };
  EXPECT_TRUE(found_by(&grants_, "https://issuer.test page"));
  EXPECT_FALSE(found_by(&grants_, "https://issuer.test other"));
  EXPECT_FALSE(found_by(&grants_, "https://other.test page"));
  EXPECT_FALSE(found_by(nullptr, ""));
}

TEST_F(PageLoginTest, IssuerLoginLastsAsLongAsTokenLogin) {
  EXPECT_THAT(LetIn().cookie, HasSubstr("; Max-Age=604800"));
  grants_.role = Role::kWorker;
  EXPECT_EQ(LetIn().status, 403);
  grants_.refusal = absl::UnauthenticatedError("no");
  EXPECT_EQ(LetIn().status, 401);
}

}  // namespace
}  // namespace callslip::gateway
