#include "tracker/storage/session_copy.h"

#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/storage/content_digest.h"

namespace callslip::tracker {
namespace {

// Computes a digest of a session, and passes the session on to `behind`, if any.
class DigestingSink final : public SessionSink {
 public:
  DigestingSink(SessionSink* behind, SessionContents* contents)
      : behind_(behind), contents_(contents) {}

  absl::Status AddLine(const EventHead& head, absl::string_view line) override {
    ++contents_->events;
    digest_.Add(line);
    return behind_ == nullptr ? absl::OkStatus() : behind_->AddLine(head, line);
  }
  absl::Status AddImage(const Image& image) override {
    ++contents_->images;
    for (const std::string* piece : {&image.ref.id, &image.ref.name, &image.data}) {
      digest_.Add(*piece);
    }
    return behind_ == nullptr ? absl::OkStatus() : behind_->AddImage(image);
  }
  absl::Status Finish(absl::string_view metadata, absl::string_view queue) override {
    digest_.Add(metadata);
    digest_.Add(queue);
    return behind_ == nullptr ? absl::OkStatus() : behind_->Finish(metadata, queue);
  }

  const std::string& digest() const { return digest_.value(); }

 private:
  SessionSink* const behind_;
  SessionContents* const contents_;
  ContentDigest digest_;
};

absl::StatusOr<std::set<std::string>> IdsOf(MovableSessionStorage& sessions) {
  ASSIGN_OR_RETURN(const std::vector<SessionMetadata> listed, sessions.List());
  std::set<std::string> ids;
  for (const SessionMetadata& session : listed) {
    if (!session.damage.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("session ", session.session_id, " can't be read (", session.damage,
                       "): mend it, or take it away, and begin again"));
    }
    ids.insert(session.session_id);
  }
  return ids;
}

absl::StatusOr<SessionContents> Copy(MovableSessionStorage& from, MovableSessionStorage* to,
                                     const CopyProgress& progress) {
  ASSIGN_OR_RETURN(const std::set<std::string> ids, IdsOf(from));
  SessionContents contents;
  for (const std::string& id : ids) {
    RETURN_IF_ERROR(
        progress(static_cast<int64_t>(contents.digests.size()), static_cast<int64_t>(ids.size())));
    std::unique_ptr<SessionSink> sink;
    if (to != nullptr) {
      ASSIGN_OR_RETURN(sink, to->Put(id));
    }
    DigestingSink digesting(sink.get(), &contents);
    RETURN_IF_ERROR(from.Copy(id, digesting));
    contents.digests[id] = digesting.digest();
  }
  return contents;
}

}  // namespace

absl::StatusOr<SessionContents> CopySessions(MovableSessionStorage& from, MovableSessionStorage& to,
                                             const CopyProgress& progress) {
  return Copy(from, &to, progress);
}

absl::StatusOr<SessionContents> ContentsOf(MovableSessionStorage& sessions,
                                           const CopyProgress& progress) {
  return Copy(sessions, nullptr, progress);
}

}  // namespace callslip::tracker
