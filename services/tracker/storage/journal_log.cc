#include "tracker/storage/journal_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace callslip::tracker {
namespace {

absl::Status Failure(absl::string_view doing, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("can't ", doing, " ", path, ": ", std::strerror(errno)));
}

uint32_t Checksum(absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <typename Number>
void Put(Number number, char* to) {
  std::memcpy(to, &number, sizeof(number));
}

template <typename Number>
Number Take(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}

// Where the bytes covered by the checksum begin.
constexpr size_t kChecked = 2 * sizeof(uint32_t);

struct Record {
  uint64_t position;
  absl::string_view bytes;
};

// The record at the beginning of `bytes`, if it is complete.
std::optional<Record> RecordAt(absl::string_view bytes) {
  if (bytes.size() < JournalLog::kHeadBytes) return std::nullopt;
  const auto size = Take<uint32_t>(bytes.data());
  if (size > bytes.size() - JournalLog::kHeadBytes) return std::nullopt;
  const absl::string_view checked =
      bytes.substr(kChecked, JournalLog::kHeadBytes - kChecked + size);
  if (Checksum(checked) != Take<uint32_t>(bytes.data() + sizeof(size))) return std::nullopt;
  return Record{Take<uint64_t>(checked.data()), bytes.substr(JournalLog::kHeadBytes, size)};
}

std::vector<Record> RecordsIn(absl::string_view file) {
  std::vector<Record> records;
  while (true) {
    const std::optional<Record> record = RecordAt(file);
    if (!record.has_value()) return records;
    if (!records.empty() && record->position != records.back().position + 1) return records;
    records.push_back(*record);
    file.remove_prefix(JournalLog::kHeadBytes + record->bytes.size());
  }
}

absl::StatusOr<std::string> ContentsOf(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string contents;
  if (!file.is_open()) {
    if (errno == ENOENT) return contents;
    return Failure("open", path);
  }
  struct stat status = {};
  if (fstat(file.descriptor(), &status) != 0) return Failure("read", path);
  contents.resize(static_cast<size_t>(status.st_size));
  size_t size = 0;
  while (size < contents.size()) {
    const ssize_t got = pread(file.descriptor(), contents.data() + size, contents.size() - size,
                              static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failure("read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  contents.resize(size);
  return contents;
}

absl::Status WriteAt(const File& file, int64_t offset, absl::string_view bytes,
                     const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file.descriptor(), bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failure("write to", path);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
  return absl::OkStatus();
}

}  // namespace

std::string JournalLog::PathOf(size_t file) const {
  return absl::StrCat(folder_, "/", kFileNames[file]);
}

absl::StatusOr<JournalLog> JournalLog::Open(const std::string& folder) {
  JournalLog log(folder);
  for (size_t i = 0; i < kFileNames.size(); ++i) {
    const std::string path = log.PathOf(i);
    log.files_[i] = File(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!log.files_[i].is_open()) return Failure("open", path);
  }
  const File directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open() || fsync(directory.descriptor()) != 0) return Failure("sync", folder);
  return log;
}

absl::Status JournalLog::Empty() {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (ftruncate(files_[i].descriptor(), 0) != 0) return Failure("empty", PathOf(i));
  }
  return absl::OkStatus();
}

void JournalLog::Seal(uint64_t position, std::string& record) {
  Put(static_cast<uint32_t>(record.size() - kHeadBytes), record.data());
  Put(position, record.data() + kChecked);
  Put(Checksum(absl::string_view(record).substr(kChecked)), record.data() + sizeof(uint32_t));
}

absl::Status JournalLog::Append(uint64_t position, std::string& record) {
  Seal(position, record);
  RETURN_IF_ERROR(WriteAt(files_[present_], end_, record, PathOf(present_)));
  last_size_ = static_cast<int64_t>(record.size());
  end_ += last_size_;
  return absl::OkStatus();
}

absl::Status JournalLog::Sync() {
  if (fdatasync(files_[present_].descriptor()) == 0) return absl::OkStatus();
  end_ -= std::exchange(last_size_, 0);
  return Failure("sync", PathOf(present_));
}

void JournalLog::Turn() {
  if (is_other_needed_ || end_ == 0) return;
  present_ = 1 - present_;
  is_other_needed_ = true;
  end_ = last_size_ = 0;
  // If this fails, it only costs disk space.
  struct stat status = {};
  const int file = files_[present_].descriptor();
  if (fstat(file, &status) == 0 && status.st_size > kKeptBytes) {
    [[maybe_unused]] const int shrunk = ftruncate(file, kKeptBytes);
  }
}

absl::StatusOr<JournalLogContents> JournalLogContents::Read(const std::string& folder) {
  JournalLogContents contents;
  for (size_t i = 0; i < contents.files_.size(); ++i) {
    ASSIGN_OR_RETURN(contents.files_[i],
                     ContentsOf(absl::StrCat(folder, "/", JournalLog::kFileNames[i])));
  }
  return contents;
}

absl::Status JournalLogContents::ForEach(uint64_t position, const Visitor& each) const {
  std::array<std::vector<Record>, 2> files = {RecordsIn(files_[0]), RecordsIn(files_[1])};
  const auto begins_at = [](const std::vector<Record>& file) {
    return file.empty() ? UINT64_MAX : file.front().position;
  };
  if (begins_at(files[1]) < begins_at(files[0])) std::swap(files[0], files[1]);
  while (!files[0].empty() && files[0].back().position >= begins_at(files[1])) {
    files[0].pop_back();
  }
  for (const std::vector<Record>& file : files) {
    for (const Record& record : file) {
      if (record.position < position) continue;
      if (record.position > position) return absl::OkStatus();
      RETURN_IF_ERROR(each(record.position, record.bytes));
      ++position;
    }
  }
  return absl::OkStatus();
}

bool JournalLogContents::HasFrom(uint64_t position) const {
  for (const std::string& file : files_) {
    const std::vector<Record> records = RecordsIn(file);
    if (!records.empty() && records.back().position >= position) return true;
  }
  return false;
}

}  // namespace callslip::tracker
