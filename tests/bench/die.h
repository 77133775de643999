#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace callslip::bench {

// Ends the benchmark: a figure that was not measured properly must not be printed.
[[noreturn]] inline void Die(const std::string& what) {
  std::fprintf(stderr, "benchmark failed: %s (%s)\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

}  // namespace callslip::bench
