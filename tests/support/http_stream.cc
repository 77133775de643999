#include "support/http_stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace callslip {

HttpStream::HttpStream(const Address& address, const std::string& method, const std::string& path,
                       const Headers& headers, const std::string& body)
    : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_port = htons(address.port);
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&target), sizeof(target)) != 0) {
    std::perror("connect");
    std::abort();
  }
  Headers all = {{"Host", absl::StrCat("127.0.0.1:", address.port)},
                 {"Content-Length", absl::StrCat(body.size())}};
  for (const auto& [name, value] : headers) all[name] = value;
  std::string request = absl::StrCat(method, " ", path, " HTTP/1.1\r\n");
  for (const auto& [name, value] : all) absl::StrAppend(&request, name, ": ", value, "\r\n");
  absl::StrAppend(&request, "\r\n", body);
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t n = send(fd_, &request[sent], request.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) break;  // The peer has answered early.
    sent += n;
  }
}

HttpStream::HttpStream(HttpStream&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      received_(std::move(other.received_)),
      status_(other.status_),
      headers_(std::move(other.headers_)),
      body_(std::move(other.body_)),
      body_ended_(other.body_ended_) {}

HttpStream::~HttpStream() { Close(); }

void HttpStream::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

bool HttpStream::Receive() {
  char buffer[16 << 10];
  const ssize_t n = fd_ < 0 ? 0 : recv(fd_, buffer, sizeof(buffer), 0);
  if (n <= 0) return false;
  received_.append(buffer, n);
  return true;
}

std::string HttpStream::Line() {
  size_t end;
  while ((end = received_.find("\r\n")) == std::string::npos) {
    if (!Receive()) return std::exchange(received_, "");
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 2);
  return line;
}

void HttpStream::ReadHead() {
  if (status_ != 0) return;
  const std::vector<std::string> words = absl::StrSplit(Line(), ' ');
  if (words.size() < 2 || !absl::SimpleAtoi(words[1], &status_)) {
    status_ = -1;
    return;
  }
  for (std::string line = Line(); !line.empty(); line = Line()) {
    const std::pair<std::string, std::string> header =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    headers_[absl::AsciiStrToLower(header.first)] = header.second;
  }
}

int HttpStream::Status() {
  ReadHead();
  return status_;
}

std::string HttpStream::Header(const std::string& lower_case_name) {
  ReadHead();
  return headers_[lower_case_name];
}

bool HttpStream::ReadPiece() {
  if (body_ended_) return false;
  size_t size = 0;
  const bool chunked = Header("transfer-encoding") == "chunked";
  if (chunked) {
    size = std::strtoul(Line().c_str(), nullptr, 16);
  } else {
    (void)absl::SimpleAtoi(Header("content-length"), &size);
    body_ended_ = true;
  }
  while (received_.size() < size) {
    if (!Receive()) break;
  }
  body_ += received_.substr(0, size);
  received_.erase(0, size);
  if (chunked) Line();
  if (size == 0) body_ended_ = true;
  return !body_ended_;
}

std::string HttpStream::Body() {
  while (ReadPiece()) {
  }
  return std::exchange(body_, "");
}

nlohmann::json HttpStream::Event() {
  while (true) {
    size_t end;
    while ((end = body_.find("\n\n")) == std::string::npos) {
      if (!ReadPiece()) return nullptr;
    }
    const std::string event = body_.substr(0, end);
    body_.erase(0, end + 2);
    for (const absl::string_view line : absl::StrSplit(event, '\n')) {
      if (absl::StartsWith(line, "data: ")) return nlohmann::json::parse(line.substr(6));
    }
  }
}

}  // namespace callslip
