#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/mutex.h"
#include "gateway/json/parse.h"
#include "gateway/oauth/document_source.h"

struct evp_pkey_st;

// An authorization server for tests: its keys, its tokens and its documents.
namespace callslip::gateway {

// A private key.
class TestKey {
 public:
  static TestKey Rsa(int bits = 2048);
  static TestKey Ec(const char* curve = "P-256");
  static TestKey Ed25519();

  // The public half, with `kid` unless that is empty.
  Json Jwk(const std::string& kid) const;
  // In the JWS format for this kind of key.
  std::string Sign(absl::string_view text) const;
  // In OpenSSL's format, which for EC is DER.
  std::string SignPlain(absl::string_view text) const;
  // The public half in PEM.
  std::string PublicPem() const;
  evp_pkey_st* get() const { return key_.get(); }

 private:
  explicit TestKey(evp_pkey_st* key);

  std::shared_ptr<evp_pkey_st> key_;
};

std::string EncodeBase64Url(absl::string_view bytes);

// The part before the signature: `header` and `claims`, encoded.
std::string SignedPart(absl::string_view header, absl::string_view claims);
// The compact serialization.
std::string Token(const Json& header, const Json& claims, const TestKey& key);
std::string TokenOfTexts(absl::string_view header, absl::string_view claims, const TestKey& key);

// A key set as JSON.
std::string KeySetText(const std::vector<Json>& keys);

// Documents in memory, by URL, with the number of requests for each.
class FakeDocuments {
 public:
  void Put(const std::string& url, const std::string& body) { Put(url, Document{.body = body}); }
  void Put(const std::string& url, absl::StatusOr<Document> document) {
    MutexLock lock(&mutex_);
    documents_.insert_or_assign(url, std::move(document));
  }
  // From now on each Get() blocks until Release() or until its source is stopped.
  void Hold();
  void Release();
  // Returns once a Get() is blocked.
  void AwaitHeld();

  absl::StatusOr<Document> Get(const Url& url);
  void Stop();

  int requests(const std::string& url) const {
    MutexLock lock(&mutex_);
    const auto found = requests_.find(url);
    return found == requests_.end() ? 0 : found->second;
  }
  std::vector<std::string> log() const {
    MutexLock lock(&mutex_);
    return log_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::string, absl::StatusOr<Document>> documents_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
  bool hold_ ABSL_GUARDED_BY(mutex_) = false;
  int held_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Lends FakeDocuments to an object that must own its source.
class FakeSource final : public DocumentSource {
 public:
  explicit FakeSource(FakeDocuments* documents) : documents_(documents) {}

  absl::StatusOr<Document> Get(const Url& url) override { return documents_->Get(url); }
  absl::StatusOr<FormAnswer> Post(const Url& /*url*/, const std::string& /*form*/) override {
    return absl::UnimplementedError("it has documents only");
  }
  void Stop() override { documents_->Stop(); }

 private:
  FakeDocuments* const documents_;
};

}  // namespace callslip::gateway
