#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rpc_client/tracker_calls.h"

namespace callslip {

// A fake tracker's answers to calls, by the type of the request.
class CallAnswers {
 public:
  template <typename Request>
  void On(std::function<absl::StatusOr<ResponseOf<Request>>(const Request&)> answer) {
    answers_[Request::descriptor()] = [answer = std::move(answer)](
                                          const google::protobuf::Message& request,
                                          google::protobuf::Message* response) {
      auto answered = answer(static_cast<const Request&>(request));
      if (!answered.ok()) return answered.status();
      *static_cast<ResponseOf<Request>*>(response) = *std::move(answered);
      return absl::OkStatus();
    };
  }

  // The deadline of the last call with a Request; nullopt: the default.
  template <typename Request>
  std::optional<absl::Duration> DeadlineOf() const {
    const auto deadline = deadlines_.find(Request::descriptor());
    return deadline == deadlines_.end() ? std::nullopt : deadline->second;
  }

  // UNIMPLEMENTED without an On() for its type.
  absl::Status Answer(const google::protobuf::Message& request, const CallOptions& options,
                      google::protobuf::Message* response) {
    deadlines_[request.GetDescriptor()] = options.deadline;
    const auto answer = answers_.find(request.GetDescriptor());
    if (answer == answers_.end()) return absl::UnimplementedError("the test does not answer it");
    return answer->second(request, response);
  }

 private:
  std::map<
      const google::protobuf::Descriptor*,
      std::function<absl::Status(const google::protobuf::Message&, google::protobuf::Message*)>>
      answers_;
  std::map<const google::protobuf::Descriptor*, std::optional<absl::Duration>> deadlines_;
};

}  // namespace callslip
