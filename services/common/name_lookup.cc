#include "common/name_lookup.h"

#include <netdb.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace callslip {
namespace {

using Addresses = absl::StatusOr<std::vector<SocketAddress>>;

Addresses AskSystem(const std::string& host, const std::string& port, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  std::vector<SocketAddress> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    address.size = at->ai_addrlen;
  }
  freeaddrinfo(found);
  return addresses;
}

std::atomic<int>& Threads() {
  static std::atomic<int> threads = 0;
  return threads;
}

}  // namespace

Addresses ResolveName(const std::string& host, const std::string& port) {
  return AskSystem(host, port, 0);
}

struct NameLookup::State {
  bool IsOver(absl::Duration kept) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!found.has_value()) return false;
    if (is_read && !found->ok()) return true;
    return clock.Now() - found_at > (is_read ? kept : kKeptUnread);
  }
  void Set(Addresses result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    found = std::move(result);
    is_read = false;
    found_at = clock.Now();
    changed.NotifyAll();
  }

  RealClock clock;
  Mutex mutex;
  CondVar changed;
  bool is_cancelled ABSL_GUARDED_BY(mutex) = false;
  bool is_busy ABSL_GUARDED_BY(mutex) = false;  // A lookup thread is running.
  std::optional<Addresses> found ABSL_GUARDED_BY(mutex);
  bool is_read ABSL_GUARDED_BY(mutex) = false;
  absl::Time found_at ABSL_GUARDED_BY(mutex) = absl::InfinitePast();
};

NameLookup::NameLookup(std::string host, std::string port, Resolver resolve, absl::Duration kept)
    : host_(std::move(host)),
      port_(std::move(port)),
      resolve_(std::move(resolve)),
      kept_(kept),
      state_(std::make_shared<State>()) {}

Addresses NameLookup::Wait(absl::Duration within) {
  const absl::Time end = state_->clock.Now() + within;
  Begin();
  MutexLock lock(&state_->mutex);
  while (!state_->is_cancelled && !state_->found.has_value()) {
    const absl::Duration left = end - state_->clock.Now();
    if (left <= absl::ZeroDuration()) {
      return absl::UnavailableError(
          absl::StrCat("no name server has answered within ", absl::FormatDuration(within)));
    }
    state_->changed.WaitFor(&state_->mutex, left);
  }
  if (state_->is_cancelled) return absl::UnavailableError("the look-up was cancelled");
  state_->is_read = true;
  return *state_->found;
}

void NameLookup::Cancel() {
  MutexLock lock(&state_->mutex);
  state_->is_cancelled = true;
  state_->changed.NotifyAll();
}

void NameLookup::Begin() {
  MutexLock lock(&state_->mutex);
  if (state_->IsOver(kept_)) state_->found = std::nullopt;
  if (state_->is_cancelled || state_->is_busy || state_->found.has_value()) return;
  Addresses address = AskSystem(host_, port_, AI_NUMERICHOST);
  if (address.ok()) return state_->Set(std::move(address));
  if (++Threads() > kMaxThreads) {
    --Threads();
    return state_->Set(absl::UnavailableError(
        absl::StrCat(kMaxThreads, " names are being looked up, and no name server answers")));
  }
  state_->is_busy = true;
  try {
    std::thread([state = state_, resolve = resolve_, host = host_, port = port_] {
      Addresses found = resolve(host, port);
      --Threads();
      MutexLock finished(&state->mutex);
      state->is_busy = false;
      state->Set(std::move(found));
    }).detach();
  } catch (const std::system_error& error) {
    --Threads();
    state_->is_busy = false;
    state_->Set(absl::UnavailableError(absl::StrCat("no thread for it: ", error.what())));
  }
}

}  // namespace callslip
