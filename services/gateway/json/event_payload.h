#ifndef CALLSLIP_GATEWAY_JSON_EVENT_PAYLOAD_H_
#define CALLSLIP_GATEWAY_JSON_EVENT_PAYLOAD_H_

#include "gateway/json/parse.h"
#include "google/protobuf/message.h"

namespace callslip::gateway {

// The payloads of events have the members that their lines in events.jsonl have, under the same
// names, so that one conversion does for all of them.
Json PayloadJson(const google::protobuf::Message& payload);

// False where `json` is not exactly what `payload` can hold: PayloadJson() gives it back then.
bool ReadPayload(const Json& json, google::protobuf::Message& payload);

}  // namespace callslip::gateway

#endif  // CALLSLIP_GATEWAY_JSON_EVENT_PAYLOAD_H_
