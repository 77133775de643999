#ifndef CALLSLIP_GATEWAY_HTTP_BODY_BUDGET_H_
#define CALLSLIP_GATEWAY_HTTP_BODY_BUDGET_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace callslip::gateway {

// How many bytes of bodies there may be at a time. Used on one executor.
class BodyBudget {
 public:
  explicit BodyBudget(uint64_t bytes) : left_(bytes) {}

  // What one body has of it, given back by its destruction. One that was moved has nothing, and may
  // grow again.
  class Place {
   public:
    explicit Place(std::shared_ptr<BodyBudget> budget) : budget_(std::move(budget)) {}
    ~Place() { budget_->left_ += bytes_; }
    Place(Place&& other) noexcept
        : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}

    // That there may be so many in all. False where there is no room for them.
    bool Grow(uint64_t bytes) {
      const uint64_t more = bytes - std::min(bytes, bytes_);
      if (more > budget_->left_) return false;
      budget_->left_ -= more;
      bytes_ += more;
      return true;
    }
    uint64_t bytes() const { return bytes_; }

   private:
    std::shared_ptr<BodyBudget> budget_;
    uint64_t bytes_ = 0;
  };

 private:
  uint64_t left_;
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_HTTP_BODY_BUDGET_H_
