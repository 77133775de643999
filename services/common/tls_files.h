#ifndef CALLSLIP_COMMON_TLS_FILES_H_
#define CALLSLIP_COMMON_TLS_FILES_H_

#include <string>

namespace callslip {

// The PEM files of one side of TLS.
struct TlsFiles {
  std::string certificate;  // Its own, with the chain; empty where it shows none.
  std::string key;          // Of that.
  // Of the authorities by whom the other side's has to be signed. Empty: a server asks for none, a
  // client believes those of the system.
  std::string authorities;
};

}  // namespace callslip

#endif  // CALLSLIP_COMMON_TLS_FILES_H_
