#ifndef CALLSLIP_GATEWAY_HTTP_SIGNED_REQUESTS_H_
#define CALLSLIP_GATEWAY_HTTP_SIGNED_REQUESTS_H_

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

// The nonces of signed requests, so that each is let in once, and so that none is let in that was
// told that its time is off. There is room for `limit` of those that were let in, of all keys
// together: where it is full, the key with the most of them forgets its oldest, and from then on
// nothing of that key is taken that is as old. Thread-safe.
class SeenNonces {
 public:
  enum class Verdict {
    kNew,      // To be let in.
    kSeen,     // It was let in before, or told that it will not be.
    kTooOff,   // Its time is; it was never let in, and never will be.
    kUnknown,  // It is too old to tell whether it was.
  };

  // How far a client's clock may be off.
  static constexpr absl::Duration kWindow = absl::Minutes(5);
  // How long after a request its client may still wait for the answer's head: bridge and extension
  // do so for a minute or so. As long it is told from a copy that comes when its time is over.
  static constexpr absl::Duration kAnswerTime = absl::Minutes(2);
  // Of one key, how many may be told that their time is yet to come: they are remembered until it
  // has. A client needs one when it starts.
  static constexpr size_t kMaxAhead = 100;

  explicit SeenNonces(size_t limit) : limit_(limit) {}

  // Judges a request whose signature is right, once.
  Verdict Enter(const RequestSignature& signature, absl::Time now);

 private:
  struct Entry {
    int64_t time_ms;
    std::array<char, 16> nonce;

    auto operator<=>(const Entry&) const = default;
  };
  struct OfKey {
    std::set<Entry> taken;  // The oldest first.
    std::set<Entry> ahead;  // Those that came too early to be taken.
    // The time up to which there may have been others that were taken.
    int64_t forgotten_until_ms = std::numeric_limits<int64_t>::min();
  };

  // Those that came before `oldest_ms` tell nothing more.
  void Forget(OfKey& key, int64_t oldest_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(int64_t oldest_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t limit_;
  Mutex mutex_;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;  // Of all keys.
  // By fingerprint: as many as there were tokens.
  absl::flat_hash_map<std::string, OfKey> keys_ ABSL_GUARDED_BY(mutex_);
};

// Judges requests that are signed with a token instead of showing it, and has their answers prove
// that this gateway knows it, too (docs/adr/0013). Thread-safe.
class SignedRequests {
 public:
  static constexpr absl::Duration kWindow = SeenNonces::kWindow;
  // Some 10 MB. What 200 requests a second make while they are remembered.
  static constexpr size_t kMaxNonces = 100'000;

  // `clock` must outlive it.
  SignedRequests(std::shared_ptr<const Credentials> credentials, Clock* clock,
                 size_t max_nonces = kMaxNonces)
      : credentials_(std::move(credentials)), clock_(clock), nonces_(max_nonces) {}

  // Adds the proof to an answer, as it goes out.
  class Prover {
   public:
    // `is_head`: no body of an answer goes out.
    Prover(std::string token, std::string nonce, bool is_head)
        : token_(std::move(token)), nonce_(std::move(nonce)), is_head_(is_head) {}
    void Prove(HttpResponse& response) const;

   private:
    std::string token_;
    std::string nonce_;
    bool is_head_;
  };

  // One of `credential` and `refusal` is set.
  struct Judgement {
    CredentialPtr credential;
    std::optional<HttpResponse> refusal;  // 401.
    // For whatever is answered. Nullopt where the caller has not shown that it knows a token, or
    // where this request may have been taken before: nobody else is to get proofs.
    std::optional<Prover> prover;
  };

  // Whose a request is as it says, before its body is there to judge it by. Nullopt where it can't
  // be anybody's.
  std::optional<Principal> ClaimedBy(const HttpRequest& head) const;

  // Nullopt for a request whose Authorization is of another scheme, or absent.
  std::optional<Judgement> Judge(const HttpRequest& request);

 private:
  const std::shared_ptr<const Credentials> credentials_;
  Clock* const clock_;
  SeenNonces nonces_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_SIGNED_REQUESTS_H_
