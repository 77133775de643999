#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace callslip::tracker {

struct PermissionOption {
  std::string id;
  std::string name;
  std::string kind;  // As in the agent's protocol: "allow_once", "reject_always", …
  friend bool operator==(const PermissionOption&, const PermissionOption&) = default;
};

// Values of PermissionAnswer::decided_by.
inline constexpr char kByPerson[] = "person";
inline constexpr char kByAgent[] = "agent";

// A question of an agent to the people who watch its session.
struct PermissionRequest {
  std::string id;  // perm-{16 hexadecimal digits} if the asker chose none.
  std::string title;
  std::string tool_call_id;
  std::string kind = {};     // Of that call.
  std::string details = {};  // A JSON object: that call, as described by the agent.
  std::vector<PermissionOption> options;
  absl::Time asked_at;
  bool parent_may_allow = false;  // See Permission of session.proto.
  friend bool operator==(const PermissionRequest&, const PermissionRequest&) = default;
};

struct PermissionAnswer {
  std::string request_id;
  std::string option_id;    // Empty if it was cancelled.
  std::string answered_by;  // The client's id.
  // kByPerson or kByAgent. Empty means kByPerson, and is the only value if it was cancelled.
  std::string decided_by = {};
  bool cancelled() const { return option_id.empty(); }
  friend bool operator==(const PermissionAnswer&, const PermissionAnswer&) = default;
};

// Waits for an answer.
class PermissionAsker {
 public:
  virtual ~PermissionAsker() = default;
  // Called once, with the answer or the reason why there will be none. Must not block.
  virtual void OnAnswer(const absl::StatusOr<PermissionAnswer>& answer) = 0;
};

// The open permission requests of one session. They belong to the session, not to a connection: an
// asker or an observer that lost its connection finds them unchanged. They are in memory: after a
// restart of the tracker the runner asks again, under the same id. Owned by its session and guarded
// like it.
class Permissions {
 public:
  // Opens a request, or joins the one with the same id: then both askers get the answer. If that
  // was answered before, returns the answer and drops the asker. A request without options only
  // joins. InvalidField, TooManyPermissions, TooManyAskers, PermissionNotFound.
  struct Asked {
    PermissionRequest request;
    bool opened = false;
    std::optional<PermissionAnswer> answer;
  };
  absl::StatusOr<Asked> Ask(PermissionRequest request, std::shared_ptr<PermissionAsker> asker,
                            absl::Time now);
  // The asker no longer waits; its request stays open. Harmless if it does not wait.
  void Remove(const PermissionAsker* asker);

  // The first answer is final. PermissionNotFound, PermissionAnswered, InvalidField for an option
  // that the request does not have; PersonDecides if an agent picks an option that is not a
  // rejection, unless its parent may allow.
  struct Closed {
    PermissionRequest request;
    PermissionAnswer answer;
    std::vector<std::shared_ptr<PermissionAsker>> askers;  // For the caller to notify.
  };
  absl::StatusOr<Closed> Answer(PermissionAnswer answer);
  // Ends all requests without choosing an option.
  std::vector<Closed> CancelAll();
  // Cancels the request with this id; one that was not asked yet ends as soon as it is.
  std::optional<Closed> Cancel(const std::string& id);

  // Oldest first.
  std::vector<PermissionRequest> open() const;
  size_t size() const { return open_.size(); }
  bool empty() const { return open_.empty(); }
  // Removes all askers, because the session is going away. Their requests stay open.
  std::vector<std::shared_ptr<PermissionAsker>> TakeAskers();

 private:
  struct Open {
    PermissionRequest request;
    std::vector<std::shared_ptr<PermissionAsker>> askers;
  };

  const PermissionAnswer* FindAnswer(absl::string_view id) const;
  void Remember(PermissionAnswer answer);
  Closed Close(Open open, PermissionAnswer answer);

  std::vector<Open> open_;
  std::deque<PermissionAnswer> answers_;  // The last kRememberedAnswers.
};

}  // namespace callslip::tracker
