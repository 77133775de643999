#pragma once

#include <map>
#include <string>

#include "common/address.h"
#include "nlohmann/json.hpp"

namespace callslip {

// One HTTP request over a connection of its own, whose answer is read as it comes: to see what an
// HTTP client would hide. All reads block.
class HttpStream {
 public:
  using Headers = std::map<std::string, std::string>;

  // Connects and sends; Host and Content-Length are added where `headers` do not have them.
  HttpStream(const Address& address, const std::string& method, const std::string& path,
             const Headers& headers, const std::string& body);
  HttpStream(HttpStream&& other) noexcept;
  ~HttpStream();

  // Leaves without a word.
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
  std::string received_;  // And not looked at.
  int status_ = 0;
  Headers headers_;
  std::string body_;  // And not given out.
  bool body_ended_ = false;
};

}  // namespace callslip
