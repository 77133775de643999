#include "gateway/http/address_quota.h"

#include <cstring>
#include <utility>

#include "boost/asio/ip/tcp.hpp"

namespace callslip::gateway {
namespace {

template <typename Bytes>
std::string TextOf(const Bytes& bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

std::string KeyOf(const boost::asio::generic::stream_protocol::endpoint& peer) {
  namespace ip = boost::asio::ip;
  ip::tcp::endpoint endpoint;
  if (peer.size() > endpoint.capacity()) return "";
  endpoint.resize(peer.size());
  std::memcpy(endpoint.data(), peer.data(), peer.size());
  ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = ip::make_address_v4(ip::v4_mapped, address.to_v6());
  }
  if (address.is_v4()) return TextOf(address.to_v4().to_bytes(), 4);
  return TextOf(address.to_v6().to_bytes(), 8);
}

}  // namespace

std::shared_ptr<void> AddressQuota::Take(
    const boost::asio::generic::stream_protocol::endpoint& peer) {
  std::string key = KeyOf(peer);
  int& count = (*counts_)[key];
  if (count >= limit_) return nullptr;
  ++count;
  return {counts_.get(), [counts = counts_, key = std::move(key)](void*) {
            const auto found = counts->find(key);
            if (--found->second == 0) counts->erase(found);
          }};
}

}  // namespace callslip::gateway
