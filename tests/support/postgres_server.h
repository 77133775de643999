#pragma once

#include <sys/types.h>

#include <string>

#include "support/temporary_folder.h"

namespace callslip {

// A server of PostgreSQL on a unix socket in a folder of its own, which goes with this, and with
// the process that has it. Aborts where none can be started.
class PostgresServer {
 public:
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // The one of this process, started when it is asked for first.
  static PostgresServer& Shared();

  // For libpq, of a schema that is new each time.
  std::string NewSchema();
  std::string Url(const std::string& schema) const;
  std::string last_schema() const { return schema_; }

  // As SIGKILL, or back.
  void Stop();
  void Start();

 private:
  TemporaryFolder folder_;
  pid_t server_ = 0;
  int schemas_ = 0;
  std::string schema_;
};

}  // namespace callslip
