#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

// Conversions between protobuf's times (wall clock) and Abseil's (this process's clock).
namespace callslip::tracker {

void Set(absl::Time time, google::protobuf::Timestamp& message);
void Set(absl::Duration duration, google::protobuf::Duration& message);

// Zero if absent. INVALID_ARGUMENT, naming `field`, outside protobuf's range.
absl::StatusOr<absl::Duration> DurationFrom(absl::string_view field,
                                            const google::protobuf::Duration& duration);
absl::StatusOr<absl::Time> TimeFrom(absl::string_view field,
                                    const google::protobuf::Timestamp& time);

}  // namespace callslip::tracker
