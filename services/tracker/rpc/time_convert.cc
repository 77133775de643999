#include "tracker/rpc/time_convert.h"

#include "common/clock.h"
#include "tracker/domain/errors.h"

namespace callslip::tracker {

void Set(absl::Time time, google::protobuf::Timestamp& message) {
  const int64_t nanos = absl::ToUnixNanos(ToWallTime(time));
  message.set_seconds(nanos / 1'000'000'000);
  message.set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
}

void Set(absl::Duration duration, google::protobuf::Duration& message) {
  const int64_t nanos = absl::ToInt64Nanoseconds(duration);
  message.set_seconds(nanos / 1'000'000'000);
  message.set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
}

absl::StatusOr<absl::Duration> DurationFrom(absl::string_view field,
                                            const google::protobuf::Duration& duration) {
  // Protobuf's bounds; values outside them were not made by its library.
  constexpr int64_t kMaxSeconds = 315'576'000'000;
  if (duration.seconds() < -kMaxSeconds || duration.seconds() > kMaxSeconds ||
      duration.nanos() <= -1'000'000'000 || duration.nanos() >= 1'000'000'000) {
    return InvalidField(field, "is not a valid duration");
  }
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::StatusOr<absl::Time> TimeFrom(absl::string_view field,
                                    const google::protobuf::Timestamp& time) {
  // The years 1 to 9999, as in protobuf.
  constexpr int64_t kMinSeconds = -62'135'596'800;
  constexpr int64_t kMaxSeconds = 253'402'300'799;
  if (time.seconds() < kMinSeconds || time.seconds() > kMaxSeconds || time.nanos() < 0 ||
      time.nanos() >= 1'000'000'000) {
    return InvalidField(field, "is not a valid timestamp");
  }
  return FromWallTime(absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos()));
}

}  // namespace callslip::tracker
