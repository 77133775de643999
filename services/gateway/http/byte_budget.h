#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "auth/credentials.h"
#include "auth/principal.h"

namespace callslip::gateway {

// Limits the bytes of one kind in use at a time: in total, and per caller, so that one caller
// cannot use up the share of the others. Use on one executor.
class ByteBudget {
 public:
  ByteBudget(uint64_t bytes, uint64_t bytes_of_one)
      : bytes_(bytes), bytes_of_one_(bytes_of_one), left_(bytes) {}

  // See Place::SetBeyondFree().
  static constexpr uint64_t kFreeBytes = 2048;

  uint64_t taken() const { return bytes_ - left_; }

  // The part of the budget that one body, queue, or response uses. Destruction gives it back. A
  // moved-from place holds nothing and can grow again.
  class Place {
   public:
    explicit Place(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
    ~Place() { Shrink(0); }
    Place(Place&& other) noexcept
        : budget_(other.budget_),
          who_(std::exchange(other.who_, "")),
          bytes_(std::exchange(other.bytes_, 0)) {}
    // `other` may belong to a different budget.
    Place& operator=(Place&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(who_, other.who_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }

    // Sets the account that the bytes count for. Call before the first Grow().
    void SetCaller(std::string who) { who_ = std::move(who); }

    // Raises the held bytes to `bytes` in total. False if the budget does not allow it.
    bool Grow(uint64_t bytes) {
      if (bytes <= bytes_) return true;
      const uint64_t more = bytes - bytes_;
      const auto account = budget_->taken_.try_emplace(who_).first;
      const bool fits = more <= budget_->left_ && account->second + more <= budget_->bytes_of_one_;
      if (fits) {
        budget_->left_ -= more;
        account->second += more;
        bytes_ = bytes;
      }
      if (account->second == 0) budget_->taken_.erase(account);
      return fits;
    }
    // Lowers the held bytes to at most `bytes`.
    void Shrink(uint64_t bytes) {
      if (bytes >= bytes_) return;
      const uint64_t less = bytes_ - bytes;
      budget_->left_ += less;
      const auto account = budget_->taken_.find(who_);
      account->second -= less;
      if (account->second == 0) budget_->taken_.erase(account);
      bytes_ = bytes;
    }
    // Sets the held bytes to `bytes`. False, with the previous bytes kept, if there is no budget
    // for more.
    bool Set(uint64_t bytes) {
      Shrink(bytes);
      return Grow(bytes);
    }
    // Set() for a queue whose first bytes are free: a peer that reads at once is not affected by
    // peers that do not.
    bool SetBeyondFree(uint64_t bytes) { return Set(bytes - std::min(bytes, kFreeBytes)); }
    // Whether Grow() would succeed if all other places of `account` were given back.
    bool WouldFit(uint64_t bytes, const std::string& account) const {
      const uint64_t more = bytes - std::min(bytes, bytes_);
      const uint64_t own = who_ == account ? bytes_ : 0;
      const uint64_t others = budget_->Taken(account) - own;
      const uint64_t mine = who_ == account ? own : budget_->Taken(who_);
      return more <= budget_->left_ + others && mine + more <= budget_->bytes_of_one_;
    }
    uint64_t bytes() const { return bytes_; }

   private:
    std::shared_ptr<ByteBudget> budget_;
    std::string who_;
    uint64_t bytes_ = 0;
  };

 private:
  uint64_t Taken(const std::string& who) const {
    const auto account = taken_.find(who);
    return account == taken_.end() ? 0 : account->second;
  }

  const uint64_t bytes_;
  const uint64_t bytes_of_one_;
  uint64_t left_;
  absl::flat_hash_map<std::string, uint64_t> taken_;  // By caller. No entry is zero.
};

// The name of the account: all callers without a credential share one.
inline std::string AccountOf(const CredentialPtr& credential) {
  return credential == nullptr ? kLocalName : credential->principal().name;
}

}  // namespace callslip::gateway
