#ifndef CALLSLIP_GATEWAY_SESSION_TOKENS_H_
#define CALLSLIP_GATEWAY_SESSION_TOKENS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "auth/credentials.h"
#include "auth/sha256.h"
#include "boost/asio/any_io_executor.hpp"
#include "boost/asio/awaitable.hpp"
#include "common/clock.h"
#include "gateway/http/token_verifier.h"
#include "gateway/tracker_client/session_client.h"

namespace callslip::gateway {

// Knows by the tracker whose agent shows a session's token: the client that the session belongs
// to, in the role `client`. What the tracker has said counts for some seconds; a token is asked
// about once at a time. One that it does not know any more is withdrawn, and ends what it has
// begun.
//
// Used on one executor, which runs one function at a time.
class SessionTokens final : public TokenVerifier,
                            public std::enable_shared_from_this<SessionTokens> {
 public:
  static constexpr absl::Duration kKnownFor = absl::Seconds(5);
  static constexpr absl::Duration kUnknownFor = absl::Seconds(1);
  // Some hundred bytes each. Of too many, those that were not used for longest make room.
  static constexpr size_t kMaxTokens = 10'000;
  // Requests that wait for the tracker.
  static constexpr size_t kMaxWaiting = 1000;

  // The client and the clock outlive this and the executor's work.
  SessionTokens(boost::asio::any_io_executor executor, SessionClient* sessions, Clock* clock);

  // UNAUTHENTICATED, reason `token_unknown`, for one that the tracker does not know;
  // RESOURCE_EXHAUSTED, reason `too_many_lookups`; else what has kept the tracker from saying, as
  // TrackerErrorOf() has it, such as UNAVAILABLE `tracker_unreachable`.
  void Verify(const std::string& token, Done done) override;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Sha256Digest digest;
    std::shared_ptr<Credential> credential;  // Null: there is no such token.
    absl::Time until;
  };
  using Entries = std::list<Entry>;

  // What was said of it lately; null where it has to be asked for.
  const Entry* FindFresh(const Sha256Digest& digest);
  static boost::asio::awaitable<void> Look(std::shared_ptr<SessionTokens> self, std::string token,
                                           Sha256Digest digest);
  absl::StatusOr<CredentialPtr> Learn(const Sha256Digest& digest,
                                      const absl::StatusOr<v1::FindSessionTokenResponse>& found);
  // The place of `digest`, the first from now on.
  Entry& EntryOf(const Sha256Digest& digest);

  const boost::asio::any_io_executor executor_;
  SessionClient* const sessions_;
  Clock* const clock_;
  Entries entries_;  // Those that were used last come first.
  absl::flat_hash_map<Sha256Digest, Entries::iterator> by_digest_;
  absl::flat_hash_map<Sha256Digest, std::vector<Done>> waiting_;
  size_t waiting_count_ = 0;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_SESSION_TOKENS_H_
