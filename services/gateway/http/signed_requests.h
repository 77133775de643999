#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "auth/request_signature.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "gateway/http/http_message.h"

namespace callslip::gateway {

// The nonces of signed requests, so that each request is accepted only once, and never after it was
// refused for its time. Keeps up to `limit` accepted nonces of all keys together. When full, the
// key with the most nonces forgets its oldest, and from then on refuses requests that are as old.
// Thread-safe.
class SeenNonces {
 public:
  enum class Verdict {
    kNew,      // To be accepted.
    kSeen,     // Was accepted before, or refused for good.
    kTooOff,   // Its time is off; it was never accepted, and never will be.
    kUnknown,  // Too old to know whether it was accepted.
  };

  // The maximum error of a client's clock.
  static constexpr absl::Duration kWindow = absl::Minutes(5);
  // How long after a request its client may still wait for the response's head: the bridge and the
  // extension wait for about a minute. For this long after its window, a copy of a request is
  // recognized as one.
  static constexpr absl::Duration kAnswerTime = absl::Minutes(2);
  // The maximum number of requests per key that are refused as too early: they are remembered as
  // long as accepted ones. A client needs one when it starts.
  static constexpr size_t kMaxAhead = 100;

  explicit SeenNonces(size_t limit) : limit_(limit) {}

  // Judges a request whose signature is correct. Call once per request.
  Verdict Enter(const RequestSignature& signature, absl::Time now);

 private:
  struct Entry {
    int64_t time_ms;
    std::array<char, 16> nonce;

    auto operator<=>(const Entry&) const = default;
  };
  struct OfKey {
    std::set<Entry> taken;  // Oldest first.
    std::set<Entry> ahead;  // Requests that came too early to be accepted.
    // Requests up to this time may have been accepted and forgotten.
    int64_t forgotten_until_ms = std::numeric_limits<int64_t>::min();
  };

  // Forgets the entries before `oldest_ms`, which are not needed any more.
  void Forget(OfKey& key, int64_t oldest_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(int64_t oldest_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t limit_;
  Mutex mutex_;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;  // Of all keys.
  // By fingerprint: at most as many as there were tokens.
  absl::flat_hash_map<std::string, OfKey> keys_ ABSL_GUARDED_BY(mutex_);
};

// Judges requests that are signed with a token instead of showing it, and makes their responses
// prove that this gateway knows the token, too (docs/adr/0013). Thread-safe.
class SignedRequests {
 public:
  static constexpr absl::Duration kWindow = SeenNonces::kWindow;
  // About 10 MB. The nonces of 200 requests per second for as long as they are remembered.
  static constexpr size_t kMaxNonces = 100'000;

  // `clock` must outlive this.
  SignedRequests(std::shared_ptr<const Credentials> credentials, Clock* clock,
                 size_t max_nonces = kMaxNonces)
      : credentials_(std::move(credentials)), clock_(clock), nonces_(max_nonces) {}

  // Adds the proof to a response when it is sent.
  class Prover {
   public:
    // `is_head`: the response is sent without a body.
    Prover(std::string token, std::string nonce, bool is_head)
        : token_(std::move(token)), nonce_(std::move(nonce)), is_head_(is_head) {}
    void Prove(HttpResponse& response) const;

   private:
    std::string token_;
    std::string nonce_;
    bool is_head_;
  };

  // Either `credential` or `refusal` is set.
  struct Judgement {
    CredentialPtr credential;
    std::optional<HttpResponse> refusal;  // 401.
    // For every response. Nullopt if the caller has not shown that it knows a token, or if the
    // request may have been accepted before: no other client must get proofs.
    std::optional<Prover> prover;
  };

  // The caller that the request claims, before its body is there to verify it. Nullopt if the claim
  // cannot be true.
  std::optional<Principal> ClaimedBy(const HttpRequest& head) const;

  // Nullopt if the request's Authorization header is absent or has another scheme.
  std::optional<Judgement> Judge(const HttpRequest& request);

 private:
  const std::shared_ptr<const Credentials> credentials_;
  Clock* const clock_;
  SeenNonces nonces_;
};

}  // namespace callslip::gateway
