// The cookies and keys that browsers send to the page's gateway, of whatever origin. An unsigned
// login lets no one in, and no change of a signed one lets another user in.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/fake_clock.h"
#include "fuzz/require.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/fake_grants.h"
#include "gateway/web/page_login.h"

namespace callslip::gateway {
namespace {

constexpr char kHost[] = "127.0.0.1:7890";

// A gateway, and the logins of a browser: with a token, and through an issuer.
struct Scene {
  struct Kept {
    std::string name;
    std::string cookie;  // NAME=VALUE.
    std::string key;
  };

  Scene() {
    HttpRequest request{.method = "POST", .path = "/api/login"};
    request.headers = {{"host", kHost}, {"origin", absl::StrCat("http://", kHost)}};
    request.body = Dump(Json{{"token", "0123456789abcdef0123456789abcdef"}});
    Keep("client", login.LogIn(request));
    login.Believe(&grants, "https://issuer.test page");
    Keep("oauth-alice", login.LetIn(request, grants.grant));
  }

  void Keep(std::string name, const HttpResponse& response) {
    Require(response.status == 200, "a login");
    const std::string& cookie = response.headers.front().second;
    kept.push_back({std::move(name), cookie.substr(0, cookie.find(';')),
                    Json::parse(response.body)["key"].get<std::string>()});
  }

  CredentialPtr Find(std::string cookie, std::string key) {
    HttpRequest request{.method = "GET", .path = "/api/sessions"};
    request.headers = {
        {"host", kHost}, {"cookie", std::move(cookie)}, {"x-callslip-key", std::move(key)}};
    grants.given.clear();
    return login.Find(request).value_or(nullptr);
  }

  FakeClock clock;
  FakeGrants grants;
  PageLogin login{std::string(32, 'k'),
                  std::make_shared<Credentials>(std::vector<TokenFile::Entry>{
                      {{"client", Role::kClient}, "0123456789abcdef0123456789abcdef"}}),
                  &clock};
  std::vector<Kept> kept;
};

// Changes `text` by each pair of bytes: a position, and a new byte.
void Change(std::string& text, absl::string_view changes) {
  for (size_t i = 0; i + 1 < changes.size() && !text.empty(); i += 2) {
    text[static_cast<unsigned char>(changes[i]) % text.size()] = changes[i + 1];
  }
}

}  // namespace
}  // namespace callslip::gateway

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace callslip::gateway;
  using callslip::Require;
  static Scene& scene = *new Scene();
  if (size < 2) return 0;
  const Scene::Kept& kept = scene.kept[data[0] % scene.kept.size()];
  const absl::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::string cookie = kept.cookie;
  std::string key = kept.key;
  switch (data[1] % 4) {
    case 0: cookie = absl::StrCat("callslip-7890=", rest); break;
    case 1: Change(cookie, rest); break;
    case 2: Change(key, rest); break;
    default:
      cookie = absl::StrCat(rest.substr(0, rest.size() / 2), ";", cookie, ";",
                            rest.substr(rest.size() / 2));
  }
  const callslip::CredentialPtr found = scene.Find(cookie, key);
  if (found == nullptr) return 0;
  Require(found->principal().name == kept.name, "the one who has logged in", cookie);
  Require(absl::StrContains(cookie, kept.cookie) && key == kept.key, "what was given out", cookie);
  return 0;
}
