#include "gateway/session_tokens.h"

#include <utility>

#include "auth/session_token.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "common/error_details.h"
#include "gateway/json/tracker_error.h"

namespace callslip::gateway {
namespace {

absl::Status Unknown() {
  return ErrorWithDetails(
      absl::StatusCode::kUnauthenticated,
      "The session of this token has ended, or the token never belonged to a session.",
      {.reason = "token_unknown"});
}

bool IsOfThisMachine(const std::string& address) {
  return address.empty() || IsLoopbackKey(address);
}

absl::Status TooManyLookups(absl::Duration wait) {
  return ErrorWithDetails(
      absl::StatusCode::kResourceExhausted, "Too many tokens of sessions are being looked up.",
      {.reason = "too_many_lookups", .hint = "Try again in a few seconds.", .retry_after = wait});
}

// The error as the caller sees it. If the tracker refuses the gateway, the caller's token is not to
// blame.
absl::Status Failure(const absl::Status& status) {
  const TrackerError error = TrackerErrorOf(status);
  return ErrorWithDetails(
      error.code, error.message,
      {.reason = error.reason, .hint = error.hint, .retry_after = error.retry_after});
}

}  // namespace

SessionTokens::SessionTokens(boost::asio::any_io_executor executor, TrackerCalls* sessions,
                             Clock* clock)
    : executor_(std::move(executor)),
      sessions_(sessions),
      clock_(clock),
      made_up_(clock, kMadeUp) {}

void SessionTokens::Verify(const std::string& token, const std::string& address, Done done) {
  if (!IsWellFormedSessionToken(token)) return std::move(done)(Unknown());
  const Sha256Digest digest = Sha256(token);
  const Entry* const known = FindKnown(digest);
  if (known != nullptr && clock_->Now() < known->until) {
    return std::move(done)(CredentialPtr(known->credential));
  }
  if (known == nullptr && IsUnknown(digest)) return std::move(done)(Unknown());
  std::shared_ptr<void> place;
  if (known == nullptr) {
    absl::StatusOr<std::shared_ptr<void>> taken = TakePlace(address);
    if (!taken.ok()) return std::move(done)(taken.status());
    place = *std::move(taken);
  }
  const auto [found, is_new] = waiting_.try_emplace(digest, Waiting{.is_known = known != nullptr});
  Waiting& waiting = found->second;
  waiting.done.push_back(std::move(done));
  if (!waiting.is_known) {
    ++waiting_count_;
    waiting.places.push_back(std::move(place));
  }
  if (!is_new) return;
  if (waiting.is_known) return BeginLook({token, digest, ""});
  std::deque<Asked>& of_address = to_ask_[address];
  if (of_address.empty()) turns_.push_back(address);
  of_address.push_back({token, digest, address});
  AskNext();
}

absl::StatusOr<std::shared_ptr<void>> SessionTokens::TakePlace(const std::string& address) {
  constexpr absl::Duration kMoment = absl::Seconds(1);
  if (waiting_count_ == kMaxWaiting) return TooManyLookups(kMoment);
  // This machine has many clients behind one address that know nothing of each other.
  if (IsOfThisMachine(address)) return nullptr;
  const absl::Duration wait = made_up_.WaitOf(address);
  if (wait > absl::ZeroDuration()) return TooManyLookups(wait);
  std::shared_ptr<void> place = waiting_of_.Take(address);
  if (place == nullptr) return TooManyLookups(kMoment);
  return place;
}

void SessionTokens::Refresh() {
  const absl::Time now = clock_->Now();
  std::vector<Asked> due;
  for (const Entry& entry : entries_) {
    const bool is_in_use = entry.credential.use_count() > 1;
    // Also refreshes what would become due before the next call.
    if (is_in_use && entry.until <= now + kKnownFor / 2)
      due.push_back({entry.token, entry.digest, ""});
  }
  for (Asked& each : due) {
    if (waiting_.try_emplace(each.digest, Waiting{.is_known = true}).second) {
      BeginLook(std::move(each));
    }
  }
}

void SessionTokens::BeginLook(Asked asked) {
  boost::asio::co_spawn(executor_, Look(shared_from_this(), std::move(asked)),
                        boost::asio::detached);
}

const SessionTokens::Entry* SessionTokens::FindKnown(const Sha256Digest& digest) {
  const auto found = by_digest_.find(digest);
  if (found == by_digest_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

bool SessionTokens::IsUnknown(const Sha256Digest& digest) {
  const auto found = unknown_.find(digest);
  return found != unknown_.end() && clock_->Now() < found->second;
}

void SessionTokens::AskNext() {
  while (asked_count_ < kMaxAsked && !turns_.empty()) {
    const auto of_address = to_ask_.find(turns_.front());
    turns_.pop_front();
    Asked next = std::move(of_address->second.front());
    of_address->second.pop_front();
    if (of_address->second.empty()) {
      to_ask_.erase(of_address);
    } else {
      turns_.push_back(next.address);
    }
    ++asked_count_;
    BeginLook(std::move(next));
  }
}

boost::asio::awaitable<void> SessionTokens::Look(std::shared_ptr<SessionTokens> self, Asked asked) {
  v1::FindSessionTokenRequest request;
  request.set_token(asked.token);
  const auto found = co_await self->sessions_->Call(std::move(request));
  const absl::StatusOr<CredentialPtr> learnt = self->Learn(asked, found);
  // A callback may verify again.
  Waiting waiting = std::move(self->waiting_.extract(asked.digest).mapped());
  if (!waiting.is_known) {
    if (absl::IsUnauthenticated(learnt.status())) self->made_up_.CountFailed(asked.address);
    self->waiting_count_ -= waiting.done.size();
    waiting.places.clear();
    --self->asked_count_;
    self->AskNext();
  }
  for (Done& done : waiting.done) std::move(done)(learnt);
}

absl::StatusOr<CredentialPtr> SessionTokens::Learn(
    const Asked& asked, const absl::StatusOr<v1::FindSessionTokenResponse>& found) {
  const bool is_unknown =
      absl::IsNotFound(found.status()) && DetailsOf(found.status()).reason == "unknown_token";
  if (!found.ok() && !is_unknown) return Failure(found.status());
  if (is_unknown) {
    Forget(asked.digest);
    AddUnknown(asked.digest);
    return Unknown();
  }
  const absl::Time until = clock_->Now() + kKnownFor;
  // A token belongs to one session for good.
  if (FindKnown(asked.digest) == nullptr) {
    AddKnown({.digest = asked.digest,
              .token = asked.token,
              .credential = std::make_shared<Credential>(
                  Principal{.name = found->client_id(), .role = Role::kClient},
                  absl::InfiniteFuture(), found->session_id())});
  }
  entries_.front().until = until;
  return CredentialPtr(entries_.front().credential);
}

void SessionTokens::AddKnown(Entry entry) {
  if (entries_.size() == kMaxTokens) Forget(Sha256Digest(entries_.back().digest));
  entries_.push_front(std::move(entry));
  by_digest_[entries_.front().digest] = entries_.begin();
}

void SessionTokens::AddUnknown(const Sha256Digest& digest) {
  if (unknown_.insert_or_assign(digest, clock_->Now() + kUnknownFor).second) {
    unknown_order_.push_back(digest);
  }
  if (unknown_order_.size() <= kMaxUnknown) return;
  unknown_.erase(unknown_order_.front());
  unknown_order_.pop_front();
}

void SessionTokens::Forget(const Sha256Digest& digest) {
  const auto known = by_digest_.find(digest);
  if (known == by_digest_.end()) return;
  known->second->credential->Revoke();
  entries_.erase(known->second);
  by_digest_.erase(known);
}

}  // namespace callslip::gateway
