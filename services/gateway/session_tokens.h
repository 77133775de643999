#pragma once

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

// Verifies the tokens of session agents through the tracker: a token stands for the client that
// owns the session, in the role `client`. An answer of the tracker is valid for some seconds. A
// token that the tracker no longer knows is revoked, which ends everything it started.
//
// Tokens that are not known yet are looked up together, in one call at a time, with a pause after a
// call that found one invalid: tokens that are made up cost the tracker 20 calls a second at most.
// They cost known tokens neither capacity nor time, and another machine that has shown invalid
// tokens must wait.
//
// Use on one executor that runs one function at a time.
class SessionTokens final : public TokenVerifier,
                            public std::enable_shared_from_this<SessionTokens> {
 public:
  static constexpr absl::Duration kKnownFor = absl::Seconds(5);
  // No client gets a token that was presented before it was issued.
  static constexpr absl::Duration kUnknownFor = absl::Seconds(10);
  // Known tokens, some hundred bytes each. When full, the least recently used one is evicted and
  // revoked.
  static constexpr size_t kMaxTokens = 10'000;
  // Unknown tokens. When full, the one that was looked up first is evicted.
  static constexpr size_t kMaxUnknown = 1000;
  // Requests that wait with tokens that are not known yet: as many tokens as a lookup can have.
  static constexpr size_t kMaxWaiting = 1000;
  static constexpr int kMaxWaitingOfAddress = 100;  // Except for this machine's.
  static constexpr absl::Duration kPause = absl::Milliseconds(50);
  // Invalid tokens until another machine that shows them must wait.
  static constexpr FailureQuota::Limits kMadeUp = {
      .of_address = 20, .of_all = 200, .window = absl::Seconds(5)};

  // The client and the clock must outlive this and the executor's work.
  SessionTokens(boost::asio::any_io_executor executor, TrackerCalls* sessions, Clock* clock,
                absl::Duration pause = kPause);

  // UNAUTHENTICATED, reason `token_unknown`, if the tracker does not know the token;
  // RESOURCE_EXHAUSTED, reason `too_many_lookups`; otherwise the error that prevented the lookup,
  // in the form of TrackerErrorOf(), such as UNAVAILABLE `tracker_unreachable`.
  void Verify(const std::string& token, const std::string& address, Done done) override;
  // Looks up again the tokens that are in use, so that requests end with their session. Call twice
  // per kKnownFor.
  void Refresh();

  size_t size() const { return entries_.size(); }
  size_t unknown() const { return unknown_.size(); }

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
    std::string address;  // Of the first caller that showed it; empty for a known token.
  };
  using Batch = std::vector<Asked>;
  // The callers that wait for the lookup of a token.
  struct Waiting {
    bool is_known = false;  // When the lookup began.
    std::vector<Done> done;
    std::vector<std::shared_ptr<void>> places;  // Held places of `waiting_of_`.
  };

  // A place for one more waiting request; null is a valid place, too. An error if there is none.
  absl::StatusOr<std::shared_ptr<void>> TakePlace(const std::string& address);
  // Null if the token is not known.
  const Entry* FindKnown(const Sha256Digest& digest);
  bool IsUnknown(const Sha256Digest& digest);
  // Looks up all unknown tokens that wait, again and again until none does.
  static boost::asio::awaitable<void> LookUpUnknown(std::shared_ptr<SessionTokens> self);
  static boost::asio::awaitable<void> LookUpKnown(std::shared_ptr<SessionTokens> self, Batch batch);
  // Looks up the tokens of `batch`, and answers all who wait for them. True if all are valid.
  boost::asio::awaitable<bool> LookUp(const Batch& batch);
  absl::StatusOr<CredentialPtr> Learn(const Asked& asked,
                                      const v1::FindSessionTokensResponse::Found& found);
  void AddKnown(Entry entry);
  void AddUnknown(const Sha256Digest& digest);
  void Forget(const Sha256Digest& digest);

  const boost::asio::any_io_executor executor_;
  TrackerCalls* const sessions_;
  Clock* const clock_;
  const absl::Duration pause_;
  Entries entries_;  // Most recently used first.
  absl::flat_hash_map<Sha256Digest, Entries::iterator> by_digest_;
  // Unknown tokens, and until when they are not looked up again.
  absl::flat_hash_map<Sha256Digest, absl::Time> unknown_;
  std::deque<Sha256Digest> unknown_order_;
  absl::flat_hash_map<Sha256Digest, Waiting> waiting_;
  // For unknown tokens: the requests that wait, and the tokens still to be looked up.
  size_t waiting_count_ = 0;
  AddressQuota waiting_of_{kMaxWaitingOfAddress};
  Batch to_ask_;
  bool asks_ = false;  // LookUpUnknown() is running.
  FailureQuota made_up_;
};

}  // namespace callslip::gateway
