#ifndef CALLSLIP_TRACKER_DOMAIN_SESSION_PERMISSIONS_H_
#define CALLSLIP_TRACKER_DOMAIN_SESSION_PERMISSIONS_H_

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
  std::string kind;  // As the agent's protocol has it: "allow_once", "reject_always", …
  friend bool operator==(const PermissionOption&, const PermissionOption&) = default;
};

// Who has decided.
inline constexpr char kByPerson[] = "person";
inline constexpr char kByAgent[] = "agent";

// What an agent asks the people who watch its session.
struct PermissionRequest {
  std::string id;  // perm-{16 hexadecimal digits} where the asker chose none.
  std::string title;
  std::string tool_call_id;
  std::string kind = {};     // Of that call.
  std::string details = {};  // A JSON object: that call, as the agent has described it.
  std::vector<PermissionOption> options;
  absl::Time asked_at;
  bool parent_may_allow = false;  // See Permission of session.proto.
  friend bool operator==(const PermissionRequest&, const PermissionRequest&) = default;
};

struct PermissionAnswer {
  std::string request_id;
  std::string option_id;    // Empty where it was cancelled.
  std::string answered_by;  // The client's id.
  // kByPerson or kByAgent; empty means the first, and is all there is where it was cancelled.
  std::string decided_by = {};
  bool cancelled() const { return option_id.empty(); }
  friend bool operator==(const PermissionAnswer&, const PermissionAnswer&) = default;
};

// Who waits for an answer.
class PermissionAsker {
 public:
  virtual ~PermissionAsker() = default;
  // Told the answer once, or why there will be none. Must not block.
  virtual void OnAnswer(const absl::StatusOr<PermissionAnswer>& answer) = 0;
};

// The open questions of one session. They belong to the session, not to a connection: an asker or
// an observer that lost its own finds them as they were. They live in memory: after a restart of
// the tracker the runner asks anew, under the same id. Owned by its session and guarded as that is.
class Permissions {
 public:
  // Opens a request, or joins the one of the same id: then both askers get the answer. Where that
  // was answered before, the answer is returned and the asker dropped. A request without options
  // only joins. InvalidField, TooManyPermissions, TooManyAskers, PermissionNotFound.
  struct Asked {
    PermissionRequest request;
    bool opened = false;
    std::optional<PermissionAnswer> answer;
  };
  absl::StatusOr<Asked> Ask(PermissionRequest request, std::shared_ptr<PermissionAsker> asker,
                            absl::Time now);
  // It asks no longer; its request stays open. Harmless where it does not.
  void Remove(const PermissionAsker* asker);

  // The first answer holds. PermissionNotFound, PermissionAnswered, InvalidField for an option that
  // the request does not have; PersonDecides where an agent picks one that is no rejection, unless
  // its parent may allow.
  struct Closed {
    PermissionRequest request;
    PermissionAnswer answer;
    std::vector<std::shared_ptr<PermissionAsker>> askers;  // For the caller to tell.
  };
  absl::StatusOr<Closed> Answer(PermissionAnswer answer);
  // Ends all requests without an option.
  std::vector<Closed> CancelAll();
  // The one with that id; one that was not asked yet ends as soon as it is.
  std::optional<Closed> Cancel(const std::string& id);

  // Oldest first.
  std::vector<PermissionRequest> open() const;
  size_t size() const { return open_.size(); }
  bool empty() const { return open_.empty(); }
  // Takes all askers: the session is going away. Their requests stay open.
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

#endif  // CALLSLIP_TRACKER_DOMAIN_SESSION_PERMISSIONS_H_
