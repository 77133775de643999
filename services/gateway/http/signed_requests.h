#ifndef CALLSLIP_GATEWAY_HTTP_SIGNED_REQUESTS_H_
#define CALLSLIP_GATEWAY_HTTP_SIGNED_REQUESTS_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
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

// The nonces of requests that were let in, so that each is let in once. It has room for `limit`,
// of all keys together: a full one forgets the oldest, and from then on takes nothing of that key
// that is as old. Thread-safe.
class SeenNonces {
 public:
  enum class Verdict { kNew, kSeen, kTooOld };

  explicit SeenNonces(size_t limit) : limit_(limit) {}

  // Enters the nonce unless it was seen. What is older than `oldest_ms` may be forgotten: the
  // caller takes no such requests.
  Verdict Enter(const RequestSignature& signature, int64_t oldest_ms);

 private:
  struct Entry {
    int64_t time_ms;
    uint64_t key;
    std::array<char, 16> nonce;

    auto operator<=>(const Entry&) const = default;
  };

  void ForgetOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t limit_;
  Mutex mutex_;
  std::set<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // The oldest first.
  // By key, the time up to which entries were forgotten for want of room.
  absl::flat_hash_map<uint64_t, int64_t> forgotten_until_ms_ ABSL_GUARDED_BY(mutex_);
};

// Judges requests that are signed with a token instead of showing it, and has their answers prove
// that this gateway knows it, too (docs/adr/0013). Thread-safe.
class SignedRequests {
 public:
  // How far a client's clock may be off. A nonce is remembered for twice as long at the most.
  static constexpr absl::Duration kWindow = absl::Minutes(5);
  // Some 10 MB. What 300 requests a second make in the window.
  static constexpr size_t kMaxNonces = 100'000;

  // `clock` must outlive it.
  SignedRequests(std::shared_ptr<const Credentials> credentials, Clock* clock,
                 size_t max_nonces = kMaxNonces)
      : credentials_(std::move(credentials)), clock_(clock), nonces_(max_nonces) {}

  // Adds the proof to an answer, as it goes out.
  class Prover {
   public:
    Prover(std::string token, std::string nonce)
        : token_(std::move(token)), nonce_(std::move(nonce)) {}
    void Prove(HttpResponse& response) const;

   private:
    std::string token_;
    std::string nonce_;
  };

  // One of `credential` and `refusal` is set.
  struct Judgement {
    CredentialPtr credential;
    std::optional<HttpResponse> refusal;  // 401.
    // For whatever is answered. Nullopt where the caller has not shown that it knows a token:
    // nobody else is to get proofs.
    std::optional<Prover> prover;
  };

  // Nullopt for a request whose Authorization is of another scheme, or absent.
  std::optional<Judgement> Judge(const HttpRequest& request);

 private:
  const std::shared_ptr<const Credentials> credentials_;
  Clock* const clock_;
  SeenNonces nonces_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_SIGNED_REQUESTS_H_
