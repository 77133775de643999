// Replaces the generated table in a build without the page.
#include "gateway/web/web_files.h"

namespace callslip::gateway {

absl::Span<const EmbeddedFile> EmbeddedWebFiles() { return {}; }

}  // namespace callslip::gateway
