#include "common/grpc_log.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/log_limit.h"
#include "grpc/support/log.h"

namespace callslip {
namespace {

constexpr int kLines = 10;

void Write(gpr_log_func_args* said) {
  // Never destroyed: gRPC's threads may outlive main().
  static LogLimit& limit = *new LogLimit(new RealClock, kLines);
  const std::optional<int64_t> left_out = limit.Admit();
  if (!left_out.has_value()) return;
  Log(LogLevel::kWarning, "grpc",
      {{"reason", said->message}, {"left_out", absl::StrCat(*left_out)}});
}

}  // namespace

void LogWhatGrpcSays() { gpr_set_log_function(Write); }

}  // namespace callslip
