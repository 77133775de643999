#include "runner/client/client_params.h"

#include "absl/strings/str_cat.h"

namespace callslip::runner {
namespace {

int CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound: return kResourceNotFound;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kResourceExhausted: return kInvalidParams;
    default: return kInternalError;
  }
}

}  // namespace

absl::StatusOr<std::string> TextParam(const Json& params, absl::string_view name) {
  const auto found = params.find(std::string(name));
  if (found == params.end() || !found->is_string()) {
    return absl::InvalidArgumentError(absl::StrCat("`", name, "` has to be a text"));
  }
  return found->get<std::string>();
}

absl::StatusOr<std::optional<int64_t>> NumberParam(const Json& params, absl::string_view name,
                                                   int64_t least) {
  const auto found = params.find(std::string(name));
  if (found == params.end() || found->is_null()) return std::nullopt;
  if (!found->is_number_integer() || found->get<int64_t>() < least) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", name, "` has to be a whole number, ", least, " or more"));
  }
  return found->get<int64_t>();
}

RpcAnswer ErrorAnswer(const absl::Status& status) {
  return RpcError{.code = CodeOf(status), .message = std::string(status.message())};
}

}  // namespace callslip::runner
