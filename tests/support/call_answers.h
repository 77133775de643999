#ifndef CALLSLIP_TESTS_SUPPORT_CALL_ANSWERS_H_
#define CALLSLIP_TESTS_SUPPORT_CALL_ANSWERS_H_

#include <functional>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rpc_client/tracker_calls.h"

namespace callslip {

// What a fake tracker answers to calls, by the type of the request.
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

  // UNIMPLEMENTED without an On() for its type.
  absl::Status Answer(const google::protobuf::Message& request,
                      google::protobuf::Message* response) const {
    const auto answer = answers_.find(request.GetDescriptor());
    if (answer == answers_.end()) return absl::UnimplementedError("the test does not answer it");
    return answer->second(request, response);
  }

 private:
  std::map<
      const google::protobuf::Descriptor*,
      std::function<absl::Status(const google::protobuf::Message&, google::protobuf::Message*)>>
      answers_;
};

}  // namespace callslip

#endif  // CALLSLIP_TESTS_SUPPORT_CALL_ANSWERS_H_
