#pragma once

#include <map>
#include <string>

#include "common/address.h"
#include "nlohmann/json.hpp"

namespace callslip {

// One HTTP request over its own connection, whose answer is read as it arrives: this shows what an
// HTTP client would hide. All reads block.
class HttpStream {
 public:
  using Headers = std::map<std::string, std::string>;

  // Connects and sends; Host and Content-Length are added where `headers` do not have them.
  HttpStream(const Address& address, const std::string& method, const std::string& path,
             const Headers& headers, const std::string& body);
  HttpStream(HttpStream&& other) noexcept;
  ~HttpStream();

  // Closes the connection, even in the middle of an answer.
  void Close();

  int Status();
  // Empty where it is absent.
  std::string Header(const std::string& lower_case_name);
  // The rest of the body.
  std::string Body();
  // The next message of a text/event-stream; null at its end.
  nlohmann::json Event();

 private:
  // False at the end.
  bool Receive();
  std::string Line();
  void ReadHead();
  // Adds the next piece to body_; false at its end.
  bool ReadPiece();

  int fd_;
  std::string received_;  // Not parsed yet.
  int status_ = 0;
  Headers headers_;
  std::string body_;  // Not returned yet.
  bool body_ended_ = false;
};

}  // namespace callslip
