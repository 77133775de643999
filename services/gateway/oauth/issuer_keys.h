#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "gateway/oauth/document_source.h"
#include "gateway/oauth/issuer_documents.h"
#include "gateway/oauth/key_set.h"

namespace callslip::gateway {

// The keys of an authorization server. A thread of its own fetches them at once and then
// repeatedly, so that no other thread waits for the network. Thread-safe.
//
// If a fetch fails, which is logged, the previous keys stay valid for a day at most.
class IssuerKeys {
 public:
  // How long keys are valid if the server does not specify it, and the bounds for what it
  // specifies.
  static constexpr absl::Duration kUsualAge = absl::Minutes(10);
  static constexpr absl::Duration kMinAge = absl::Minutes(1);
  static constexpr absl::Duration kMaxAge = absl::Hours(24);
  // Between the starts of two fetches, whatever callers request and however fetches fail.
  static constexpr absl::Duration kMinInterval = absl::Seconds(30);

  // `on_fetched` is called on the thread after each fetch, successful or not.
  IssuerKeys(std::string issuer, std::unique_ptr<DocumentSource> source, Clock* clock,
             std::function<void()> on_fetched);
  // Ends a fetch in progress.
  ~IssuerKeys();

  // The newest keys; null while there are none. Does not block.
  std::shared_ptr<const KeySet> keys() const;

  // As the server last reported them; empty before that. Does not block.
  LoginEndpoints endpoints() const;

  // Requests newer keys. True if a fetch is in progress or is now started; false if the last one
  // began less than kMinInterval ago. Does not block.
  bool Renew();

 private:
  void Run();
  // Fetches once, and returns the time of the next fetch.
  absl::Time Fetch();
  absl::Time Keep(absl::StatusOr<FetchedKeys> fetched) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string issuer_;
  const std::unique_ptr<DocumentSource> source_;
  Clock* const clock_;
  const std::function<void()> on_fetched_;
  const std::unique_ptr<Sleeper> sleeper_;
  mutable Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  // A fetch is in progress or about to start.
  bool is_due_ ABSL_GUARDED_BY(mutex_) = true;
  absl::Time last_start_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time last_success_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::shared_ptr<const KeySet> keys_ ABSL_GUARDED_BY(mutex_);
  LoginEndpoints endpoints_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace callslip::gateway
