#include "gateway/http/address_quota.h"

#include <cstring>
#include <string>
#include <utility>

#include "boost/asio/ip/tcp.hpp"

namespace callslip::gateway {
namespace ip = boost::asio::ip;

namespace {

template <typename Bytes>
std::string TextOf(const Bytes& bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

std::string KeyOf(ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = ip::make_address_v4(ip::v4_mapped, address.to_v6());
  }
  if (address.is_v4()) return TextOf(address.to_v4().to_bytes(), 4);
  return TextOf(address.to_v6().to_bytes(), 8);
}

}  // namespace

std::string AddressKey(const boost::asio::generic::stream_protocol::endpoint& peer) {
  ip::tcp::endpoint endpoint;
  const int family = peer.protocol().family();
  if ((family != AF_INET && family != AF_INET6) || peer.size() > endpoint.capacity()) return "";
  endpoint.resize(peer.size());
  std::memcpy(endpoint.data(), peer.data(), peer.size());
  return KeyOf(endpoint.address());
}

std::string AddressKeyOfText(absl::string_view address) {
  boost::system::error_code error;
  const ip::address parsed = ip::make_address(std::string(address), error);
  return error ? std::string(address) : KeyOf(parsed);
}

std::string AddressText(absl::string_view key) {
  if (key.size() == 4) {
    ip::address_v4::bytes_type bytes;
    std::memcpy(bytes.data(), key.data(), bytes.size());
    return ip::address_v4(bytes).to_string();
  }
  if (key.size() != 8) return std::string(key);
  ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), key.data(), key.size());
  return ip::address_v6(bytes).to_string();
}

bool IsLoopbackKey(absl::string_view key) {
  return (key.size() == 4 && key[0] == 127) || key == KeyOf(ip::address_v6::loopback());
}

std::shared_ptr<void> AddressQuota::Take(std::string key) {
  int& count = (*counts_)[key];
  if (count >= limit_) return nullptr;
  ++count;
  return {counts_.get(), [counts = counts_, key = std::move(key)](void*) {
            const auto found = counts->find(key);
            if (--found->second == 0) counts->erase(found);
          }};
}

}  // namespace callslip::gateway
