#include "auth/token_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "auth/token_file.h"
#include "common/log.h"

namespace callslip {

TokenWatch::TokenWatch(std::string path, std::shared_ptr<Credentials> credentials,
                       Listener on_taken, Check check, absl::Duration every)
    : path_(std::move(path)),
      credentials_(std::move(credentials)),
      on_taken_(std::move(on_taken)),
      check_(std::move(check)),
      watch_(
          {path_}, [this] { Reload(); }, every) {}

void TokenWatch::Reload() {
  absl::StatusOr<TokenFile> file = LoadTokenFile(path_);
  if (file.ok() && check_ != nullptr) {
    if (absl::Status fits = check_(*file); !fits.ok()) file = std::move(fits);
  }
  if (!file.ok()) {
    Log(LogLevel::kError, "token file not loaded; the previous tokens stay valid",
        {{"reason", std::string(file.status().message())}});
    return;
  }
  const int revoked = credentials_->Replace(file->entries);
  Log(LogLevel::kInfo, "token file taken",
      {{"token_file", path_},
       {"principals", absl::StrCat(file->entries.size())},
       {"revoked", absl::StrCat(revoked)}});
  if (on_taken_ != nullptr) on_taken_(*file);
}

}  // namespace callslip
