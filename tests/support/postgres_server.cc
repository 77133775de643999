#include "support/postgres_server.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/clock.h"

namespace callslip {
namespace {

constexpr char kPrograms[] = "/usr/lib/postgresql/15/bin/";

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s; `./dev setup` installs what tests need\n", what.c_str());
  std::abort();
}

// PostgreSQL does not run for root.
std::vector<std::string> AsNobody(std::vector<std::string> command) {
  std::vector<std::string> whole = {"setpriv", "--pdeathsig", "KILL"};
  if (geteuid() == 0) {
    whole.insert(whole.end(), {"--reuid", "nobody", "--regid", "nogroup", "--clear-groups"});
  }
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

pid_t Spawn(const std::vector<std::string>& command, const std::string& log) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

PostgresServer& PostgresServer::Shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() {
  if (access((std::string(kPrograms) + "initdb").c_str(), X_OK) != 0) {
    Fail(absl::StrCat(kPrograms, "initdb is missing"));
  }
  if (geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    if (chown(folder_.path().c_str(), kNobody, kNobody) != 0) Fail("can't chown a folder");
  }
  const pid_t made = Spawn(AsNobody({std::string(kPrograms) + "initdb", "--no-sync", "--auth=trust",
                                     "--username=callslip", "--encoding=UTF8", "--locale=C", "-D",
                                     folder_.path() + "/data"}),
                           folder_.path() + ".log");
  int status = 0;
  waitpid(made, &status, 0);
  if (status != 0) Fail("initdb has failed: see " + folder_.path() + ".log");
  Start();
}

PostgresServer::~PostgresServer() {
  Stop();
  std::remove((folder_.path() + ".log").c_str());
}

void PostgresServer::Start() {
  const std::string& path = folder_.path();
  server_ = Spawn(AsNobody({std::string(kPrograms) + "postgres", "-D", path + "/data", "-c",
                            "listen_addresses=", "-c", "unix_socket_directories=" + path, "-c",
                            "shared_buffers=16MB", "-c", "max_connections=50"}),
                  path + ".log");
  RealClock clock;
  const std::unique_ptr<Sleeper> sleeper = clock.NewSleeper();
  const absl::Time until = clock.Now() + absl::Seconds(30);
  while (clock.Now() < until) {
    if (PQping(Url("public").c_str()) == PQPING_OK) return;
    sleeper->SleepUntil(clock.Now() + absl::Milliseconds(10));
  }
  Fail("postgres does not start: see " + path + ".log");
}

void PostgresServer::Stop() {
  if (server_ == 0) return;
  // An immediate shutdown, which leaves no child processes.
  kill(server_, SIGQUIT);
  waitpid(server_, nullptr, 0);
  server_ = 0;
}

std::string PostgresServer::Url(const std::string& schema) const {
  return absl::StrCat("postgres:///postgres?user=callslip&host=", folder_.path(),
                      "&options=-csearch_path%3D", schema);
}

std::string PostgresServer::NewSchema() {
  schema_ = absl::StrCat("cell", ++schemas_);
  PGconn* const connection = PQconnectdb(Url("public").c_str());
  PQclear(PQexec(connection, ("CREATE SCHEMA " + schema_).c_str()));
  PQfinish(connection);
  return Url(schema_);
}

}  // namespace callslip
