#include "common/file.h"

#include <cerrno>

namespace callslip {

bool WriteAll(const File& file, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool ReadAll(const File& file, size_t most, std::string& contents) {
  char buffer[size_t{16} << 10];
  while (true) {
    const ssize_t got = read(file.descriptor(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    contents.append(buffer, static_cast<size_t>(got));
    if (contents.size() > most) {
      errno = EFBIG;
      return false;
    }
  }
}

}  // namespace callslip
