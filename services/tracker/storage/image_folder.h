#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracker/domain/session/image.h"
#include "tracker/storage/disk.h"

namespace callslip::tracker {

// "img-" and 16 hexadecimal digits of the SHA-256 of its bytes.
std::string ImageIdOf(const std::string& data);

// The images in the folder of a session: img-{16 hexadecimal digits of the SHA-256 of its bytes},
// and next to it its name, if it has one, as img-….name.
class ImageFolder {
 public:
  // Counts the existing images. `disk` must outlive this.
  static absl::StatusOr<ImageFolder> Open(Disk* disk, std::string folder);

  // Atomic, and durable on return. An existing image is not changed. TooManyImages, StorageFailed.
  absl::StatusOr<ImageRef> Put(const std::string& data, const std::string& name, size_t limit);
  // ImageNotFound, StorageFailed. `id` must have the form of an image id.
  absl::StatusOr<Image> Get(const std::string& id) const;

  int64_t bytes() const { return bytes_; }

 private:
  ImageFolder(Disk* disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  std::string PathOf(const std::string& name) const { return JoinPath(folder_, name); }
  absl::StatusOr<std::string> NameOf(const std::string& id) const;

  Disk* disk_;
  std::string folder_;
  size_t count_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace callslip::tracker
