#ifndef CALLSLIP_TRACKER_PROCESS_HALF_EXPORTED_H_
#define CALLSLIP_TRACKER_PROCESS_HALF_EXPORTED_H_

#include <string>

#include "absl/status/status.h"
#include "tracker/storage/disk.h"
#include "tracker/storage/file_session_storage.h"

// From the beginning of an export to its end the data directory holds a file that says so, and no
// tracker serves it.
namespace callslip::tracker {

bool IsHalfExported(const std::string& data_dir);
// FAILED_PRECONDITION, with what to do, where it is.
absl::Status CheckWhole(const std::string& data_dir);

// OK where a directory may be exported to: it is not there, is empty, or an export has left it
// half full. FAILED_PRECONDITION, with what to do, else; StorageFailed.
absl::Status CheckExportable(Disk& disk, const std::string& data_dir);
// For whoever holds the lock of such a directory, by `sessions`: it holds nothing after that, and
// is half exported. StorageFailed.
absl::Status BeginExport(Disk& disk, const std::string& data_dir, FileSessionStorage& sessions);
// It is whole, and may be served. StorageFailed.
absl::Status EndExport(Disk& disk, const std::string& data_dir);

}  // namespace callslip::tracker

#endif  // CALLSLIP_TRACKER_PROCESS_HALF_EXPORTED_H_
