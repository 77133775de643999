#include "common/certificate_name.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace callslip {
namespace {

using Kind = CertificateNameKind;

TEST(CertificateNameTest, EachNameLooksLikeItsKindOnly) {
  const std::vector<std::pair<std::string, Kind>> names = {
      {"agent.callslip.test", Kind::kDns},
      {"localhost", Kind::kDns},
      {"*.example.org", Kind::kDns},
      {"spiffe://example/browser", Kind::kUri},
      {"urn:uuid:1", Kind::kUri},
      {"mailto:a@example.org", Kind::kUri},
      {"https://a@example.org/", Kind::kUri},
      {"a@example.org", Kind::kEmail},
      {"192.0.2.7", Kind::kIp},
      {"2001:db8::7", Kind::kIp},
      {"fe80::1", Kind::kIp},
      {"::1", Kind::kIp},
  };
  for (const auto& [name, its] : names) {
    for (const Kind kind : {Kind::kDns, Kind::kUri, Kind::kEmail, Kind::kIp}) {
      EXPECT_EQ(LooksLike(kind, name), kind == its) << name << " " << static_cast<int>(kind);
    }
  }
}

TEST(CertificateNameTest, MisleadingNamesLookLikeNoKind) {
  for (const std::string& name :
       {std::string(), std::string("a.test\0.example", 15), std::string("a b"),
        std::string("a.test\n"), std::string("a/b"), std::string(":a"), std::string("1:a")}) {
    for (const Kind kind : {Kind::kDns, Kind::kUri, Kind::kEmail, Kind::kIp}) {
      EXPECT_FALSE(LooksLike(kind, name)) << name << " " << static_cast<int>(kind);
    }
  }
}

}  // namespace
}  // namespace callslip
