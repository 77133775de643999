#include "gateway/oauth/key_set.h"

#include <string>
#include <utility>
#include <vector>

#include "common/status_matchers.h"
#include "gateway/oauth/issuer_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace callslip::gateway {
namespace {

Json With(Json jwk, const char* member, Json value) {
  jwk[member] = std::move(value);
  return jwk;
}

TEST(PublicKeyTest, VerifiesSignaturesOfAllThreeAlgorithms) {
  const std::vector<std::pair<TestKey, JwtAlgorithm>> keys = {
      {TestKey::Rsa(), JwtAlgorithm::kRs256},
      {TestKey::Ec(), JwtAlgorithm::kEs256},
      {TestKey::Ed25519(), JwtAlgorithm::kEdDsa}};
  for (const auto& [key, algorithm] : keys) {
    ASSERT_OK_AND_ASSIGN(const PublicKey known, PublicKey::FromJwk(key.Jwk("k")));
    EXPECT_EQ(known.algorithm(), algorithm);
    EXPECT_TRUE(known.Verifies("text", key.Sign("text")));
    EXPECT_FALSE(known.Verifies("texts", key.Sign("text")));
    EXPECT_FALSE(known.Verifies("text", ""));
  }
}

TEST(PublicKeyTest, SignatureWithLeadingZerosIsValid) {
  // Half of the numbers of this key's signatures have a first byte of 0x80 and more, and some have
  // zeros: DER writes both differently.
  const TestKey key = TestKey::Ec();
  ASSERT_OK_AND_ASSIGN(const PublicKey known, PublicKey::FromJwk(key.Jwk("")));
  for (int i = 0; i < 600; ++i) {
    const std::string text = std::to_string(i);
    EXPECT_TRUE(known.Verifies(text, key.Sign(text)));
  }
}

TEST(PublicKeyTest, EqualityIgnoresKeyId) {
  const TestKey ec = TestKey::Ec();
  ASSERT_OK_AND_ASSIGN(const PublicKey key, PublicKey::FromJwk(ec.Jwk("a")));
  ASSERT_OK_AND_ASSIGN(const PublicKey same, PublicKey::FromJwk(ec.Jwk("b")));
  ASSERT_OK_AND_ASSIGN(const PublicKey other, PublicKey::FromJwk(TestKey::Ec().Jwk("a")));
  ASSERT_OK_AND_ASSIGN(const PublicKey ed, PublicKey::FromJwk(TestKey::Ed25519().Jwk("a")));
  EXPECT_TRUE(key == same);
  EXPECT_FALSE(key == other);
  EXPECT_FALSE(key == ed);
}

TEST(PublicKeyTest, AcceptsKeysForVerification) {
  const Json ec = TestKey::Ec().Jwk("k");
  EXPECT_OK(PublicKey::FromJwk(With(ec, "use", "sig")));
  EXPECT_OK(PublicKey::FromJwk(With(ec, "alg", "ES256")));
  EXPECT_OK(PublicKey::FromJwk(With(ec, "key_ops", {"verify", "x"})));
  EXPECT_OK(PublicKey::FromJwk(With(ec, "x5c", {"MIIB"})));
}

TEST(PublicKeyTest, RefusesOtherKeys) {
  const Json rsa = TestKey::Rsa().Jwk("k");
  const Json ec = TestKey::Ec().Jwk("k");
  const Json ed = TestKey::Ed25519().Jwk("k");
  const std::string zeros = EncodeBase64Url(std::string(32, '\0'));
  const std::vector<Json> bad = {With(ec, "use", "enc"),
                                 With(ec, "use", 1),
                                 With(ec, "alg", "ES384"),
                                 With(rsa, "alg", "RS512"),
                                 With(ec, "key_ops", Json::array()),
                                 With(ec, "key_ops", {"encrypt"}),
                                 With(ec, "key_ops", "verify"),
                                 With(ec, "kty", "oct"),
                                 With(ec, "kty", "ec"),
                                 With(ec, "kty", "RSA"),
                                 With(ec, "crv", "P-521"),
                                 With(ec, "crv", "secp256k1"),
                                 With(ec, "x", zeros),  // Not a point of the curve.
                                 With(ec, "x", ec["x"].get<std::string>() + "AA"),
                                 With(ec, "y", nullptr),
                                 With(ed, "crv", "X25519"),
                                 With(ed, "x", "AAAA"),
                                 With(ed, "x", ""),
                                 With(rsa, "n", "AQ"),
                                 With(rsa, "n", EncodeBase64Url(std::string(256, '\0'))),
                                 With(rsa, "n", EncodeBase64Url(std::string(1025, '\x81'))),
                                 With(rsa, "e", ""),
                                 With(rsa, "e", "AQ"),
                                 With(rsa, "e", EncodeBase64Url(std::string(9, '\x01'))),
                                 With(rsa, "n", rsa["n"].get<std::string>() + "="),
                                 TestKey::Rsa(1024).Jwk("k"),
                                 TestKey::Ec("P-384").Jwk("k"),
                                 Json::object(),
                                 Json("text"),
                                 Json()};
  for (const Json& jwk : bad) EXPECT_FALSE(PublicKey::FromJwk(jwk).ok()) << jwk.dump();
}

TEST(KeySetTest, FindsKeysByIdAndAlgorithm) {
  const TestKey rsa = TestKey::Rsa();
  ASSERT_OK_AND_ASSIGN(
      const KeySet keys,
      KeySet::Parse(KeySetText({rsa.Jwk("a"), TestKey::Ec().Jwk("b"), TestKey::Ed25519().Jwk("a"),
                                With(rsa.Jwk("c"), "use", "enc")})));
  EXPECT_EQ(keys.size(), 4u);
  EXPECT_EQ(keys.usable(), 3u);
  EXPECT_OK(keys.Find("a", JwtAlgorithm::kRs256));
  EXPECT_OK(keys.Find("a", JwtAlgorithm::kEdDsa));
  const auto reason_of = [&](const char* id, JwtAlgorithm algorithm) {
    return DetailsOf(keys.Find(id, algorithm).status()).reason;
  };
  EXPECT_EQ(reason_of("b", JwtAlgorithm::kRs256), "key_unsuitable");
  EXPECT_EQ(reason_of("c", JwtAlgorithm::kRs256), "key_unsuitable");
  EXPECT_EQ(reason_of("d", JwtAlgorithm::kRs256), "key_unknown");
  EXPECT_EQ(reason_of("", JwtAlgorithm::kRs256), "key_id_missing");
}

TEST(KeySetTest, EmptySetKnowsNoKey) {
  ASSERT_OK_AND_ASSIGN(const KeySet keys, KeySet::Parse(KeySetText({})));
  EXPECT_THAT(keys.Find("a", JwtAlgorithm::kEs256),
              FailsWith(absl::StatusCode::kUnauthenticated, "key_unknown"));
}

}  // namespace
}  // namespace callslip::gateway
