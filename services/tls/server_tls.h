#ifndef CALLSLIP_TLS_SERVER_TLS_H_
#define CALLSLIP_TLS_SERVER_TLS_H_

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

// INVALID_ARGUMENT where one of a server's files is missing that another needs.
absl::Status CheckServerFiles(const TlsFiles& files);

// The TLS of a listener. Follows its files: when they change and fit together, connections from
// then on get what they hold; those that are open stay as they are. Files that are broken, gone or
// half-written change nothing, and are told of in the log. Thread-safe.
class ServerTls {
 public:
  // INVALID_ARGUMENT, which names the flag, where the files are no certificate and key that belong
  // together, or hold no authority. `every` as for FileWatch.
  static absl::StatusOr<std::shared_ptr<ServerTls>> Load(const TlsFiles& files,
                                                         absl::Duration every = FileWatch::kEvery);

  // For a peer that connects now: to be accepted, over a socket that is still to be set.
  SslPtr NewSession() const;

  // For tests.
  bool Look() { return watch_.Look(); }

 private:
  ServerTls(const TlsFiles& files, SslContextPtr context, absl::Duration every);

  void Reload();

  const TlsFiles files_;
  mutable Mutex mutex_;
  SslContextPtr context_ ABSL_GUARDED_BY(mutex_);  // Sessions keep the one that they were made of.
  FileWatch watch_;
};

}  // namespace callslip

#endif  // CALLSLIP_TLS_SERVER_TLS_H_
