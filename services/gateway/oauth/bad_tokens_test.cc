// Tokens with one flaw each. Each is made from a good token, which is accepted first, so that the
// flaw is the reason of the refusal.

#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gateway/oauth/resource_server_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openssl/evp.h"
#include "openssl/hmac.h"

namespace callslip::gateway {
namespace {

// The parts of a token. A flaw changes one of them.
struct Recipe {
  Json header;
  Json claims;
  const TestKey* key = nullptr;
  // If not empty, used instead of `header` and `claims`.
  std::string header_text;
  std::string claims_text;
  std::function<std::string(const std::string& signed_part)> signature;
  std::function<std::string(const std::string& token)> finish;

  std::string Make() const {
    const std::string part = SignedPart(header_text.empty() ? header.dump() : header_text,
                                        claims_text.empty() ? claims.dump() : claims_text);
    const std::string bytes = signature == nullptr ? key->Sign(part) : signature(part);
    std::string token = absl::StrCat(part, ".", EncodeBase64Url(bytes));
    return finish == nullptr ? token : finish(token);
  }
};

struct Flaw {
  std::string name;
  std::string reason;
  std::string base;  // The kid of the key: rsa, ec or ed.
  std::function<void(Recipe&)> spoil;
};

const TestKey& P384TestKey() {
  static const TestKey& key = *new TestKey(TestKey::Ec("P-384"));
  return key;
}

const TestKey& SmallTestKey() {
  static const TestKey& key = *new TestKey(TestKey::Rsa(1024));
  return key;
}

std::string HmacOf(const std::string& secret, const std::string& text) {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
  return std::string(reinterpret_cast<const char*>(mac), size);
}

Flaw Header(std::string name, std::string reason, const char* member, Json value) {
  return {std::move(name), std::move(reason), "ec",
          [member, value = std::move(value)](Recipe& recipe) { recipe.header[member] = value; }};
}

Flaw Claim(std::string name, std::string reason, const char* member, Json value) {
  return {std::move(name), std::move(reason), "ec",
          [member, value = std::move(value)](Recipe& recipe) { recipe.claims[member] = value; }};
}

Flaw NoClaim(std::string reason, const char* member) {
  return {absl::StrCat("no ", member), std::move(reason), "ec",
          [member](Recipe& recipe) { recipe.claims.erase(member); }};
}

// A header with another algorithm than that of the key. `sign` makes the signature; by default, the
// key.
Flaw Algorithm(const char* algorithm, std::string reason, const char* base,
               std::function<std::string(const std::string&)> sign = nullptr) {
  return {absl::StrCat("alg ", algorithm, " with the key ", base), std::move(reason), base,
          [algorithm, sign](Recipe& recipe) {
            recipe.header["alg"] = algorithm;
            recipe.signature = sign;
          }};
}

Flaw Signature(std::string name, const char* base,
               std::function<std::string(const std::string&)> change,
               std::string reason = "signature_wrong") {
  return {std::move(name), std::move(reason), base, [change](Recipe& recipe) {
            const TestKey* const key = recipe.key;
            recipe.signature = [change, key](const std::string& part) {
              return change(key->Sign(part));
            };
          }};
}

Flaw Finish(std::string name, std::string reason,
            std::function<std::string(const std::string&)> change, const char* base = "ec") {
  return {std::move(name), std::move(reason), base,
          [change](Recipe& recipe) { recipe.finish = change; }};
}

// Appends a member to the text of `object`, which may already have it.
std::string WithMember(const Json& object, const std::string& member) {
  const std::string text = object.dump();
  return absl::StrCat(text.substr(0, text.size() - 1), ",", member, "}");
}

std::vector<std::string> PartsOf(const std::string& token) {
  return {token.substr(0, token.find('.')),
          token.substr(token.find('.') + 1, token.rfind('.') - token.find('.') - 1),
          token.substr(token.rfind('.') + 1)};
}

std::string Joined(const std::vector<std::string>& parts) {
  return absl::StrCat(parts[0], ".", parts[1], ".", parts[2]);
}

std::vector<Flaw> AlgorithmFlaws() {
  const auto none = [](const std::string&) { return std::string(); };
  const auto hmac_of_pem = [](const std::string& part) {
    return HmacOf(RsaTestKey().PublicPem(), part);
  };
  const auto hmac_of_jwk = [](const std::string& part) {
    return HmacOf(RsaTestKey().Jwk("rsa").dump(), part);
  };
  std::vector<Flaw> flaws;
  for (const char* name : {"none", "None", "NONE", "nOnE", ""}) {
    flaws.push_back(Algorithm(name, "algorithm_not_allowed", "rsa", none));
  }
  for (const char* name :
       {"rs256", "RS256 ", "RS512", "PS256", "ES384", "ES256K", "RSA1_5", "HS512"}) {
    flaws.push_back(Algorithm(name, "algorithm_not_allowed", "rsa"));
  }
  flaws.push_back(Algorithm("HS256", "algorithm_not_allowed", "rsa", hmac_of_pem));
  flaws.back().name = "HS256 with the public key in PEM as its secret";
  flaws.push_back(Algorithm("HS256", "algorithm_not_allowed", "rsa", hmac_of_jwk));
  flaws.back().name = "HS256 with the JWK as its secret";
  flaws.push_back(Algorithm("RS256", "signature_wrong", "rsa", hmac_of_pem));
  flaws.back().name = "RS256 with an HMAC for its signature";
  flaws.push_back(Algorithm("RS256", "key_unsuitable", "ec"));
  flaws.push_back(Algorithm("ES256", "key_unsuitable", "rsa"));
  flaws.push_back(Algorithm("EdDSA", "key_unsuitable", "ec"));
  flaws.push_back(Algorithm("ES256", "key_unsuitable", "ed"));
  flaws.push_back({"no alg", "algorithm_not_allowed", "ec",
                   [](Recipe& recipe) { recipe.header.erase("alg"); }});
  flaws.push_back(
      Header("alg as an array", "algorithm_not_allowed", "alg", Json::array({"ES256"})));
  return flaws;
}

std::vector<Flaw> HeaderFlaws() {
  std::vector<Flaw> flaws = {
      {"no typ", "type_not_allowed", "ec", [](Recipe& recipe) { recipe.header.erase("typ"); }},
      Header("the typ of an id_token", "type_not_allowed", "typ", "JWT"),
      Header("another typ", "type_not_allowed", "typ", "dpop+jwt"),
      Header("a typ that only contains ours", "type_not_allowed", "typ", "x/at+jwt"),
      Header("crit", "header_not_allowed", "crit", Json::array({"exp"})),
      Header("an empty crit", "header_not_allowed", "crit", Json::array()),
      Header("b64 false", "header_not_allowed", "b64", false),
      Header("a key of its own", "header_not_allowed", "jwk", EcTestKey().Jwk("ec")),
      Header("a URL of keys", "header_not_allowed", "jku", "https://evil.example/keys"),
      Header("a URL of certificates", "header_not_allowed", "x5u", "https://evil.example/chain"),
      Header("certificates", "header_not_allowed", "x5c", Json::array({"MIIB"})),
      Header("a nested JWT", "header_not_allowed", "cty", "JWT"),
      Header("compression", "header_not_allowed", "zip", "DEF"),
      Header("an unknown kid", "key_unknown", "kid", "other"),
      Header("a kid in another case", "key_unknown", "kid", "EC"),
      Header("a kid that is a path", "key_unknown", "kid", "../../../../dev/null"),
      Header("a kid that is a URL", "key_unknown", "kid", "https://evil.example/key"),
      Header("a kid of SQL", "key_id_malformed", "kid", "x' UNION SELECT 'key"),
      Header("a kid as an array", "key_id_malformed", "kid", Json::array({"ec"})),
      Header("a kid as a number", "key_id_malformed", "kid", 1),
      Header("a kid that is null", "key_id_malformed", "kid", nullptr),
      Header("an empty kid", "key_id_malformed", "kid", ""),
      Header("a kid of 10 kB", "key_id_malformed", "kid", std::string(10'000, 'k')),
      Header("a kid with a NUL", "key_id_malformed", "kid", std::string("ec\0", 3)),
      {"no kid, and several keys", "key_id_missing", "ec",
       [](Recipe& recipe) { recipe.header.erase("kid"); }},
      {"alg twice", "header_malformed", "ec",
       [](Recipe& r) { r.header_text = WithMember(r.header, R"("alg":"ES256")"); }},
      {"kid twice", "header_malformed", "ec",
       [](Recipe& r) { r.header_text = WithMember(r.header, R"("kid":"ec")"); }},
      {"typ twice, once escaped", "header_malformed", "ec",
       [](Recipe& r) { r.header_text = WithMember(r.header, R"("\u0074yp":"at+jwt")"); }},
      {"a header that is an array", "header_malformed", "ec",
       [](Recipe& r) { r.header_text = Json::array({r.header}).dump(); }},
      {"a header with something after it", "header_malformed", "ec",
       [](Recipe& r) { r.header_text = r.header.dump() + "x"; }},
      {"a header that nests deeply", "header_malformed", "ec",
       [](Recipe& r) {
         r.header_text =
             WithMember(r.header, "\"x\":" + std::string(1000, '[') + std::string(1000, ']'));
       }},
      {"a header with a raw NUL", "header_malformed", "ec",
       [](Recipe& r) { r.header_text = WithMember(r.header, std::string("\"x\":\"\0\"", 7)); }},
      {"a header of invalid UTF-8", "header_malformed", "ec",
       [](Recipe& r) { r.header_text = WithMember(r.header, "\"x\":\"\xff\""); }},
  };
  return flaws;
}

std::vector<Flaw> ClaimFlaws(int64_t now) {
  const std::string resource = kResource;
  std::vector<Flaw> flaws = {
      Claim("another issuer", "issuer_wrong", "iss", "https://evil.example"),
      Claim("the issuer with a slash", "issuer_wrong", "iss", absl::StrCat(kIssuer, "/")),
      Claim("the issuer as an array", "issuer_wrong", "iss", Json::array({kIssuer})),
      NoClaim("issuer_wrong", "iss"),
      NoClaim("audience_missing", "aud"),
      Claim("another audience", "audience_wrong", "aud", "https://other.example/mcp"),
      Claim("other audiences", "audience_wrong", "aud",
            Json::array({"https://other.example/mcp", kIssuer})),
      Claim("no audience in an array", "audience_wrong", "aud", Json::array()),
      Claim("a prefix of the audience", "audience_wrong", "aud", "https://gw.example"),
      Claim("the audience with more after it", "audience_wrong", "aud", resource + ".evil.example"),
      Claim("the audience with a slash", "audience_wrong", "aud", resource + "/"),
      Claim("the audience in capitals", "audience_wrong", "aud", "https://GW.example/mcp"),
      Claim("the audience in an array in an array", "audience_wrong", "aud",
            Json::array({Json::array({resource})})),
      Claim("the audience as a member", "audience_wrong", "aud", Json{{resource, true}}),
      NoClaim("time_malformed", "exp"),
      Claim("expired", "token_expired", "exp", now - 1),
      Claim("expires now", "token_expired", "exp", now),
      Claim("exp as text", "time_malformed", "exp", std::to_string(now + 300)),
      Claim("a negative exp", "time_malformed", "exp", -1),
      Claim("exp after all years", "time_malformed", "exp", 1e300),
      Claim("exp of all bits", "time_malformed", "exp", UINT64_MAX),
      Claim("exp that is true", "time_malformed", "exp", true),
      Claim("exp that is null", "time_malformed", "exp", nullptr),
      Claim("not yet valid", "token_not_yet_valid", "nbf", now + 61),
      Claim("issued in the future", "token_not_yet_valid", "iat", now + 61),
      Claim("nbf as text", "time_malformed", "nbf", "now"),
      Claim("iat as an object", "time_malformed", "iat", Json::object()),
      NoClaim("subject_missing", "sub"),
      Claim("an empty sub", "subject_missing", "sub", ""),
      Claim("sub as a number", "subject_missing", "sub", 7),
      Claim("no scope of ours", "insufficient_scope", "scope", "openid callslip callslip.clients"),
      Claim("scopes with commas", "insufficient_scope", "scope", "callslip.client,callslip.view"),
      Claim("scope as an array", "scope_malformed", "scope", Json::array({"callslip.admin"})),
      NoClaim("insufficient_scope", "scope"),
      {"sub twice", "claims_malformed", "ec",
       [](Recipe& r) { r.claims_text = WithMember(r.claims, R"("sub":"alice")"); }},
      {"aud twice", "claims_malformed", "ec",
       [](Recipe& r) {
         r.claims_text = WithMember(r.claims, R"("aud":"https://gw.example/mcp")");
       }},
      {"a member twice, deep inside", "claims_malformed", "ec",
       [](Recipe& r) { r.claims_text = WithMember(r.claims, R"("x":[{"a":1,"a":1}])"); }},
      {"claims that are an array", "claims_malformed", "ec",
       [](Recipe& r) { r.claims_text = Json::array({r.claims}).dump(); }},
      {"claims that are text", "claims_malformed", "ec",
       [](Recipe& r) { r.claims_text = Json(r.claims.dump()).dump(); }},
      {"claims that are a JWT", "claims_malformed", "ec",
       [](Recipe& r) { r.claims_text = SignedPart("{}", "{}") + ".AA"; }},
      {"claims that nest deeply", "claims_malformed", "ec",
       [](Recipe& r) {
         r.claims_text =
             WithMember(r.claims, "\"x\":" + std::string(1000, '[') + std::string(1000, ']'));
       }},
      {"claims with a raw NUL", "claims_malformed", "ec",
       [](Recipe& r) { r.claims_text = WithMember(r.claims, std::string("\"x\":\"\0\"", 7)); }},
      {"claims of invalid UTF-8", "claims_malformed", "ec",
       [](Recipe& r) { r.claims_text = WithMember(r.claims, "\"x\":\"\xc3\x28\""); }},
  };
  return flaws;
}

std::vector<Flaw> SignatureFlaws() {
  static const TestKey& stranger = *new TestKey(TestKey::Ec());
  std::vector<Flaw> flaws;
  for (const char* base : {"rsa", "ec", "ed"}) {
    const auto name = [base](const char* what) { return absl::StrCat(what, " of ", base); };
    flaws.push_back(Signature(name("no signature"), base, [](const std::string&) { return ""; }));
    flaws.push_back(Signature(name("half a signature"), base, [](const std::string& signature) {
      return signature.substr(0, signature.size() / 2);
    }));
    flaws.push_back(Signature(name("a signature with a byte more"), base,
                              [](const std::string& signature) { return signature + '\0'; }));
    flaws.push_back(Signature(name("a changed signature"), base, [](std::string signature) {
      signature[signature.size() / 3] ^= 1;
      return signature;
    }));
    flaws.push_back(Signature(name("a signature of zeros"), base, [](const std::string& signature) {
      return std::string(signature.size(), '\0');
    }));
  }
  const std::string zero(32, '\0');
  flaws.push_back(
      Signature("r of zero", "ec", [zero](const std::string& s) { return zero + s.substr(32); }));
  flaws.push_back(Signature("s of zero", "ec",
                            [zero](const std::string& s) { return s.substr(0, 32) + zero; }));
  flaws.push_back(Signature("r and s of 33 bytes each", "ec", [](const std::string& s) {
    return absl::StrCat(std::string(1, '\0'), s.substr(0, 32), std::string(1, '\0'), s.substr(32));
  }));
  flaws.push_back({"a signature in DER", "signature_wrong", "ec", [](Recipe& recipe) {
                     recipe.signature = [](const std::string& part) {
                       return EcTestKey().SignPlain(part);
                     };
                   }});
  flaws.push_back({"the key of a stranger", "signature_wrong", "ec",
                   [](Recipe& recipe) { recipe.key = &stranger; }});
  flaws.push_back({"a key on P-384", "key_unsuitable", "ec", [](Recipe& recipe) {
                     recipe.header["kid"] = "p384";
                     recipe.key = &P384TestKey();
                   }});
  flaws.push_back({"an RSA key of 1024 bits", "key_unsuitable", "rsa", [](Recipe& recipe) {
                     recipe.header["kid"] = "small";
                     recipe.key = &SmallTestKey();
                   }});
  flaws.push_back({"a key for encryption", "key_unsuitable", "ec",
                   [](Recipe& recipe) { recipe.header["kid"] = "encryption"; }});
  flaws.push_back({"a key for another algorithm", "key_unsuitable", "rsa",
                   [](Recipe& recipe) { recipe.header["kid"] = "ps256"; }});
  return flaws;
}

// The keys besides the three good ones.
std::vector<Json> BadKeys() {
  std::vector<Json> keys = {P384TestKey().Jwk("p384"), SmallTestKey().Jwk("small"),
                            EcTestKey().Jwk("encryption"), RsaTestKey().Jwk("ps256")};
  keys[2]["use"] = "enc";
  keys[3]["alg"] = "PS256";
  return keys;
}

std::vector<Flaw> SerializationFlaws() {
  // Changes a part and leaves the signature as it was.
  const auto tampered = [](size_t part, absl::string_view from, absl::string_view to) {
    return [part, from = std::string(from), to = std::string(to)](const std::string& token) {
      std::vector<std::string> parts = PartsOf(token);
      std::string text;
      if (!absl::WebSafeBase64Unescape(parts[part], &text)) std::abort();
      parts[part] = EncodeBase64Url(absl::StrReplaceAll(text, {{from, to}}));
      return Joined(parts);
    };
  };
  return {
      Finish("another typ of the same meaning", "signature_wrong",
             tampered(0, R"("at+jwt")", R"("AT+JWT")")),
      Finish("another subject", "signature_wrong", tampered(1, R"("alice")", R"("mallory")")),
      Finish("more scopes", "signature_wrong",
             tampered(1, "callslip.client", "callslip.client callslip.admin")),
      Finish("the payload with a space more", "signature_wrong", tampered(1, "{", "{ ")),
      Finish("nothing", "token_malformed", [](const std::string&) { return ""; }),
      Finish("dots alone", "header_malformed", [](const std::string&) { return ".."; }),
      Finish("one part", "token_malformed",
             [](const std::string& token) { return PartsOf(token)[0]; }),
      Finish("two parts", "token_malformed",
             [](const std::string& token) { return token.substr(0, token.rfind('.')); }),
      Finish("four parts", "token_malformed",
             [](const std::string& token) { return token + ".AAAA"; }),
      Finish("a dot at the end", "token_malformed",
             [](const std::string& token) { return token + "."; }),
      Finish("five parts, as a JWE has", "token_encrypted",
             [](const std::string& token) { return token + ".AAAA.AAAA"; }),
      Finish("the JSON serialization", "token_malformed",
             [](const std::string& token) {
               const std::vector<std::string> parts = PartsOf(token);
               return Json{{"protected", parts[0]}, {"payload", parts[1]}, {"signature", parts[2]}}
                   .dump();
             }),
      Finish("padding of the signature", "token_malformed",
             [](const std::string& token) { return token + "=="; }),
      Finish("padding of the header", "token_malformed",
             [](const std::string& token) {
               std::vector<std::string> parts = PartsOf(token);
               parts[0] += std::string((4 - parts[0].size() % 4) % 4, '=') + "=";
               return Joined(parts);
             }),
      Finish("base64 in place of base64url", "token_malformed",
             [](const std::string& token) {
               std::vector<std::string> parts = PartsOf(token);
               // The two base64 alphabets differ in two characters. This one is not in base64url.
               parts[2][0] = '+';
               return Joined(parts);
             }),
      Finish("stray bits after the last byte", "token_malformed",
             [](const std::string& token) {
               // The signature has 64 bytes: the last character holds two bits, and four that must
               // be zero.
               std::string changed = token;
               changed.back() = changed.back() == 'A' ? 'B' : static_cast<char>(changed.back() + 1);
               return changed;
             }),
      Finish("a space within", "token_malformed",
             [](const std::string& token) {
               return absl::StrCat(token.substr(0, 10), " ", token.substr(10));
             }),
      Finish("a line break at the end", "token_malformed",
             [](const std::string& token) { return token + "\n"; }),
      Finish("a NUL at the end", "token_malformed",
             [](const std::string& token) { return token + std::string(1, '\0'); }),
      Finish("a NUL within", "token_malformed",
             [](const std::string& token) {
               return token.substr(0, 10) + std::string(1, '\0') + token.substr(10);
             }),
      Finish("bytes that are no text", "token_malformed",
             [](const std::string& token) { return "\xff\xfe" + token; }),
      Finish(
          "something after the signature", "signature_wrong",
          [](const std::string& token) { return token + "AAAA"; }, "rsa"),
      Finish("a byte more than 16 KiB", "token_too_large",
             [](const std::string& token) {
               return token + std::string((16 << 10) + 1 - token.size(), 'A');
             }),
      Finish("1 MiB", "token_too_large",
             [](const std::string& token) { return token + std::string(1 << 20, 'A'); }),
      {"1 MiB of claims", "token_too_large", "ec",
       [](Recipe& recipe) { recipe.claims["x"] = std::string(1 << 20, 'x'); }},
  };
}

class BadTokensTest : public ResourceServerTest {
 protected:
  BadTokensTest() {
    std::vector<Json> keys = {RsaTestKey().Jwk("rsa"), EcTestKey().Jwk("ec"),
                              EdTestKey().Jwk("ed")};
    for (const Json& key : BadKeys()) keys.push_back(key);
    PutKeys(keys);
    StartWithKeys();
  }

  Recipe GoodRecipe(const std::string& kid) {
    const TestKey* key = &EcTestKey();
    const char* algorithm = "ES256";
    if (kid == "rsa") {
      key = &RsaTestKey();
      algorithm = "RS256";
    } else if (kid == "ed") {
      key = &EdTestKey();
      algorithm = "EdDSA";
    }
    return {.header = ResourceServerTest::Header(algorithm, kid.c_str()),
            .claims = Claims(),
            .key = key};
  }

  // Expects that each is refused, for its own reason. Returns their number.
  size_t ExpectRefused(const std::vector<Flaw>& flaws) {
    for (const Flaw& flaw : flaws) {
      Recipe recipe = GoodRecipe(flaw.base);
      EXPECT_EQ(ReasonOf(recipe.Make()), "OK") << flaw.base;
      flaw.spoil(recipe);
      EXPECT_EQ(ReasonOf(recipe.Make()), flaw.reason) << flaw.name;
    }
    return flaws.size();
  }
};

TEST_F(BadTokensTest, AreRefusedForTheirFlawsWithoutFetch) {
  size_t count = ExpectRefused(AlgorithmFlaws());
  count += ExpectRefused(HeaderFlaws());
  count += ExpectRefused(ClaimFlaws(absl::ToUnixSeconds(clock_.Now())));
  count += ExpectRefused(SignatureFlaws());
  count += ExpectRefused(SerializationFlaws());
  EXPECT_GE(count, 140u);
  AwaitFetch();
  EXPECT_EQ(fetches(), 1);
  EXPECT_EQ(documents_.log().size(), 2u);
}

TEST_F(BadTokensTest, SimilarGoodTokensAreAccepted) {
  struct Good {
    const char* name;
    std::function<void(Recipe&)> change;
  };
  const int64_t now = absl::ToUnixSeconds(clock_.Now());
  const std::vector<Good> goods = {
      {"as it is", [](Recipe&) {}},
      {"the long type", [](Recipe& r) { r.header["typ"] = "application/at+jwt"; }},
      {"the type in capitals", [](Recipe& r) { r.header["typ"] = "AT+JWT"; }},
      {"several audiences",
       [](Recipe& r) {
         r.claims["aud"] = Json::array({"x", kResource});
       }},
      {"times with fractions", [now](Recipe& r) { r.claims["exp"] = double(now) + 0.5; }},
      {"a clock that is ahead", [now](Recipe& r) { r.claims["nbf"] = r.claims["iat"] = now + 60; }},
      {"no iat", [](Recipe& r) { r.claims.erase("iat"); }},
      {"claims of others",
       [](Recipe& r) {
         r.claims["x"] = Json{{"y", Json::array({1, nullptr})}};
       }},
      {"a thumbprint in its header", [](Recipe& r) { r.header["x5t"] = "AAAA"; }},
      {"16 KiB", [](Recipe& r) { r.claims["x"] = std::string(11'500, 'x'); }},
  };
  for (const char* base : {"rsa", "ec", "ed"}) {
    for (const Good& good : goods) {
      Recipe recipe = GoodRecipe(base);
      good.change(recipe);
      EXPECT_EQ(ReasonOf(recipe.Make()), "OK") << base << ": " << good.name;
    }
  }
}

}  // namespace
}  // namespace callslip::gateway
