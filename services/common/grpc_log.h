#pragma once

namespace callslip {

// From now on, writes gRPC's own messages, such as failed handshakes, to the log as event `grpc`:
// at most 10 a second, because peers can cause any number. Without this, gRPC writes to stderr
// itself. Call it once, after InitLogging().
void LogWhatGrpcSays();

}  // namespace callslip
