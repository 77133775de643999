// In place of the generated table, where the page is left out.
#include "gateway/web/web_files.h"

namespace callslip::gateway {

absl::Span<const EmbeddedFile> EmbeddedWebFiles() { return {}; }

}  // namespace callslip::gateway
