#pragma once

#include <string>
#include <variant>

#include "bridge/json/json_rpc.h"
#include "bridge/relay/agent_roots.h"
#include "bridge/relay/answers.h"
#include "bridge/relay/local_files.h"
#include "bridge/relay/retrying_sender.h"

namespace callslip::bridge {

// Transfers the files of an `upload` to the gateway, from which the browser fetches them. An agent
// names paths on this machine, which neither gateway nor browser can read. Thread-safe.
class Uploads {
 public:
  // Both must outlive this. `url`: the gateway's, for failures.
  Uploads(const RetryingSender* sender, AgentRoots* roots, std::string url)
      : sender_(sender), roots_(roots), url_(std::move(url)) {}

  // Returns the message of the delivery with file ids instead of paths, or the failure. Blocks like
  // RetryingSender::Deliver(); no part of the message itself is sent.
  std::variant<Message, Failure> Prepare(const RetryingSender::Delivery& delivery) const;

 private:
  // Returns the id of the file.
  std::variant<std::string, Failure> Put(const RetryingSender::Delivery& delivery,
                                         const LocalFile& file) const;
  std::variant<std::string, Failure> PutPiece(const RetryingSender::Delivery& delivery,
                                              const Message& piece) const;

  const RetryingSender* const sender_;
  AgentRoots* const roots_;
  const std::string url_;
};

}  // namespace callslip::bridge
