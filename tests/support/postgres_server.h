#pragma once

#include <sys/types.h>

#include <string>

#include "support/temporary_folder.h"

namespace callslip {

// A PostgreSQL server on a unix socket in its own folder, which ends with this object and with its
// process. Aborts if it can't start.
class PostgresServer {
 public:
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // The server of this process, started by the first call.
  static PostgresServer& Shared();

  // The URL for libpq, with a new schema each time.
  std::string NewSchema();
  std::string Url(const std::string& schema) const;
  std::string last_schema() const { return schema_; }

  // Stops the server as SIGKILL would, and starts it again.
  void Stop();
  void Start();

 private:
  TemporaryFolder folder_;
  pid_t server_ = 0;
  int schemas_ = 0;
  std::string schema_;
};

}  // namespace callslip
