// The images of the session's messages.

#include "common/status_macros.h"
#include "tracker/domain/errors.h"
#include "tracker/domain/session/session.h"
#include "tracker/domain/session/session_errors.h"

namespace callslip::tracker {

absl::StatusOr<ImageRef> Session::PutImage(const std::string& data, std::string name) {
  RETURN_IF_ERROR(CheckActive());
  RETURN_IF_ERROR(CheckSize("data", data, kMaxImageBytes));
  if (ImageTypeOf(data).empty()) {
    return InvalidField("data", "is not an image: it must be PNG, JPEG, GIF or WebP");
  }
  RETURN_IF_ERROR(CheckSize("name", name, kMaxSessionNameBytes));
  absl::StatusOr<ImageRef> image = record_->PutImage(data, name, kMaxImages);
  RETURN_IF_ERROR(Checked(image.status()));
  if (record_->image_bytes() != metadata_.image_bytes) metadata_changed_ = true;
  return image;
}

absl::StatusOr<Image> Session::GetImage(const std::string& id) {
  if (!IsImageId(id)) return ImageNotFound(id);
  absl::StatusOr<Image> image = record_->GetImage(id);
  RETURN_IF_ERROR(Checked(image.status()));
  return image;
}

}  // namespace callslip::tracker
