#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/file_watch.h"
#include "common/mutex.h"
#include "common/tls_files.h"
#include "tls/openssl.h"

namespace callslip {

// INVALID_ARGUMENT if a server's files lack one that another needs.
absl::Status CheckServerFiles(const TlsFiles& files);

// The TLS configuration of a listener. Follows its files: when they change and match, new
// connections use their content; open connections are unaffected. Files that are broken, missing or
// half-written change nothing and are logged. Thread-safe.
class ServerTls {
 public:
  // INVALID_ARGUMENT, naming the flag, if the files do not hold a matching certificate and key, or
  // hold no authority. `every` as for FileWatch.
  static absl::StatusOr<std::shared_ptr<ServerTls>> Load(const TlsFiles& files,
                                                         absl::Duration every = FileWatch::kEvery);

  // A session for a connecting peer, in accept state. The caller must still set its socket.
  SslPtr NewSession() const;

  // For tests.
  bool Look() { return watch_.Look(); }

 private:
  ServerTls(const TlsFiles& files, SslContextPtr context, absl::Duration every);

  void Reload();

  const TlsFiles files_;
  mutable Mutex mutex_;
  SslContextPtr context_ ABSL_GUARDED_BY(mutex_);  // Sessions keep their context.
  FileWatch watch_;
};

}  // namespace callslip
