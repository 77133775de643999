#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/asio/awaitable.hpp"
#include "callslip/tracker/v1/session_service.pb.h"
#include "gateway/json/parse.h"
#include "rpc_client/tracker_calls.h"

namespace callslip::gateway {

namespace v1 = callslip::tracker::v1;

// The agent's messages in the last turn of its session: {"text", "outcome"?, "reason"?, "files"?,
// "omitted_bytes"?}. `events` are the session's latest events in order, starting at the turn's
// `user_prompt` or, if that is further back, as far back as known; events before the prompt are
// ignored. Joins the pieces of one message, and separates messages by an empty line. Keeps the end
// of a text above `max_bytes`. `files` are the files that the turn has changed, at most 50. There
// is an outcome once the turn has ended.
Json LastAnswerJson(const std::vector<v1::SessionEvent>& events, size_t max_bytes);

// The events of the last turn of a session, from its `user_prompt` on, and some earlier ones.
boost::asio::awaitable<absl::StatusOr<std::vector<v1::SessionEvent>>> ReadLastTurn(
    TrackerCalls& sessions, std::string client, std::string session_id);

}  // namespace callslip::gateway
