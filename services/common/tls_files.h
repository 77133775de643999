#pragma once

#include <string>

namespace callslip {

// The PEM files of one side of TLS.
struct TlsFiles {
  std::string certificate;  // Own certificate with its chain; empty if it presents none.
  std::string key;          // The key of `certificate`.
  // The authorities that must have signed the peer's certificate. If empty, a server requests no
  // certificate and a client trusts the system's authorities.
  std::string authorities;
};

}  // namespace callslip
