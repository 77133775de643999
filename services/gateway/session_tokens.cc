#include "gateway/session_tokens.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "auth/session_token.h"
#include "boost/asio/co_spawn.hpp"
#include "boost/asio/detached.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/use_awaitable.hpp"
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
                             Clock* clock, absl::Duration pause)
    : executor_(std::move(executor)),
      sessions_(sessions),
      clock_(clock),
      pause_(pause),
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
  if (waiting.is_known) {
    boost::asio::co_spawn(executor_, LookUpKnown(shared_from_this(), {{token, digest, ""}}),
                          boost::asio::detached);
    return;
  }
  to_ask_.push_back({token, digest, address});
  if (std::exchange(asks_, true)) return;
  boost::asio::co_spawn(executor_, LookUpUnknown(shared_from_this()), boost::asio::detached);
}

absl::StatusOr<std::shared_ptr<void>> SessionTokens::TakePlace(const std::string& address) {
  constexpr absl::Duration kMoment = absl::Seconds(1);
  if (waiting_count_ == kMaxWaiting) return TooManyLookups(kMoment);
  // This machine has many clients behind one address that know nothing of each other.
  if (address.empty() || IsLoopbackKey(address)) return nullptr;
  const absl::Duration wait = made_up_.WaitOf(address);
  if (wait > absl::ZeroDuration()) return TooManyLookups(wait);
  std::shared_ptr<void> place = waiting_of_.Take(address);
  if (place == nullptr) return TooManyLookups(kMoment);
  return place;
}

void SessionTokens::Refresh() {
  const absl::Time now = clock_->Now();
  std::vector<Batch> due;
  for (const Entry& entry : entries_) {
    const bool is_in_use = entry.credential.use_count() > 1;
    // Also refreshes what would become due before the next call.
    const bool is_due = is_in_use && entry.until <= now + kKnownFor / 2;
    if (!is_due || !waiting_.try_emplace(entry.digest, Waiting{.is_known = true}).second) continue;
    if (due.empty() || due.back().size() == kMaxWaiting) due.emplace_back();
    due.back().push_back({entry.token, entry.digest, ""});
  }
  for (Batch& batch : due) {
    boost::asio::co_spawn(executor_, LookUpKnown(shared_from_this(), std::move(batch)),
                          boost::asio::detached);
  }
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

boost::asio::awaitable<void> SessionTokens::LookUpUnknown(std::shared_ptr<SessionTokens> self) {
  const absl::Cleanup over = [&self] { self->asks_ = false; };
  while (!self->to_ask_.empty()) {
    const Batch batch = std::exchange(self->to_ask_, {});
    const bool all_valid = co_await self->LookUp(batch);
    if (all_valid) continue;
    boost::asio::steady_timer pause(self->executor_, absl::ToChronoNanoseconds(self->pause_));
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
}

boost::asio::awaitable<void> SessionTokens::LookUpKnown(std::shared_ptr<SessionTokens> self,
                                                        Batch batch) {
  co_await self->LookUp(batch);
}

boost::asio::awaitable<bool> SessionTokens::LookUp(const Batch& batch) {
  v1::FindSessionTokensRequest request;
  for (const Asked& asked : batch) request.add_tokens(asked.token);
  auto found = co_await sessions_->Call(std::move(request));
  if (found.ok() && found->found_size() != static_cast<int>(batch.size())) {
    found = absl::InternalError("the tracker answered other tokens than it was asked for");
  }
  bool all_valid = true;
  std::vector<std::pair<std::vector<Done>, absl::StatusOr<CredentialPtr>>> answers;
  for (size_t i = 0; i < batch.size(); ++i) {
    const Asked& asked = batch[i];
    absl::StatusOr<CredentialPtr> learnt =
        found.ok() ? Learn(asked, found->found(static_cast<int>(i))) : Failure(found.status());
    Waiting waiting = std::move(waiting_.extract(asked.digest).mapped());
    if (!waiting.is_known) {
      all_valid &= learnt.ok();
      if (absl::IsUnauthenticated(learnt.status())) made_up_.CountFailed(asked.address);
      waiting_count_ -= waiting.done.size();
    }
    answers.emplace_back(std::move(waiting.done), std::move(learnt));
  }
  // A callback may verify again.
  for (auto& [waiting, learnt] : answers) {
    for (Done& done : waiting) std::move(done)(learnt);
  }
  co_return all_valid;
}

absl::StatusOr<CredentialPtr> SessionTokens::Learn(
    const Asked& asked, const v1::FindSessionTokensResponse::Found& found) {
  if (found.session_id().empty()) {
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
                  Principal{.name = found.client_id(), .role = Role::kClient},
                  absl::InfiniteFuture(), found.session_id())});
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
