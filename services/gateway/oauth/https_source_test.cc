#include "gateway/oauth/https_source.h"

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/status_matchers.h"
#include "gateway/oauth/issuer_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "openssl/pem.h"
#include "openssl/x509v3.h"
#include "support/temporary_folder.h"

namespace callslip::gateway {
namespace {

using ::testing::HasSubstr;

// A self-signed certificate of `key` for 127.0.0.1. The caller frees it.
X509* MakeCertificate(const TestKey& key) {
  X509* const certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key.get());
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  for (const auto& [type, value] : {std::pair(NID_subject_alt_name, "IP:127.0.0.1"),
                                    std::pair(NID_basic_constraints, "critical,CA:TRUE")}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, type, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(certificate, key.get(), EVP_sha256());
  return certificate;
}

std::string PemOf(X509* certificate) {
  BIO* const memory = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(memory, certificate);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(memory);
  return text;
}

// An HTTP server on a port of its own choice.
class Peer {
 public:
  explicit Peer(std::unique_ptr<httplib::Server> server) : server_(std::move(server)) {
    server_->Get("/text", [](const httplib::Request&, httplib::Response& response) {
      response.set_header("Cache-Control", "public, max-age=120");
      response.set_content("text", "application/json");
    });
    server_->Get("/volatile", [](const httplib::Request&, httplib::Response& response) {
      response.set_header("Cache-Control", "no-store");
    });
    server_->Get("/elsewhere", [](const httplib::Request&, httplib::Response& response) {
      response.set_redirect("/text");
    });
    server_->Get("/large", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::string((1 << 20) + 1, 'x'), "application/json");
    });
    server_->Get("/endless", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("application/json",
                                            [](size_t, httplib::DataSink& sink) {
                                              const std::string piece(1 << 16, 'x');
                                              return sink.write(piece.data(), piece.size());
                                            });
    });
    server_->Get("/cut", [](const httplib::Request&, httplib::Response& response) {
      response.set_content_provider(100, "application/json",
                                    [](size_t, size_t, httplib::DataSink& sink) {
                                      sink.write("{", 1);
                                      return false;
                                    });
    });
    const auto close = [](const httplib::Request&, httplib::Response& response) {
      response.set_content_provider(100, "application/json",
                                    [](size_t, size_t, httplib::DataSink&) { return false; });
    };
    server_->Get("/closed", close);
    server_->Post("/closed", close);
    server_->Get("/headers", [](const httplib::Request&, httplib::Response& response) {
      for (int i = 0; i < 20; ++i) {
        response.set_header(absl::StrCat("x-", i), std::string(1000, 'x'));
      }
    });
    server_->Get("/held", [this](const httplib::Request&, httplib::Response&) {
      reached_.Notify();
      released_.Wait();
    });
    port_ = server_->bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
  }
  ~Peer() {
    released_.Notify();
    server_->stop();
    thread_.join();
  }

  Url At(const char* scheme, const char* path) const {
    return *ParseUrl(absl::StrCat(scheme, "://127.0.0.1:", port_, path));
  }
  void AwaitReached() { reached_.Wait(); }

 private:
  const std::unique_ptr<httplib::Server> server_;
  Notification reached_;
  Notification released_;
  int port_ = 0;
  std::thread thread_;
};

class HttpsSourceTest : public testing::Test {
 protected:
  std::string ErrorOf(const char* path) {
    return std::string(source_->Get(peer_.At("http", path)).status().message());
  }

  Peer peer_{std::make_unique<httplib::Server>()};
  std::unique_ptr<DocumentSource> source_ = *MakeHttpsSource("");
};

TEST_F(HttpsSourceTest, FetchesDocumentAndItsMaxAge) {
  ASSERT_OK_AND_ASSIGN(const Document document, source_->Get(peer_.At("http", "/text")));
  EXPECT_EQ(document.body, "text");
  EXPECT_EQ(document.max_age, absl::Seconds(120));
  ASSERT_OK_AND_ASSIGN(const Document brief, source_->Get(peer_.At("http", "/volatile")));
  EXPECT_EQ(brief.max_age, absl::ZeroDuration());
}

TEST_F(HttpsSourceTest, FollowsNoRedirectsAndEnforcesLimits) {
  EXPECT_TRUE(absl::IsNotFound(source_->Get(peer_.At("http", "/missing")).status()));
  EXPECT_THAT(ErrorOf("/elsewhere"), HasSubstr("302"));
  EXPECT_THAT(ErrorOf("/large"), HasSubstr("body limit"));
  EXPECT_THAT(ErrorOf("/endless"), HasSubstr("body limit"));
  EXPECT_THAT(ErrorOf("/headers"), HasSubstr("header limit"));
  // Another URL may have the document.
  for (const char* unusable : {"/large", "/endless", "/headers", "/cut", "/closed"}) {
    EXPECT_TRUE(absl::IsNotFound(source_->Get(peer_.At("http", unusable)).status())) << unusable;
  }
  EXPECT_TRUE(absl::IsUnavailable(source_->Post(peer_.At("http", "/closed"), "a=b").status()));
  const auto refused = source_->Get(*ParseUrl("http://127.0.0.1:1/"));
  EXPECT_TRUE(absl::IsUnavailable(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("accept a connection"));
}

TEST_F(HttpsSourceTest, HangingServerTimesOut) {
  ASSERT_OK_AND_ASSIGN(const auto hasty, MakeHttpsSource("", {.time = absl::Milliseconds(50)}));
  const auto held = hasty->Get(peer_.At("http", "/held"));
  EXPECT_THAT(std::string(held.status().message()), HasSubstr("no answer within 50ms"));
  EXPECT_OK(source_->Get(peer_.At("http", "/text")));
}

// After the fetch there is nothing that Stop() could end.
TEST_F(HttpsSourceTest, StopAfterFetchEndsOnlyLaterFetches) {
  ASSERT_OK(source_->Get(peer_.At("http", "/text")));
  source_->Stop();
  source_->Stop();
  EXPECT_THAT(ErrorOf("/text"), HasSubstr("stops"));
}

TEST_F(HttpsSourceTest, StopEndsCurrentAndLaterFetches) {
  std::thread stopper([this] {
    peer_.AwaitReached();
    source_->Stop();
  });
  EXPECT_TRUE(absl::IsUnavailable(source_->Get(peer_.At("http", "/held")).status()));
  stopper.join();
  EXPECT_THAT(ErrorOf("/text"), HasSubstr("stops"));
}

// The name server answers only after the test.
class SilentNamesTest : public testing::Test {
 protected:
  SilentNamesTest() {
    const auto resolve = [times = asked_times_, asked = asked_, told = told_](const std::string&,
                                                                              const std::string&) {
      ++*times;
      asked->Notify();
      told->Wait();
      return absl::StatusOr<std::vector<SocketAddress>>(absl::UnavailableError("unknown"));
    };
    source_ = *MakeHttpsSource("", {.time = absl::Milliseconds(50)}, resolve);
    patient_ = *MakeHttpsSource("", {.time = absl::Minutes(10)}, resolve);
  }
  ~SilentNamesTest() override { told_->Notify(); }

  const Url url_ = *ParseUrl("https://login.example/keys");
  const std::shared_ptr<std::atomic<int>> asked_times_ = std::make_shared<std::atomic<int>>(0);
  const std::shared_ptr<Notification> asked_ = std::make_shared<Notification>();
  const std::shared_ptr<Notification> told_ = std::make_shared<Notification>();
  std::unique_ptr<DocumentSource> source_;
  std::unique_ptr<DocumentSource> patient_;
};

TEST_F(SilentNamesTest, LookupTimesOut) {
  EXPECT_THAT(std::string(source_->Get(url_).status().message()), HasSubstr("within 50ms"));
  // The lookup delays neither the next request nor the end of the source.
  EXPECT_THAT(std::string(source_->Post(url_, "").status().message()), HasSubstr("within 50ms"));
  source_ = nullptr;
}

TEST_F(SilentNamesTest, LaterFetchesShareOneLookup) {
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(source_->Get(url_).ok());
  EXPECT_EQ(*asked_times_, 1);
}

TEST_F(SilentNamesTest, StopEndsWaitForLookup) {
  std::thread stopper([this] {
    asked_->Wait();
    patient_->Stop();
  });
  EXPECT_THAT(std::string(patient_->Get(url_).status().message()), HasSubstr("stops"));
  stopper.join();
}

TEST(HttpsSourceTlsTest, TrustsOnlyCertificatesOfFile) {
  const TestKey key = TestKey::Ec();
  X509* const certificate = MakeCertificate(key);
  const TemporaryFolder folder;
  const std::string ca_file = absl::StrCat(folder.path(), "/ca.pem");
  std::ofstream(ca_file) << PemOf(certificate);
  Peer peer(std::make_unique<httplib::SSLServer>(certificate, key.get()));
  ASSERT_OK_AND_ASSIGN(const auto source, MakeHttpsSource(ca_file));
  ASSERT_OK_AND_ASSIGN(const Document document, source->Get(peer.At("https", "/text")));
  EXPECT_EQ(document.body, "text");
  // The same server by a name that the certificate does not have.
  Url other = peer.At("https", "/text");
  other.address.host = "localhost";
  EXPECT_THAT(std::string(source->Get(other).status().message()), HasSubstr("certificate"));
  ASSERT_OK_AND_ASSIGN(const auto stranger, MakeHttpsSource(""));
  EXPECT_THAT(std::string(stranger->Get(peer.At("https", "/text")).status().message()),
              HasSubstr("certificate"));
  X509_free(certificate);
}

TEST(HttpsSourceTlsTest, FileWithoutCertificatesIsRefused) {
  const auto source = MakeHttpsSource("/dev/null");
  EXPECT_THAT(std::string(source.status().message()), HasSubstr("/dev/null"));
}

}  // namespace
}  // namespace callslip::gateway
