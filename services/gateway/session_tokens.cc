#include "gateway/session_tokens.h"

#include <iterator>
#include <utility>

#include "auth/session_token.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "common/error_details.h"
#include "gateway/json/tracker_error.h"

namespace callslip::gateway {
namespace {

absl::Status Unknown() {
  return ErrorWithDetails(absl::StatusCode::kUnauthenticated,
                          "The session of this token has ended, or it is none of any session.",
                          {.reason = "token_unknown"});
}

absl::Status TooManyLookups() {
  return ErrorWithDetails(absl::StatusCode::kResourceExhausted,
                          "Too many tokens of sessions are being looked up.",
                          {.reason = "too_many_lookups",
                           .hint = "Try again in a second.",
                           .retry_after = absl::Seconds(1)});
}

// As the caller gets to see it: that the tracker refuses the gateway is none of its token.
absl::Status Failure(const absl::Status& status) {
  const TrackerError error = TrackerErrorOf(status);
  return ErrorWithDetails(
      error.code, error.message,
      {.reason = error.reason, .hint = error.hint, .retry_after = error.retry_after});
}

}  // namespace

SessionTokens::SessionTokens(boost::asio::any_io_executor executor, SessionClient* sessions,
                             Clock* clock)
    : executor_(std::move(executor)), sessions_(sessions), clock_(clock) {}

void SessionTokens::Verify(const std::string& token, Done done) {
  if (!IsWellFormedSessionToken(token)) return std::move(done)(Unknown());
  const Sha256Digest digest = Sha256(token);
  if (const Entry* known = FindFresh(digest); known != nullptr) {
    if (known->credential == nullptr) return std::move(done)(Unknown());
    return std::move(done)(CredentialPtr(known->credential));
  }
  if (waiting_count_ == kMaxWaiting) return std::move(done)(TooManyLookups());
  ++waiting_count_;
  std::vector<Done>& waiting = waiting_[digest];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;
  boost::asio::co_spawn(executor_, Look(shared_from_this(), token, digest), boost::asio::detached);
}

const SessionTokens::Entry* SessionTokens::FindFresh(const Sha256Digest& digest) {
  const auto found = by_digest_.find(digest);
  if (found == by_digest_.end() || clock_->Now() >= found->second->until) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

boost::asio::awaitable<void> SessionTokens::Look(std::shared_ptr<SessionTokens> self,
                                                 std::string token, Sha256Digest digest) {
  v1::FindSessionTokenRequest request;
  request.set_token(std::move(token));
  const auto found = co_await self->sessions_->Call(std::move(request));
  const absl::StatusOr<CredentialPtr> learnt = self->Learn(digest, found);
  // What is called may ask again.
  std::vector<Done> waiting = std::move(self->waiting_.extract(digest).mapped());
  self->waiting_count_ -= waiting.size();
  for (Done& done : waiting) std::move(done)(learnt);
}

absl::StatusOr<CredentialPtr> SessionTokens::Learn(
    const Sha256Digest& digest, const absl::StatusOr<v1::FindSessionTokenResponse>& found) {
  const bool is_unknown =
      absl::IsNotFound(found.status()) && DetailsOf(found.status()).reason == "unknown_token";
  if (!found.ok() && !is_unknown) return Failure(found.status());
  Entry& entry = EntryOf(digest);
  if (is_unknown) {
    if (entry.credential != nullptr) entry.credential->Withdraw();
    entry.credential = nullptr;
    entry.until = clock_->Now() + kUnknownFor;
    return Unknown();
  }
  // A token is of one session for good.
  if (entry.credential == nullptr) {
    entry.credential =
        std::make_shared<Credential>(Principal{.name = found->client_id(), .role = Role::kClient},
                                     absl::InfiniteFuture(), found->session_id());
  }
  entry.until = clock_->Now() + kKnownFor;
  return CredentialPtr(entry.credential);
}

SessionTokens::Entry& SessionTokens::EntryOf(const Sha256Digest& digest) {
  if (const auto known = by_digest_.find(digest); known != by_digest_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    return entries_.front();
  }
  if (entries_.size() == kMaxTokens) {
    by_digest_.erase(entries_.back().digest);
    entries_.pop_back();
  }
  entries_.push_front({.digest = digest, .credential = nullptr, .until = absl::InfinitePast()});
  by_digest_[digest] = entries_.begin();
  return entries_.front();
}

}  // namespace callslip::gateway
