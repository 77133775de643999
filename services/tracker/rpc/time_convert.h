#ifndef CALLSLIP_TRACKER_RPC_TIME_CONVERT_H_
#define CALLSLIP_TRACKER_RPC_TIME_CONVERT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

// Between protobuf's times, which are the wall clock's, and Abseil's, which are this process's.
namespace callslip::tracker {

void Set(absl::Time time, google::protobuf::Timestamp& message);
void Set(absl::Duration duration, google::protobuf::Duration& message);

// Zero where it is absent. INVALID_ARGUMENT, naming `field`, outside of protobuf's bounds.
absl::StatusOr<absl::Duration> DurationFrom(absl::string_view field,
                                            const google::protobuf::Duration& duration);
absl::StatusOr<absl::Time> TimeFrom(absl::string_view field,
                                    const google::protobuf::Timestamp& time);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_RPC_TIME_CONVERT_H_
