#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "auth/credentials.h"
#include "common/file_watch.h"

namespace callslip {

// Keeps credentials up to date with their token file, from the file's next change on. A file that
// is broken, missing or rejected by `check` changes nothing and is logged.
class TokenWatch {
 public:
  // Called on the watch's thread for each accepted file, after its credentials have taken effect.
  using Listener = std::function<void(const TokenFile& file)>;
  // This program's further requirements on a file: returns an error if the file does not meet them.
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
