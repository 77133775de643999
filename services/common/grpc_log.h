#ifndef CALLSLIP_COMMON_GRPC_LOG_H_
#define CALLSLIP_COMMON_GRPC_LOG_H_

namespace callslip {

// From now on what gRPC complains of, such as a handshake that has failed, stands in the log as any
// other line: event `grpc`, 10 a second at most, since peers can cause as many as they like.
// Without this it writes to stderr by itself. Once, after InitLogging().
void LogWhatGrpcSays();

}  // namespace callslip

#endif  // CALLSLIP_COMMON_GRPC_LOG_H_
