#include "telemetry/span_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/random.h"

namespace callslip {
namespace {

constexpr size_t kFileBytes = SpanFile::kPlaces * SpanFile::kPlaceBytes;
constexpr char kSuffix[] = ".spans";

// The number of bytes in a place; 0: it is free. Written after the bytes, so that a process killed
// in between leaves no half-written spans.
std::atomic_ref<uint32_t> SizeOf(char* place) {
  return std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(place));
}

char* Map(int fd) {
  void* places = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return places == MAP_FAILED ? nullptr : static_cast<char*>(places);
}

absl::Status Failure(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat("CALLSLIP_SPAN_DIR: ", path));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpanFile>> SpanFile::Open(const std::string& folder,
                                                         absl::string_view program) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = absl::StrCat(folder, "/", program, ".", getpid(), "-",
                                        absl::StrFormat("%016x", Random64()), kSuffix);
  // It gets its name when it is locked: until then another process would take it for left behind.
  const std::string unnamed = absl::StrCat(path, ".new");
  const int fd = open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Failure(path, errno);
  // Otherwise a full disk would kill the process when it writes a span.
  int failed = posix_fallocate(fd, 0, kFileBytes);
  if (failed == 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) failed = errno;
  if (failed == 0 && rename(unnamed.c_str(), path.c_str()) != 0) failed = errno;
  char* places = failed == 0 ? Map(fd) : nullptr;
  if (failed == 0 && places == nullptr) failed = errno;
  if (failed != 0) {
    unlink(unnamed.c_str());
    unlink(path.c_str());
    close(fd);
    return Failure(path, failed);
  }
  std::unique_ptr<SpanFile> file(new SpanFile(path, fd, places));
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    const bool is_ours = absl::StartsWith(name, absl::StrCat(program, ".")) &&
                         absl::EndsWith(name, kSuffix) && entry.path() != path;
    if (is_ours) file->TakeOver(entry.path());
  }
  return file;
}

SpanFile::SpanFile(std::string path, int fd, char* places)
    : path_(std::move(path)), fd_(fd), places_(places) {
  for (size_t place = kPlaces; place-- > 0;) free_.push_back(static_cast<int>(place));
}

SpanFile::~SpanFile() {
  bool is_empty = false;
  {
    MutexLock lock(&mutex_);
    is_empty = free_.size() == kPlaces;
  }
  if (is_empty) unlink(path_.c_str());
  munmap(places_, kFileBytes);
  close(fd_);
}

// Removes the file once its whole content is here, so that a second kill in between loses nothing.
void SpanFile::TakeOver(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  // A locked file is in use, and one without a name was taken over by another process. A shorter
  // one was never written to.
  struct stat about = {};
  const bool is_left =
      flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &about) == 0 && about.st_nlink > 0;
  char* places = nullptr;
  if (is_left && lseek(fd, 0, SEEK_END) == static_cast<off_t>(kFileBytes)) places = Map(fd);
  for (size_t i = 0; places != nullptr && i < kPlaces; ++i) {
    char* place = places + i * kPlaceBytes;
    const uint32_t size = SizeOf(place).load(std::memory_order_acquire);
    if (size == 0 || size > kMaxBytes) continue;
    std::string bytes(place + sizeof(uint32_t), size);
    const int here = Put(bytes);
    if (here != kNowhere) lost_.emplace_back(here, std::move(bytes));
  }
  if (places != nullptr) munmap(places, kFileBytes);
  if (is_left) unlink(path.c_str());
  close(fd);
}

int SpanFile::Put(absl::string_view bytes) {
  if (bytes.empty() || bytes.size() > kMaxBytes) return kNowhere;
  int place = kNowhere;
  {
    MutexLock lock(&mutex_);
    if (free_.empty()) return kNowhere;
    place = free_.back();
    free_.pop_back();
  }
  char* to = places_ + static_cast<size_t>(place) * kPlaceBytes;
  std::memcpy(to + sizeof(uint32_t), bytes.data(), bytes.size());
  SizeOf(to).store(static_cast<uint32_t>(bytes.size()), std::memory_order_release);
  return place;
}

void SpanFile::Free(int place) {
  if (place == kNowhere) return;
  SizeOf(places_ + static_cast<size_t>(place) * kPlaceBytes).store(0, std::memory_order_release);
  MutexLock lock(&mutex_);
  free_.push_back(place);
}

}  // namespace callslip
