#ifndef CALLSLIP_GATEWAY_SESSION_TOKENS_H_
#define CALLSLIP_GATEWAY_SESSION_TOKENS_H_

#include <cstddef>
#include <deque>
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
#include "gateway/http/address_quota.h"
#include "gateway/http/failure_quota.h"
#include "gateway/http/token_verifier.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

// Knows by the tracker whose agent shows a session's token: the client that the session belongs
// to, in the role `client`. What the tracker has said counts for some seconds; a token is asked
// about once at a time. One that it does not know any more is revoked, and ends what it has
// begun. Tokens that somebody made up take neither place nor time from those that are known, and
// of others those of the same address alone: another machine that has shown some has to wait.
//
// Used on one executor, which runs one function at a time.
class SessionTokens final : public TokenVerifier,
                            public std::enable_shared_from_this<SessionTokens> {
 public:
  static constexpr absl::Duration kKnownFor = absl::Seconds(5);
  // Nobody is given a token that was shown before it was made.
  static constexpr absl::Duration kUnknownFor = absl::Seconds(10);
  // That are known, some hundred bytes each. Of too many, those that were not used for longest make
  // room, and are revoked.
  static constexpr size_t kMaxTokens = 10'000;
  // That are not; of too many, those that were asked about first make room.
  static constexpr size_t kMaxUnknown = 1000;
  // Requests that wait with tokens that are not known yet, and how many of these the tracker is
  // asked about at a time.
  static constexpr size_t kMaxWaiting = 1000;
  static constexpr int kMaxWaitingOfAddress = 100;  // But for this machine's.
  static constexpr size_t kMaxAsked = 16;
  // Tokens that are none, until another machine that shows them has to wait.
  static constexpr FailureQuota::Limits kMadeUp = {
      .of_address = 20, .of_all = 200, .window = absl::Seconds(5)};

  // The client and the clock outlive this and the executor's work.
  SessionTokens(boost::asio::any_io_executor executor, TrackerCalls* sessions, Clock* clock);

  // UNAUTHENTICATED, reason `token_unknown`, for one that the tracker does not know;
  // RESOURCE_EXHAUSTED, reason `too_many_lookups`; else what has kept the tracker from saying, as
  // TrackerErrorOf() has it, such as UNAVAILABLE `tracker_unreachable`.
  void Verify(const std::string& token, const std::string& address, Done done) override;
  // Asks anew about the tokens by which something is under way, so that it ends with its session.
  // To be called twice in kKnownFor.
  void Refresh();

  size_t size() const { return entries_.size(); }
  size_t unknown() const { return unknown_.size(); }
  // Of tokens that are not known, how many the tracker is being asked about.
  size_t under_way() const { return asked_count_; }

 private:
  struct Entry {
    Sha256Digest digest;
    std::string token;
    std::shared_ptr<Credential> credential;
    absl::Time until;
  };
  using Entries = std::list<Entry>;
  struct Asked {
    std::string token;
    Sha256Digest digest;
    std::string address;  // Of who has shown it first; of none that is known.
  };
  // Who waits for what the tracker says of a token.
  struct Waiting {
    bool is_known = false;  // When it was asked about.
    std::vector<Done> done;
    std::vector<std::shared_ptr<void>> places;  // Of those of `waiting_of_`.
  };

  // For one more that waits; null is a place, too. Or why there is none.
  absl::StatusOr<std::shared_ptr<void>> TakePlace(const std::string& address);
  // Null where it is not known.
  const Entry* FindKnown(const Sha256Digest& digest);
  bool IsUnknown(const Sha256Digest& digest);
  void AskNext();
  static boost::asio::awaitable<void> Look(std::shared_ptr<SessionTokens> self, Asked asked);
  void BeginLook(Asked asked);
  absl::StatusOr<CredentialPtr> Learn(const Asked& asked,
                                      const absl::StatusOr<v1::FindSessionTokenResponse>& found);
  void AddKnown(Entry entry);
  void AddUnknown(const Sha256Digest& digest);
  void Forget(const Sha256Digest& digest);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const sessions_;
  Clock* const clock_;
  Entries entries_;  // Those that were used last come first.
  absl::flat_hash_map<Sha256Digest, Entries::iterator> by_digest_;
  // Until when each is not asked about again.
  absl::flat_hash_map<Sha256Digest, absl::Time> unknown_;
  std::deque<Sha256Digest> unknown_order_;
  absl::flat_hash_map<Sha256Digest, Waiting> waiting_;
  // Of those that are not known: how many wait, which are to be asked about, and how many are.
  size_t waiting_count_ = 0;
  AddressQuota waiting_of_{kMaxWaitingOfAddress};
  // By address; each that has some has one turn after the other.
  absl::flat_hash_map<std::string, std::deque<Asked>> to_ask_;
  std::deque<std::string> turns_;
  size_t asked_count_ = 0;
  FailureQuota made_up_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_SESSION_TOKENS_H_
