// Runs access_tokens_fuzz without a fuzzer: on tokens and keys assembled from their typical parts,
// in any place, by a generator with a fixed seed.

#include <cstdint>
#include <iterator>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace callslip {
namespace {

using nlohmann::json;

constexpr int kInputs = 20'000;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string Input() {
    const size_t kind = Below(4);
    std::string input(1, static_cast<char>(kind));
    input += Text(kind);
    // Sometimes a wrong byte.
    if (Below(4) == 0) input[Below(input.size())] = static_cast<char>(Below(256));
    return input;
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  template <size_t kSize>
  const char* OneOf(const char* const (&texts)[kSize]) {
    return texts[Below(kSize)];
  }

  std::string Text(size_t kind) {
    switch (kind) {
      case 0:
        return std::string("eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.") +
               std::string(Below(100), 'A');
      case 1: return Header().dump() + "\n" + Claims().dump() + "\n" + Bytes(Below(80));
      case 2: {
        json keys = json::array();
        for (size_t i = Below(5); i > 0; --i) keys.push_back(Key());
        return json{{"keys", keys}}.dump();
      }
      default:
        return std::string(OneOf({"https://", "http://", "https:/"})) +
               OneOf({"as.example", "[::1]", "u@h", "unix:1", ""}) +
               OneOf({":8443", ":", "", ":x"}) + OneOf({"/a?b", "", "/", "#c", "/{d}"});
    }
  }

  std::string Bytes(size_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes += static_cast<char>(Below(256));
    return bytes;
  }

  // Mostly the valid value, so that the checks after it run as well.
  json Mostly(json right) { return Below(12) == 0 ? Odd() : right; }

  json Odd() {
    switch (Below(6)) {
      case 0: return nullptr;
      case 1: return -1e300;
      case 2: return random_();
      case 3: return json::array({"https://gw.example", 1});
      case 4: return std::string(Below(300), 'k');
      default: return json{{"a", "b"}};
    }
  }

  json Header() {
    json header = {{"alg", Mostly(OneOf({"ES256", "EdDSA", "RS256"}))}, {"typ", Mostly("at+jwt")}};
    if (Below(4) > 0) header["kid"] = Mostly(OneOf({"ec", "ed", "other"}));
    if (Below(8) == 0) header[OneOf({"crit", "jwk", "x"})] = Odd();
    return header;
  }

  json Claims() {
    json claims = {{"iss", Mostly("https://as.example")},
                   {"aud", Mostly("https://gw.example")},
                   {"sub", Mostly("alice")},
                   {"exp", Mostly(1'900'000'000)},
                   {"scope", Mostly("a b")},
                   {"iat", Mostly(1'700'000'000)}};
    if (Below(4) == 0) claims.erase(OneOf({"iss", "aud", "sub", "exp", "scope"}));
    return claims;
  }

  json Key() {
    json key = {{"kty", Mostly(OneOf({"EC", "OKP"}))},
                {"crv", Mostly(OneOf({"P-256", "Ed25519"}))},
                {"x", Mostly("axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY")},
                {"y", Mostly("T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU")},
                {"kid", Mostly("k")}};
    if (Below(8) == 0) key[OneOf({"use", "alg", "key_ops", "kty"})] = Odd();
    // Small numbers: the cost of large ones is not a matter of the parser.
    if (Below(8) == 0) key.update({{"kty", "RSA"}, {"n", "AQAB"}, {"e", "AQAB"}});
    return key;
  }

  std::mt19937_64 random_;
};

TEST(FuzzReplay, HoldsForSeededInputs) {
  Generator generator(1);
  for (int i = 0; i < kInputs; ++i) {
    const std::string input = generator.Input();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }
}

}  // namespace
}  // namespace callslip
