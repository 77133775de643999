#include "tracker/rpc/runner_stream.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "tracker/domain/runner/runner_errors.h"
#include "tracker/domain/runner/runner_limits.h"

namespace callslip::tracker {

RunnerStream::RunnerStream(std::shared_ptr<Stream> stream, Find find, Later later,
                           std::function<void()> on_gone)
    : stream_(std::move(stream)),
      find_(std::move(find)),
      later_(std::move(later)),
      on_gone_(std::move(on_gone)) {}

void RunnerStream::Begin() {
  {
    MutexLock lock(&mutex_);
    begun_ = true;
    v1::Assignment started;
    started.mutable_started();
    ready_.push_front({std::move(started), nullptr});
  }
  GoOn();
}

void RunnerStream::Need(const std::string& session_id) { Add({session_id, std::nullopt, nullptr}); }

void RunnerStream::Control(const std::string& session_id, v1::AgentControl control,
                           std::function<void()> on_sent) {
  Add({session_id, std::move(control), std::move(on_sent)});
}

void RunnerStream::Add(Task task) {
  {
    MutexLock lock(&mutex_);
    if (over_) return;
    if (const auto waiting = put_back_.find(task.session_id); waiting != put_back_.end()) {
      const bool is_there =
          !task.control.has_value() && absl::c_any_of(waiting->second, [](const Task& each) {
            return !each.control.has_value();
          });
      if (!is_there) waiting->second.push_back(std::move(task));
      return;
    }
    if (!task.control.has_value() && !needed_.insert(task.session_id).second) return;
    tasks_.push_back(std::move(task));
  }
  GoOn();
}

void RunnerStream::PutBack(Task task) {
  const std::string session_id = task.session_id;
  {
    MutexLock lock(&mutex_);
    std::deque<Task>& waiting = put_back_[session_id];
    waiting.push_back(std::move(task));
    if (waiting.size() > 1) return;
  }
  later_([weak = weak_from_this(), session_id] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    std::deque<Task> waiting;
    {
      MutexLock lock(&self->mutex_);
      waiting = std::move(self->put_back_.extract(session_id).mapped());
    }
    for (Task& each : waiting) self->Add(std::move(each));
  });
}

void RunnerStream::Release(const HeldSession& held, const std::string& reason) {
  {
    MutexLock lock(&mutex_);
    if (over_) return;
    v1::Assignment message;
    message.mutable_session()->set_session_id(held.session_id);
    message.set_lease(held.lease);
    message.mutable_released()->set_reason(reason);
    ready_.push_back({std::move(message), nullptr});
  }
  GoOn();
}

void RunnerStream::GoOn() {
  {
    MutexLock lock(&mutex_);
    // A result found within the loop is handled by the loop, not by recursion.
    again_ = true;
    if (going_on_) return;
    going_on_ = true;
  }
  while (const std::optional<std::vector<Task>> tasks = Take()) {
    for (const Task& task : *tasks) {
      find_(task.session_id,
            [self = shared_from_this(), task](absl::StatusOr<v1::Assignment> assignment) {
              self->OnFound(task, std::move(assignment));
            });
    }
  }
  stream_.Wake();
}

std::optional<std::vector<RunnerStream::Task>> RunnerStream::Take() {
  bool too_slow = false;
  std::vector<Task> tasks;
  {
    MutexLock lock(&mutex_);
    // The number of sessions is limited where sessions are assigned to runners.
    too_slow = !over_ && tasks_.size() - needed_.size() + ready_.size() > kMaxWaitingAssignments;
    if (over_ || too_slow || !std::exchange(again_, false)) {
      going_on_ = false;
    } else {
      while (begun_ && !tasks_.empty() && finding_ + ready_.size() < kAtATime) {
        if (!tasks_.front().control.has_value()) needed_.erase(tasks_.front().session_id);
        tasks.push_back(std::move(tasks_.front()));
        tasks_.pop_front();
        ++finding_;
      }
      return tasks;
    }
  }
  if (too_slow) End(RunnerTooSlow());
  return std::nullopt;
}

void RunnerStream::OnFound(Task task, absl::StatusOr<v1::Assignment> assignment) {
  {
    MutexLock lock(&mutex_);
    --finding_;
    if (over_) return;
    if (assignment.ok()) {
      Ready ready{.message = *std::move(assignment), .on_sent = task.on_sent};
      if (task.control.has_value()) {
        *ready.message.mutable_control() = *task.control;
      } else {
        ready.message.mutable_needed();
      }
      ready_.push_back(std::move(ready));
    }
  }
  const bool is_wanted = !task.control.has_value() || ++task.tries < kControlTries;
  if (MayPass(assignment.status()) && is_wanted) {
    PutBack(std::move(task));
  }
  GoOn();
}

std::optional<Outgoing<v1::Assignment>> RunnerStream::Next() {
  Ready ready;
  {
    MutexLock lock(&mutex_);
    if (over_ || !begun_ || ready_.empty()) return std::nullopt;
    ready = std::move(ready_.front());
    ready_.pop_front();
  }
  if (ready.on_sent != nullptr) ready.on_sent();
  GoOn();
  return Outgoing<v1::Assignment>{std::move(ready.message), nullptr, nullptr};
}

void RunnerStream::End(const absl::Status& status) {
  {
    MutexLock lock(&mutex_);
    over_ = true;
    tasks_.clear();
    ready_.clear();
  }
  stream_.Finish(status);
  on_gone_();
}

void RunnerStream::OnCallerLeft() {
  stream_.LetGo();
  End(absl::OkStatus());
}

}  // namespace callslip::tracker
