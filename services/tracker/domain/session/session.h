#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tracker/domain/session/agent_answers.h"
#include "tracker/domain/session/agent_needs.h"
#include "tracker/domain/session/agent_state.h"
#include "tracker/domain/session/message_queue.h"
#include "tracker/domain/session/open_tool_calls.h"
#include "tracker/domain/session/permissions.h"
#include "tracker/domain/session/player.h"
#include "tracker/domain/session/queue_delivery.h"
#include "tracker/domain/session/session_event.h"
#include "tracker/domain/session/session_feed.h"
#include "tracker/domain/session/session_limits.h"
#include "tracker/domain/session/session_metadata.h"
#include "tracker/domain/session/session_notices.h"
#include "tracker/domain/session/session_storage.h"

namespace callslip::tracker {

// The runner of a session: takes its messages, one at a time, and passes each to the agent. Created
// and held by the code that runs the session. Called on the session's thread; must not block.
class MessageReceiver {
 public:
  virtual ~MessageReceiver() = default;

  // The runner answers with Session::StartTurn(turn_id), passes the message to its agent only after
  // that has returned OK, and then ends the turn with FinishTurn(). The message may not be stored
  // yet, and the answer can be StaleTurn. The same turn_id can come twice if the runner has
  // returned meanwhile.
  virtual void OnMessage(const std::string& turn_id, const QueuedMessage& message) = 0;
  // The agent must stop: the runner ends the turn, as cancelled or with its own outcome.
  virtual void OnStop(const std::string& turn_id) = 0;
  // Nothing more will come: another runner took over, the session was deleted, or storage failed.
  virtual void OnEnd(const absl::Status& status) = 0;
};

// How to play a recorded session.
struct PlayRequest {
  int64_t position = 0;
  // Times the recorded pace; 0: as fast as the observer reads.
  double speed = 1;
};

// One session: its events, its queue and its observers.
//
// Belongs to one thread (see SessionTable::With), which calls Advance() and Commit() after a round
// of calls. A call changes the state in memory and adds to the data to be stored. Neither its
// caller nor an observer is notified before Commit() has made it durable, in this order: the log,
// then the queue, then the metadata. A crash between two of these is repaired when the session is
// loaded: a message whose user_prompt is in the log has been delivered, whatever queue.json says.
// So the runner that begins a turn waits for the log only. It receives a message while that is
// being stored, because it does nothing with the message before StartTurn() has returned.
class Session final : public AnsweringSession {
 public:
  // Schedules a call on this session's thread for later; does nothing if the session is gone by
  // then.
  using Later = std::function<void(std::function<void(Session&, absl::Time)>)>;
  // Called after each commit that changed the metadata.
  using MetadataListener = std::function<void(const SessionMetadata&)>;

  // `notices`, `needs` and `answers` must outlive this.
  Session(LoadedSession loaded, const SessionLimits& limits, const QueueDefaults& defaults,
          Later later, MetadataListener listener, SessionNotices* notices, AgentNeeds* needs,
          AgentAnswers* answers, absl::Time now);

  // Lifecycle.

  // The present metadata, with the details of its agent.
  const SessionMetadata& metadata() override {
    Refresh();
    return metadata_;
  }
  SessionSnapshot Snapshot();
  // InvalidField if it is too long.
  absl::Status Rename(std::string name, absl::Time now);
  // Records session_end; ends a turn and all permission requests as cancelled. Ending again is
  // harmless.
  absl::Status End(std::string reason, absl::Time now);
  // Accepts events again, and is no longer archived. Since a caller other than its parent wants it,
  // it no longer ends with its parent. SessionNotEnded.
  absl::Status Resume(absl::Time now);
  // Also ends the session if it is active.
  absl::Status Archive(bool archived, absl::Time now);
  // Shortens the log; the seqs of removed events are not used again. Returns the number of removed
  // events.
  absl::StatusOr<int64_t> Prune(const SessionRetention& retention);

  // Events.

  // Adds an event. SessionEnded, EventTooLarge, InvalidField for data that are not a JSON object,
  // and for ids that are too long.
  absl::StatusOr<EventPtr> Record(NewEvent event, absl::Time now) override;
  // The same for several, all or none of them.
  absl::StatusOr<std::vector<EventPtr>> RecordAll(std::vector<NewEvent> events, absl::Time now);
  // Adds a piece of the agent's answer. See AgentAnswers::Add().
  absl::StatusOr<AddedAgentText> AddAgentText(const AgentText& piece, absl::Time now) {
    return answers_->Add(*this, piece, now);
  }
  void ShowText(StreamedText text) override { NotifyAll(std::move(text)); }
  const RecordedAnswer& recorded_answer() const override { return answer_; }
  // Seq of the user_prompt of a queued message; 0 if it is not among the last kRememberedPrompts.
  int64_t SeqOfPrompt(absl::string_view message_id) const;
  // InvalidField.
  absl::StatusOr<EventPage> Read(const EventQuery& query);

  // Images.

  // Stores an image, once however often it is sent. It is durable on return. SessionEnded,
  // InvalidField for data that is not an image or is too long; TooManyImages.
  absl::StatusOr<ImageRef> PutImage(const std::string& data, std::string name);
  // ImageNotFound.
  absl::StatusOr<Image> GetImage(const std::string& id);

  // Watching.

  // From now on the feed gets a snapshot, the events after `after_seq`, and everything that
  // follows, without gaps. An `after_seq` above the newest means the newest. TooManyObservers,
  // InvalidField if it is negative.
  absl::Status Subscribe(int64_t after_seq, std::shared_ptr<SessionFeed> feed);
  // Plays the recorded events to the feed, which ends with OK after the last event that existed
  // when this was called. TooManyObservers, InvalidField.
  absl::Status Play(const PlayRequest& request, std::shared_ptr<SessionFeed> feed, absl::Time now);
  // Harmless if it is not subscribed.
  void Unsubscribe(const SessionFeed* feed);

  // The queue. Errors are those of MessageQueue and QueueDelivery, and SessionEnded for calls that
  // add.

  // DuplicatePrompt if the prompt_id has had its turn, PromptIdReused if that turn had other
  // content.
  absl::StatusOr<QueuedMessage> AddMessage(MessageRequest request, absl::Time now);
  // As above, but before all others and at once, even if the queue is paused or disabled.
  // TurnInProgress, NoRunner.
  absl::StatusOr<QueuedMessage> SendNow(MessageRequest request, absl::Time now);
  absl::StatusOr<QueuedMessage> GetMessage(absl::string_view id) const { return queue_.Get(id); }
  std::vector<QueuedMessage> ListMessages() const;
  absl::StatusOr<QueuedMessage> PopMessage();
  absl::Status DeleteMessage(absl::string_view id);
  size_t ClearQueue();
  absl::Status MoveMessage(absl::string_view id, int position);
  absl::StatusOr<QueuedMessage> EditMessage(absl::string_view id, MessageRequest request);
  QueueStatus queue_status() const;
  absl::Status ConfigureQueue(const QueueSettings& settings);
  void PauseQueue(std::string reason, std::string message, absl::Time now);
  absl::Status ResumeQueue();
  absl::StatusOr<QueuedMessage> RetryMessage(absl::Time now);
  absl::StatusOr<QueuedMessage> SkipMessage();

  // The runner.

  // Makes `receiver` the session's runner instead of any other. `turn_id`: the runner's present
  // turn, empty for none. If the session is in another turn, that was lost with its runner: it ends
  // as failed with `runner_lost`, and the queue is paused.
  absl::Status Attach(std::shared_ptr<MessageReceiver> receiver, absl::string_view turn_id,
                      absl::Time now);
  // Harmless if it is not the session's runner. Its turn continues.
  void Detach(const MessageReceiver* receiver);
  // Its runner is lost permanently, even if a call of it still exists: a turn ends as in Attach().
  absl::Status LoseRunner(absl::Time now);
  // Records the message's user_prompt and removes the message from the queue. Repeating it is
  // harmless. StaleTurn, SessionEnded.
  absl::StatusOr<Turn> StartTurn(absl::string_view turn_id, absl::Time now);
  // Ends the turn and its open permission requests. Unless it was completed, records an `error` and
  // pauses the queue. Always records a `turn_end`. Repeating it is harmless. StaleTurn, and
  // InvalidField for a `usage` that is not an object or is too long; then nothing changes.
  absl::Status FinishTurn(absl::string_view turn_id, TurnOutcome outcome, absl::Time now);
  // Pauses the queue with `stopped`, cancels the open permission requests, and asks the runner to
  // end its turn, which continues until the runner does. A message that the runner received and has
  // not begun waits again.
  absl::Status StopTurn(absl::Time now);

  // Sets the state of the agent. InvalidField for members that are too long, and for details that
  // are not an object. Observers are notified; members that are not stored cost no write.
  absl::Status SetAgentState(AgentChange change, absl::Time now);

  // Permissions.

  // Asks the observers, now and later; without options, continues waiting for an earlier request.
  // `asker` gets the answer when it is durable; it is dropped unanswered only with the whole table.
  // Errors are those of Permissions::Ask(), and SessionEnded.
  absl::StatusOr<PermissionRequest> AskPermission(PermissionRequest request,
                                                  std::shared_ptr<PermissionAsker> asker,
                                                  absl::Time now);
  // The asker no longer waits. Harmless if it does not wait.
  void StopAsking(const PermissionAsker* asker) { permissions_.Remove(asker); }
  // Records the permission. Errors are those of Permissions::Answer().
  absl::Status AnswerPermission(PermissionAnswer answer, absl::Time now);
  // Returns how many there were.
  absl::StatusOr<size_t> CancelPermissions(absl::Time now);
  // As Permissions::Cancel().
  absl::Status CancelPermission(const std::string& id, absl::Time now);

  // For the thread that the session belongs to.

  // Does what is due, and follows up on changes.
  void Advance(absl::Time now);
  // When to call Advance() next, at the latest.
  absl::Time NextTime() const;
  // Calls `effect` when everything up to now is durable, or with the reason why that is not known.
  void AfterCommit(std::function<void(const absl::Status&)> effect) override;
  // An error leaves the session unusable: Abandon() it.
  absl::Status Commit(absl::Time now);
  // Ends all feeds and callbacks, and effects that wait for a commit, with `status`.
  void Abandon(const absl::Status& status);
  // Whether it can be unloaded unnoticed.
  bool idle() const;
  // Before it is unloaded: saves data that only serves to load it faster.
  void SaveCounters();
  void CloseFiles() { record_->CloseFiles(); }

 private:
  using What = decltype(SessionUpdate::what);

  struct Observer {
    std::shared_ptr<SessionFeed> feed;
    int64_t seq = 0;  // The last one that it received.
    bool behind = true;
  };
  struct Playback {
    std::shared_ptr<SessionFeed> feed;
    Player player;
    PlayRequest request;
    // When the next event must be shown: InfiniteFuture while it waits for its reader, InfinitePast
    // when the reader asks for more.
    absl::Time due;
  };

  // Metadata in the last notification of observers and listeners, without the counters.
  struct Known {
    AgentStatus status;
    QueueSummary queue;
    size_t open_permissions;
    bool needs_agent;
    bool is_active;
    friend bool operator==(const Known&, const Known&) = default;
  };

  static Known KnownOf(const SessionMetadata& metadata);
  absl::Status CheckActive() const;
  // Passes `status` on, and remembers a failure of the storage.
  absl::Status Checked(absl::Status status);
  absl::StatusOr<EventPtr> Append(NewEvent event, absl::Time now);
  absl::StatusOr<std::vector<EventPtr>> AppendAll(std::vector<NewEvent> events, absl::Time now);
  void Appended(const EventPtr& event, EventFacts facts);
  absl::Status Write(absl::Time now);
  absl::Status SaveQueue(absl::Time now);
  // Updates the metadata from the session's present state.
  void Refresh();
  // The same, and notifies observers and listeners of changes.
  void FollowAgent();

  // Notifications are sent after the commit.
  void Tell(std::shared_ptr<SessionFeed> feed, What what);
  void NotifyAll(const What& what);
  void Tell(PermissionChange change);
  void NotifyMetadata();
  // The same for followers of all sessions of the owner: the session, or a change of it.
  void Announce(SessionAction action);
  void AnnounceChange(SessionAction action, decltype(SessionNotice::change) change = {});
  // Notifies them of new events, if it is time to.
  void AnnounceActivity(absl::Time now);
  // The queue must be stored, and all of them notified.
  void QueueChanged(QueueAction action, std::string message_id = "");
  void TellQueueChanged(QueueAction action, std::string message_id);

  absl::Status CheckObservers() const;
  void Refill(const SessionFeed* feed);
  void FillFromLog(Observer& observer);
  // Returns false if the playback is over.
  bool PlayOn(Playback& playback, absl::Time now);
  // A turn in progress has failed, because its runner was lost.
  absl::Status LoseTurn(const char* why, absl::Time now);
  // Asks the runner to end its turn.
  void TellStop(const std::string& turn_id);
  // The message that is being sent, if any, waits again.
  void ReturnSending();
  absl::Status FailOpenToolCalls(TurnEnd end, absl::Time now);
  absl::Status CheckPrompt(const MessageRequest& request) const;
  void PollDelivery(absl::Time now);
  absl::Status ClosePermission(Permissions::Closed closed, absl::Time now);

  const SessionLimits limits_;
  const Later later_;
  const MetadataListener listener_;
  SessionNotices* const notices_;
  AgentAnswers* const answers_;
  AgentNeeds* const needs_;
  SessionMetadata metadata_;
  // The agent's status as reported; the metadata have the derived one.
  AgentStatus told_status_;
  int64_t last_failure_ = 0;  // Of the agent, as reported.
  Known known_;
  const bool enabled_by_default_;
  const std::unique_ptr<SessionRecord> record_;
  MessageQueue queue_;
  QueueDelivery delivery_;
  Permissions permissions_;
  std::deque<RecordedPrompt> prompts_;
  RecordedAnswer answer_;
  OpenToolCalls open_calls_;
  std::shared_ptr<MessageReceiver> receiver_;
  std::list<Observer> observers_;
  std::list<Playback> playbacks_;

  // Not OK: this object is unusable.
  absl::Status broken_;
  bool log_changed_ = false;
  bool queue_changed_ = false;
  // The queue has changed, and the log shows the change too: it is stored after the callers are
  // answered.
  bool queue_follows_log_ = false;
  bool metadata_changed_ = false;
  // Members of the agent's state that are not stored were reported again.
  bool agent_changed_ = false;
  // Metadata differ from those last notified in a member that is not stored.
  bool listing_changed_ = false;
  // Counters differ from those last saved and notified.
  bool counters_changed_ = false;
  // Followers of all sessions were not yet notified of recorded events; and when they can be.
  bool activity_unreported_ = false;
  absl::Time activity_due_ = absl::InfinitePast();
  std::vector<std::function<void(const absl::Status&)>> effects_;
};

}  // namespace callslip::tracker
