#include "tracker/postgres/libpq.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace callslip::tracker {
namespace {

// With its version: another version has another interface.
constexpr char kFileName[] = "libpq.so.5";

struct Loaded {
  Libpq functions;
  absl::Status status;
};

Loaded Load() {
  Loaded loaded;
  void* const library = dlopen(kFileName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.status = absl::FailedPreconditionError(
        absl::StrCat("--storage needs PostgreSQL's ", kFileName, ", which can't be loaded (",
                     dlerror(), "): install libpq5"));
    return loaded;
  }
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function != nullptr || !loaded.status.ok()) return;
    loaded.status =
        absl::FailedPreconditionError(absl::StrCat(kFileName, " has no ", name, ": it is too old"));
  };
#define CALLSLIP_LIBPQ_FIND(name) find("PQ" #name, loaded.functions.name);
  CALLSLIP_LIBPQ(CALLSLIP_LIBPQ_FIND)
#undef CALLSLIP_LIBPQ_FIND
  return loaded;
}

// Never unloaded.
const Loaded& Library() {
  static const auto& loaded = *new Loaded(Load());
  return loaded;
}

}  // namespace

absl::Status LoadLibpq() { return Library().status; }

const Libpq& Pq() { return Library().functions; }

}  // namespace callslip::tracker
