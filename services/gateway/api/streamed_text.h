#ifndef CALLSLIP_GATEWAY_API_STREAMED_TEXT_H_
#define CALLSLIP_GATEWAY_API_STREAMED_TEXT_H_

#include <cstddef>

#include "callslip/tracker/v1/session_service.pb.h"
#include "gateway/json/parse.h"

namespace callslip::gateway {

// An agent's answer before its end, as far as one who watches its session has heard of it: for
// those who join later.
class StreamedText {
 public:
  // As the tracker has it: what is kept of a longer answer is its end.
  static constexpr size_t kMaxBytes = size_t{256} << 10;

  // What has changed. Text comes as a piece of an answer or with a snapshot, and goes when its
  // answer is an event, or its session has ended.
  void Note(const callslip::tracker::v1::SessionUpdate& update);

  // {"iteration", "offset", "text"}; null where no answer streams in.
  Json ToJson() const;

 private:
  using Piece = callslip::tracker::v1::SessionUpdate::AgentText;

  void Add(const Piece& piece);
  bool Ends(const callslip::tracker::v1::SessionEvent& event) const;

  Piece text_;  // Without text: none.
};

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_API_STREAMED_TEXT_H_
