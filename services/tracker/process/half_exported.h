#pragma once

#include <string>

#include "absl/status/status.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/file_session_storage.h"

// From the beginning to the end of an export, a file in the data directory marks it as half
// exported, and no tracker serves it.
namespace callslip::tracker {

bool IsHalfExported(const std::string& data_dir);
// FAILED_PRECONDITION, with what to do, if it is half exported.
absl::Status CheckWhole(const std::string& data_dir);

// OK if it is possible to export to the directory: it does not exist, is empty, or is half
// exported. Otherwise FAILED_PRECONDITION, with what to do; StorageFailed.
absl::Status CheckExportable(Disk& disk, const std::string& data_dir);
// Empties such a directory and marks it as half exported. The caller must hold its lock, through
// `sessions`. StorageFailed.
absl::Status BeginExport(Disk& disk, const std::string& data_dir, FileSessionStorage& sessions);
// Marks the directory as complete, so that it can be served. StorageFailed.
absl::Status EndExport(Disk& disk, const std::string& data_dir);

}  // namespace callslip::tracker
