#ifndef CALLSLIP_AUTH_TOKEN_WATCH_H_
#define CALLSLIP_AUTH_TOKEN_WATCH_H_

#include <functional>
#include <memory>
#include <string>

#include "auth/credentials.h"
#include "common/file_watch.h"

namespace callslip {

// Keeps credentials as their token file has them, from the file's next change on. A file that is
// broken or gone changes nothing, and is told of in the log.
class TokenWatch {
 public:
  // `on_withdrawn` is called on the watch's thread once some credentials are withdrawn. `every` as
  // for FileWatch.
  TokenWatch(
      std::string path, std::shared_ptr<Credentials> credentials,
      std::function<void()> on_withdrawn = [] {}, absl::Duration every = FileWatch::kEvery);

  // For tests.
  bool Look() { return watch_.Look(); }

 private:
  void Reload();

  const std::string path_;
  const std::shared_ptr<Credentials> credentials_;
  const std::function<void()> on_withdrawn_;
  FileWatch watch_;
};

}  // namespace callslip

#endif  // CALLSLIP_AUTH_TOKEN_WATCH_H_
