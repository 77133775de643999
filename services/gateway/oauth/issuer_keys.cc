#include "gateway/oauth/issuer_keys.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace callslip::gateway {

IssuerKeys::IssuerKeys(std::string issuer, std::unique_ptr<DocumentSource> source, Clock* clock,
                       std::function<void()> on_fetched)
    : issuer_(std::move(issuer)),
      source_(std::move(source)),
      clock_(clock),
      on_fetched_(std::move(on_fetched)),
      sleeper_(clock->NewSleeper()),
      thread_([this] { Run(); }) {}

IssuerKeys::~IssuerKeys() {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
  }
  source_->Stop();
  sleeper_->Wake();
  thread_.join();
}

std::shared_ptr<const KeySet> IssuerKeys::keys() const {
  MutexLock lock(&mutex_);
  return keys_;
}

LoginEndpoints IssuerKeys::endpoints() const {
  MutexLock lock(&mutex_);
  return endpoints_;
}

bool IssuerKeys::Renew() {
  MutexLock lock(&mutex_);
  if (is_due_) return true;
  if (clock_->Now() < last_start_ + kMinInterval) return false;
  is_due_ = true;
  sleeper_->Wake();
  return true;
}

void IssuerKeys::Run() {
  for (;;) {
    const absl::Time next = Fetch();
    on_fetched_();
    bool is_due = false;
    while (!is_due) {
      sleeper_->SleepUntil(next);
      MutexLock lock(&mutex_);
      if (stop_) return;
      if (clock_->Now() >= next) is_due_ = true;
      is_due = is_due_;
    }
  }
}

absl::Time IssuerKeys::Fetch() {
  {
    MutexLock lock(&mutex_);
    last_start_ = clock_->Now();
  }
  absl::StatusOr<FetchedKeys> fetched = FetchIssuerKeys(issuer_, *source_);
  MutexLock lock(&mutex_);
  is_due_ = false;
  return Keep(std::move(fetched));
}

absl::Time IssuerKeys::Keep(absl::StatusOr<FetchedKeys> fetched) {
  const absl::Time now = clock_->Now();
  if (!fetched.ok()) {
    // Logged at most once per fetch.
    if (!stop_) {
      Log(LogLevel::kWarning, "cannot fetch the keys of the authorization server",
          {{"reason", std::string(fetched.status().message())}});
    }
    if (now >= last_success_ + kMaxAge) keys_ = nullptr;
    return last_start_ + kMinInterval;
  }
  Log(LogLevel::kDebug, "fetched the keys of the authorization server",
      {{"keys", absl::StrCat(fetched->keys.size())},
       {"usable", absl::StrCat(fetched->keys.usable())}});
  last_success_ = now;
  endpoints_ = std::move(fetched->endpoints);
  keys_ = std::make_shared<const KeySet>(std::move(fetched->keys));
  return now + std::clamp(fetched->max_age.value_or(kUsualAge), kMinAge, kMaxAge);
}

}  // namespace callslip::gateway
