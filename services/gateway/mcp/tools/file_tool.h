#pragma once

#include <memory>

#include "gateway/files/file_store.h"
#include "gateway/mcp/protocol/tool.h"

namespace callslip::gateway {

// Receives a piece of a file for `interact` {action: "upload"}. For the bridge, and for programs
// that do without one; not listed for models.
class FileTool final : public Tool {
 public:
  explicit FileTool(FileStore* files) : files_(files) {}

  const Json& Definition() const override;
  bool IsListed() const override { return false; }
  absl::Duration LongestWait(const Json&) const override { return absl::ZeroDuration(); }
  boost::asio::awaitable<ToolResult> Call(std::shared_ptr<CallContext> context,
                                          Json arguments) const override;

 private:
  FileStore* const files_;
};

}  // namespace callslip::gateway
