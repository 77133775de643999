#include "tracker/storage/image_folder.h"

#include <openssl/sha.h>

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tracker/domain/session/session_errors.h"
#include "tracker/domain/session/session_limits.h"

namespace callslip::tracker {
namespace {

constexpr char kNameSuffix[] = ".name";
// Of the digest; the id has two digits for each.
constexpr size_t kIdBytes = 8;

}  // namespace

std::string ImageIdOf(const std::string& data) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest);
  return absl::StrCat("img-", absl::BytesToHexString(absl::string_view(
                                  reinterpret_cast<const char*>(digest), kIdBytes)));
}

absl::StatusOr<ImageFolder> ImageFolder::Open(Disk* disk, std::string folder) {
  ImageFolder images(disk, std::move(folder));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, disk->NamesIn(images.folder_));
  for (const std::string& name : names) {
    if (!IsImageId(name)) continue;
    ASSIGN_OR_RETURN(const auto there, disk->Look(images.PathOf(name)));
    if (!there.has_value()) continue;
    ++images.count_;
    images.bytes_ += there->size;
  }
  return images;
}

absl::StatusOr<ImageRef> ImageFolder::Put(const std::string& data, const std::string& name,
                                          size_t limit) {
  const std::string id = ImageIdOf(data);
  ImageRef image{.id = id, .name = name, .mime_type = std::string(ImageTypeOf(data))};
  ASSIGN_OR_RETURN(const auto there, disk_->Look(PathOf(id)));
  if (there.has_value()) {
    ASSIGN_OR_RETURN(image.name, NameOf(id));
    return image;
  }
  if (count_ >= limit) return TooManyImages(limit);
  if (!name.empty()) RETURN_IF_ERROR(disk_->ReplaceFile(folder_, id + kNameSuffix, name));
  RETURN_IF_ERROR(disk_->ReplaceFile(folder_, id, data));
  ++count_;
  bytes_ += static_cast<int64_t>(data.size());
  return image;
}

absl::StatusOr<Image> ImageFolder::Get(const std::string& id) const {
  absl::StatusOr<std::string> data = disk_->ReadFile(PathOf(id), kMaxImageBytes);
  if (absl::IsNotFound(data.status())) return ImageNotFound(id);
  if (absl::IsOutOfRange(data.status())) return StorageFailed("reading an image that has grown");
  RETURN_IF_ERROR(data.status());
  Image image{.ref = {.id = id, .mime_type = std::string(ImageTypeOf(*data))}};
  ASSIGN_OR_RETURN(image.ref.name, NameOf(id));
  image.data = *std::move(data);
  return image;
}

absl::StatusOr<std::string> ImageFolder::NameOf(const std::string& id) const {
  absl::StatusOr<std::string> name =
      disk_->ReadFile(PathOf(id + kNameSuffix), kMaxSessionNameBytes);
  if (absl::IsNotFound(name.status()) || absl::IsOutOfRange(name.status())) return "";
  return name;
}

}  // namespace callslip::tracker
