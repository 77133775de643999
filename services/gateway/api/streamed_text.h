#pragma once

#include <cstddef>

#include "callslip/tracker/v1/session_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// The part of an agent's unfinished answer that observers have received so far, for observers that
// join later.
class StreamedText {
 public:
  // The tracker's limit: of a longer answer the end is kept.
  static constexpr size_t kMaxBytes = size_t{256} << 10;

  // Applies an update. Text arrives as a piece of an answer or with a snapshot, and is cleared when
  // the answer becomes an event or the session ends.
  void Note(const callslip::tracker::v1::SessionUpdate& update);

  // {"iteration", "offset", "text"}; null if no answer is streaming.
  Json ToJson() const;

 private:
  using Piece = callslip::tracker::v1::SessionUpdate::AgentText;

  void Add(const Piece& piece);
  bool Ends(const callslip::tracker::v1::SessionEvent& event) const;

  Piece text_;  // Has no text if there is none.
};

}  // namespace callslip::gateway
