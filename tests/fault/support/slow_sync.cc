// A slow disk: preloaded into a program, it lengthens each fsync() and fdatasync() by the number of
// milliseconds that the file CALLSLIP_SLOW_SYNC currently contains. Without that file there is no
// delay.
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

void Delay() {
  const char* path = std::getenv("CALLSLIP_SLOW_SYNC");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "re");
  if (file == nullptr) return;
  int milliseconds = 0;
  if (std::fscanf(file, "%d", &milliseconds) != 1) milliseconds = 0;
  std::fclose(file);
  poll(nullptr, 0, milliseconds);
}

int CallNext(const char* name, int fd) {
  Delay();
  return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, name))(fd);
}

}  // namespace

extern "C" int fsync(int fd) { return CallNext("fsync", fd); }
extern "C" int fdatasync(int fd) { return CallNext("fdatasync", fd); }
