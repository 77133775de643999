#include "gateway/oauth/issuer_documents.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "gateway/oauth/issuer_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> UrlsOf(const char* issuer) {
  const auto url = ParseUrl(issuer);
  std::vector<std::string> texts;
  for (const Url& place : MetadataUrls(*url)) texts.push_back(place.Origin() + place.path);
  return texts;
}

TEST(MetadataUrlsTest, CoverOAuthAndOpenIdConnect) {
  for (const char* issuer : {"https://as.example", "https://as.example/"}) {
    EXPECT_THAT(UrlsOf(issuer),
                ElementsAre("https://as.example/.well-known/oauth-authorization-server",
                            "https://as.example/.well-known/openid-configuration"));
  }
  EXPECT_THAT(UrlsOf("https://as.example:8443/tenant/1"),
              ElementsAre("https://as.example:8443/.well-known/oauth-authorization-server/tenant/1",
                          "https://as.example:8443/.well-known/openid-configuration/tenant/1",
                          "https://as.example:8443/tenant/1/.well-known/openid-configuration"));
}

class FetchIssuerKeysTest : public testing::Test {
 protected:
  // The error of a fetch, or "OK".
  std::string Fetch(const std::string& issuer) {
    FakeSource source(&documents_);
    const auto fetched = FetchIssuerKeys(issuer, source);
    return fetched.ok() ? "OK" : std::string(fetched.status().message());
  }
  // The same, with metadata that names this URL, and a key set at that URL.
  std::string FetchFrom(const std::string& issuer, const std::string& keys_url) {
    documents_.Put(issuer + "/.well-known/oauth-authorization-server",
                   Json{{"issuer", issuer}, {"jwks_uri", keys_url}}.dump());
    documents_.Put(keys_url, KeySetText({}));
    return Fetch(issuer);
  }

  FakeDocuments documents_;
};

TEST_F(FetchIssuerKeysTest, TriesMetadataUrlsInTurn) {
  documents_.Put(
      "https://as.example/t/.well-known/openid-configuration",
      Json{{"issuer", "https://as.example/t"}, {"jwks_uri", "https://keys.example/"}}.dump());
  documents_.Put("https://keys.example/", KeySetText({}));
  EXPECT_EQ(Fetch("https://as.example/t"), "OK");
  EXPECT_EQ(documents_.log().size(), 4u);
}

// A proxy in front of the issuer may answer an unknown path in its own way.
TEST_F(FetchIssuerKeysTest, TriesNextUrlIfResponseIsNotMetadataOfIssuer) {
  const std::string first = "https://as.example/.well-known/oauth-authorization-server";
  const std::string second = "https://as.example/.well-known/openid-configuration";
  documents_.Put(
      second,
      Json{{"issuer", "https://as.example"}, {"jwks_uri", "https://as.example/keys"}}.dump());
  documents_.Put("https://as.example/keys", KeySetText({}));
  for (const int status : {301, 302, 400, 401, 403, 404, 405, 410, 429, 500, 503}) {
    documents_.Put(first, absl::NotFoundError(absl::StrCat("status ", status)));
    EXPECT_EQ(Fetch("https://as.example"), "OK") << status;
  }
  for (const char* body : {"<html>", "", "[]", "{}", R"({"issuer":"https://other.example"})"}) {
    documents_.Put(first, body);
    EXPECT_EQ(Fetch("https://as.example"), "OK") << body;
  }
  documents_.Put(second, absl::NotFoundError("status 403"));
  EXPECT_THAT(Fetch("https://as.example"),
              AllOf(HasSubstr(first + ": its issuer"), HasSubstr(second + ": status 403")));
}

// RFC 8414 does not require jwks_uri, OpenID Connect does.
TEST_F(FetchIssuerKeysTest, TriesNextUrlIfMetadataHasNoUsableKeysUrl) {
  const std::string issuer = "https://as.example";
  const std::string first = issuer + "/.well-known/oauth-authorization-server";
  const std::string second = issuer + "/.well-known/openid-configuration";
  const std::string keys = issuer + "/keys";
  documents_.Put(keys, KeySetText({}));
  for (const Json& jwks_uri : {Json(), Json(""), Json("http://as.example/keys"), Json(7)}) {
    documents_.Put(first, Json{{"issuer", issuer}, {"jwks_uri", jwks_uri}}.dump());
    documents_.Put(second, Json{{"issuer", issuer}, {"jwks_uri", keys}}.dump());
    EXPECT_EQ(Fetch(issuer), "OK") << jwks_uri;
    documents_.Put(second, Json{{"issuer", issuer}}.dump());
    EXPECT_THAT(Fetch(issuer), AllOf(HasSubstr(first + ": it has no jwks_uri"),
                                     HasSubstr(second + ": it has no jwks_uri")))
        << jwks_uri;
  }
}

TEST_F(FetchIssuerKeysTest, DoesNotTryNextUrlIfServerIsUnavailable) {
  documents_.Put("https://as.example/.well-known/oauth-authorization-server",
                 absl::UnavailableError("no answer within 5s"));
  EXPECT_THAT(Fetch("https://as.example"), HasSubstr("no answer"));
  EXPECT_EQ(documents_.log().size(), 1u);
}

TEST_F(FetchIssuerKeysTest, TrustsMetadataOfIssuerOnly) {
  for (const char* issuer : {"https://evil.example", "https://as.example/", "HTTPS://AS.example"}) {
    documents_.Put("https://as.example/.well-known/oauth-authorization-server",
                   Json{{"issuer", issuer}, {"jwks_uri", "https://as.example/keys"}}.dump());
    EXPECT_THAT(Fetch("https://as.example"), HasSubstr("its issuer is not https://as.example"));
  }
  documents_.Put("https://as.example/.well-known/oauth-authorization-server", R"(["issuer"])");
  EXPECT_NE(Fetch("https://as.example"), "OK");
  EXPECT_EQ(documents_.requests("https://as.example/keys"), 0);
}

TEST_F(FetchIssuerKeysTest, FetchesKeysOnlyFromTrustworthyUrls) {
  EXPECT_EQ(FetchFrom("https://as.example", "https://keys.example/k"), "OK");
  EXPECT_EQ(FetchFrom("http://127.0.0.1:9000", "http://127.0.0.1:9000/k"), "OK");
  EXPECT_EQ(FetchFrom("http://127.0.0.1:9000", "https://keys.example/k"), "OK");
  EXPECT_THAT(FetchFrom("https://as.example", "http://as.example/k"), HasSubstr("over https"));
  EXPECT_THAT(FetchFrom("https://as.example", "http://127.0.0.1:9000/k"), HasSubstr("over https"));
  EXPECT_THAT(FetchFrom("http://127.0.0.1:9000", "http://as.example/k"), HasSubstr("over https"));
  EXPECT_THAT(FetchFrom("https://as.example", "file:///etc/passwd"), HasSubstr("no jwks_uri"));
  EXPECT_THAT(FetchFrom("https://as.example", ""), HasSubstr("no jwks_uri"));
}

TEST_F(FetchIssuerKeysTest, ReportsInvalidKeys) {
  std::vector<Json> keys(KeySet::kMaxKeys, Json::object());
  documents_.Put(
      "https://as.example/.well-known/oauth-authorization-server",
      Json{{"issuer", "https://as.example"}, {"jwks_uri", "https://as.example/keys"}}.dump());
  EXPECT_THAT(Fetch("https://as.example"), HasSubstr("https://as.example/keys: status 404"));
  documents_.Put("https://as.example/keys", KeySetText(keys));
  EXPECT_EQ(Fetch("https://as.example"), "OK");
  keys.emplace_back();
  documents_.Put("https://as.example/keys", KeySetText(keys));
  EXPECT_THAT(Fetch("https://as.example"), HasSubstr("more than 100 keys"));
  for (const char* text : {"", "{}", "[]", R"({"keys":{}})", R"({"keys":[],"keys":[]})"}) {
    documents_.Put("https://as.example/keys", text);
    EXPECT_NE(Fetch("https://as.example"), "OK") << text;
  }
}

}  // namespace
}  // namespace callslip::gateway
