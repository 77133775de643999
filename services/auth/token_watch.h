#ifndef CALLSLIP_AUTH_TOKEN_WATCH_H_
#define CALLSLIP_AUTH_TOKEN_WATCH_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "auth/credentials.h"
#include "common/file_watch.h"

namespace callslip {

// Keeps credentials as their token file has them, from the file's next change on. A file that is
// broken or gone, or that does not pass `check`, changes nothing, and is told of in the log.
class TokenWatch {
 public:
  // Told of each file that was taken, after its credentials count, on the watch's thread.
  using Listener = std::function<void(const TokenFile& file)>;
  // What a file needs besides, for this program: what is wrong with it otherwise.
  using Check = std::function<absl::Status(const TokenFile& file)>;

  // `every` as for FileWatch.
  TokenWatch(std::string path, std::shared_ptr<Credentials> credentials,
             Listener on_taken = nullptr, Check check = nullptr,
             absl::Duration every = FileWatch::kEvery);

  // For tests.
  bool Look() { return watch_.Look(); }

 private:
  void Reload();

  const std::string path_;
  const std::shared_ptr<Credentials> credentials_;
  const Listener on_taken_;
  const Check check_;
  FileWatch watch_;
};

}  // namespace callslip

#endif  // CALLSLIP_AUTH_TOKEN_WATCH_H_
