#include "tracker/domain/session/session.h"

#include <algorithm>
#include <utility>

#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {
namespace {

// The reported status from which this one was derived.
AgentStatus ToldStatus(AgentStatus status) {
  const bool in_turn = status == AgentStatus::kPrompting || status == AgentStatus::kNeedsPermission;
  return in_turn ? AgentStatus::kIdle : status;
}

}  // namespace

Session::Session(LoadedSession loaded, const SessionLimits& limits, const QueueDefaults& defaults,
                 Later later, MetadataListener listener, SessionNotices* notices, AgentNeeds* needs,
                 AgentAnswers* answers, absl::Time now)
    : limits_(limits),
      later_(std::move(later)),
      listener_(std::move(listener)),
      notices_(notices),
      answers_(answers),
      needs_(needs),
      metadata_(std::move(loaded.metadata)),
      told_status_(ToldStatus(metadata_.agent.status)),
      known_(KnownOf(metadata_)),
      enabled_by_default_(defaults.enabled),
      record_(std::move(loaded.record)),
      queue_(limits.queued_messages, std::move(loaded.messages)),
      delivery_(&queue_, defaults, std::move(loaded.delivery)),
      prompts_(std::move(loaded.prompts)),
      answer_(std::move(loaded.answer)),
      open_calls_(std::move(loaded.open_calls)) {
  delivery_.LimitDelay(now);
  if (const QueuedMessage* sending = queue_.Sending(); sending != nullptr) {
    const bool recorded =
        std::any_of(prompts_.begin(), prompts_.end(),
                    [&](const RecordedPrompt& prompt) { return prompt.queue_id == sending->id; });
    delivery_.Reconcile(recorded, now);
    queue_changed_ = true;
  }
  if (const auto& turn = delivery_.state().turn;
      turn.has_value() && turn->id == loaded.last_turn.turn_id) {
    // Its end is in the log already.
    delivery_.Finish(loaded.last_turn.turn_id, loaded.last_turn.outcome, now).IgnoreError();
    queue_changed_ = true;
  }
}

SessionSnapshot Session::Snapshot() {
  Refresh();
  return {.metadata = metadata_,
          .queue = queue_status(),
          .turn = delivery_.state().turn,
          .permissions = permissions_.open(),
          .has_runner = receiver_ != nullptr};
}

absl::Status Session::Rename(std::string name, absl::Time now) {
  RETURN_IF_ERROR(CheckSize("name", name, kMaxSessionNameBytes));
  metadata_.name = std::move(name);
  metadata_.updated_at = now;
  NotifyMetadata();
  Announce(SessionAction::kUpdated);
  return absl::OkStatus();
}

absl::Status Session::End(std::string reason, absl::Time now) {
  if (metadata_.state != SessionState::kActive) return absl::OkStatus();
  RETURN_IF_ERROR(CheckSize("reason", reason, kMaxSessionNameBytes));
  ReturnSending();
  if (const auto& turn = delivery_.state().turn; turn.has_value()) {
    const TurnOutcome outcome{TurnEnd::kCancelled, "session_ended", "the session was ended"};
    RETURN_IF_ERROR(FinishTurn(std::string(turn->id), outcome, now));
  }
  RETURN_IF_ERROR(CancelPermissions(now).status());
  RETURN_IF_ERROR(
      Append(SessionEnd{.reason = reason, .event_count = record_->event_count()}, now).status());
  metadata_.state = SessionState::kCompleted;
  metadata_.end_reason = std::move(reason);
  NotifyMetadata();
  Announce(SessionAction::kEnded);
  return absl::OkStatus();
}

absl::Status Session::Resume(absl::Time now) {
  if (metadata_.state == SessionState::kActive) return SessionNotEnded(metadata_.session_id);
  metadata_.state = SessionState::kActive;
  metadata_.detached = !metadata_.parent_session_id.empty();
  // From now on any runner that suits can serve it.
  metadata_.only_runner.clear();
  metadata_.end_reason.clear();
  metadata_.archived = false;
  metadata_.archived_at = {};
  metadata_.updated_at = now;
  NotifyMetadata();
  Announce(SessionAction::kResumed);
  return absl::OkStatus();
}

absl::Status Session::Archive(bool archived, absl::Time now) {
  if (archived) RETURN_IF_ERROR(End("archived", now));
  if (metadata_.archived == archived) return absl::OkStatus();
  metadata_.archived = archived;
  metadata_.archived_at = archived ? now : absl::Time();
  metadata_.updated_at = now;
  NotifyMetadata();
  Announce(SessionAction::kUpdated);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Session::Prune(const SessionRetention& retention) {
  absl::StatusOr<int64_t> removed = record_->Prune(retention);
  RETURN_IF_ERROR(Checked(removed.status()));
  if (*removed == 0) return 0;
  NotifyMetadata();
  // The positions of playbacks are no longer valid.
  for (Playback& playback : playbacks_) {
    AfterCommit([feed = playback.feed](const absl::Status&) { feed->End(EventsPruned()); });
  }
  playbacks_.clear();
  return *removed;
}

absl::StatusOr<EventPtr> Session::Record(NewEvent event, absl::Time now) {
  RETURN_IF_ERROR(CheckActive());
  return Append(std::move(event), now);
}

absl::StatusOr<std::vector<EventPtr>> Session::RecordAll(std::vector<NewEvent> events,
                                                         absl::Time now) {
  RETURN_IF_ERROR(CheckActive());
  return AppendAll(std::move(events), now);
}

absl::StatusOr<EventPage> Session::Read(const EventQuery& query) {
  absl::StatusOr<EventPage> page = record_->Read(query);
  RETURN_IF_ERROR(Checked(page.status()));
  return page;
}

void Session::Advance(absl::Time now) {
  std::erase_if(observers_, [](const Observer& observer) { return observer.feed->over(); });
  std::erase_if(playbacks_, [&](Playback& playback) { return !PlayOn(playback, now); });
  if (metadata_.state == SessionState::kActive) PollDelivery(now);
  FollowAgent();
  AnnounceActivity(now);
}

absl::Time Session::NextTime() const {
  absl::Time next = absl::InfiniteFuture();
  if (metadata_.state == SessionState::kActive) {
    next = delivery_.NextTime(receiver_ != nullptr);
  }
  for (const Playback& playback : playbacks_) next = std::min(next, playback.due);
  if (activity_unreported_) next = std::min(next, activity_due_);
  return next;
}

void Session::AfterCommit(std::function<void(const absl::Status&)> effect) {
  effects_.push_back(std::move(effect));
}

absl::Status Session::Commit(absl::Time now) {
  broken_ = Write(now);
  RETURN_IF_ERROR(broken_);
  // An effect can cause another one, such as a request of a feed that has read everything.
  for (auto& effect : std::exchange(effects_, {})) effect(absl::OkStatus());
  if (queue_follows_log_) broken_ = SaveQueue(now);
  return broken_;
}

absl::Status Session::SaveQueue(absl::Time now) {
  queue_changed_ = queue_follows_log_ = false;
  return record_->SaveQueue(queue_.messages(), delivery_.state(), now);
}

absl::Status Session::Write(absl::Time now) {
  RETURN_IF_ERROR(broken_);
  if (std::exchange(log_changed_, false)) RETURN_IF_ERROR(record_->SyncLog());
  if (queue_changed_) RETURN_IF_ERROR(SaveQueue(now));
  const bool listing_changed = std::exchange(listing_changed_, false);
  if (!counters_changed_ && !metadata_changed_ && !listing_changed) return absl::OkStatus();
  Refresh();
  if (std::exchange(metadata_changed_, false)) {
    RETURN_IF_ERROR(record_->SaveMetadata(metadata_));
    counters_changed_ = false;
  }
  listener_(metadata_);
  return absl::OkStatus();
}

void Session::Abandon(const absl::Status& status) {
  // A session that is unloaded sends a pending notice at once.
  if (status.ok() && std::exchange(activity_unreported_, false)) {
    Refresh();
    notices_->Publish({SessionAction::kActivity, AsNoticed(metadata_)});
  }
  for (const Observer& observer : std::exchange(observers_, {})) observer.feed->End(status);
  for (const Playback& playback : std::exchange(playbacks_, {})) playback.feed->End(status);
  if (receiver_ != nullptr) std::exchange(receiver_, nullptr)->OnEnd(status);
  for (const auto& asker : permissions_.TakeAskers()) asker->OnAnswer(status);
  for (auto& effect : std::exchange(effects_, {})) effect(status);
}

bool Session::idle() const {
  return observers_.empty() && playbacks_.empty() && receiver_ == nullptr && permissions_.empty();
}

void Session::SaveCounters() {
  if (!broken_.ok() || !std::exchange(counters_changed_, false)) return;
  Refresh();
  // If this fails, they are counted when the session is next loaded.
  record_->SaveMetadata(metadata_).IgnoreError();
}

absl::Status Session::CheckActive() const {
  return metadata_.state == SessionState::kActive ? absl::OkStatus()
                                                  : SessionEnded(metadata_.session_id);
}

absl::Status Session::Checked(absl::Status status) {
  if (absl::IsUnavailable(status)) broken_ = status;
  return status;
}

absl::StatusOr<EventPtr> Session::Append(NewEvent event, absl::Time now) {
  std::vector<NewEvent> one;
  one.push_back(std::move(event));
  ASSIGN_OR_RETURN(const std::vector<EventPtr> events, AppendAll(std::move(one), now));
  return events.front();
}

absl::StatusOr<std::vector<EventPtr>> Session::AppendAll(std::vector<NewEvent> events,
                                                         absl::Time now) {
  absl::StatusOr<std::vector<AppendedEvent>> appended = record_->AppendAll(std::move(events), now);
  RETURN_IF_ERROR(Checked(appended.status()));
  log_changed_ = counters_changed_ = activity_unreported_ = true;
  metadata_.updated_at = now;
  std::vector<EventPtr> recorded;
  recorded.reserve(appended->size());
  for (AppendedEvent& each : *appended) {
    Appended(each.event, std::move(each.facts));
    recorded.push_back(std::move(each.event));
  }
  return recorded;
}

void Session::Appended(const EventPtr& event, EventFacts facts) {
  answer_.Note(event->seq, facts);
  open_calls_.Note(facts);
  if (facts.prompt.has_value()) Remember(event->seq, *std::move(facts.prompt), prompts_);
  for (Observer& observer : observers_) {
    if (observer.behind) continue;  // It gets to this event when it reads the log.
    observer.seq = event->seq;
    Tell(observer.feed, event);
  }
}

void Session::Refresh() {
  metadata_.event_count = record_->event_count();
  metadata_.log_bytes = record_->log_bytes();
  metadata_.max_seq = record_->max_seq();
  metadata_.image_bytes = record_->image_bytes();
  const DeliveryState& delivery = delivery_.state();
  metadata_.queue.length = queue_.size();
  metadata_.queue.turn_id = delivery.turn.has_value() ? delivery.turn->id : "";
  metadata_.queue.paused = delivery.pause.has_value();
  metadata_.queue.pause_reason = delivery.pause.has_value() ? delivery.pause->reason : "";
  metadata_.queue.enabled = delivery.settings.enabled;
  metadata_.queue.writers = WritersOf(queue_.messages());
  metadata_.open_permissions = permissions_.size();
  metadata_.needs_agent = receiver_ == nullptr && HasWork(metadata_, enabled_by_default_);
  metadata_.agent.status = told_status_;
  if (told_status_ == AgentStatus::kIdle && delivery.turn.has_value()) {
    metadata_.agent.status =
        permissions_.empty() ? AgentStatus::kPrompting : AgentStatus::kNeedsPermission;
  }
}

void Session::Tell(std::shared_ptr<SessionFeed> feed, What what) {
  AfterCommit([feed = std::move(feed), update = SessionUpdate{record_->max_seq(), std::move(what)}](
                  const absl::Status& status) mutable {
    if (status.ok()) feed->Push(std::move(update));
  });
}

void Session::NotifyAll(const What& what) {
  for (const Observer& observer : observers_) Tell(observer.feed, what);
}

void Session::NotifyMetadata() {
  metadata_changed_ = true;
  Refresh();
  NotifyAll(WithoutDetails(metadata_));
}

void Session::Announce(SessionAction action) {
  AfterCommit([this, notice = SessionNotice{action, WithoutDetails(metadata_)}](
                  const absl::Status& status) {
    if (status.ok()) notices_->Publish(notice);
  });
}

void Session::AnnounceChange(SessionAction action, decltype(SessionNotice::change) change) {
  Refresh();
  AfterCommit([this, notice = SessionNotice{action, AsNoticed(metadata_), std::move(change)}](
                  const absl::Status& status) {
    if (status.ok()) notices_->Publish(notice);
  });
}

void Session::AnnounceActivity(absl::Time now) {
  if (!activity_unreported_ || now < activity_due_) return;
  activity_unreported_ = false;
  activity_due_ = now + kActivityInterval;
  AnnounceChange(SessionAction::kActivity);
}

}  // namespace callslip::tracker
