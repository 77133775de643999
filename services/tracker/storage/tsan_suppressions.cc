// For ThreadSanitizer, in tests. Debian's Abseil is not instrumented: the atomic counters by which
// the copies of one absl::Status share its details are invisible, and the thread that frees the
// last of them seems to race with whoever read another one.

extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libabsl_status.so\n"
         "called_from_lib:libabsl_cord.so\n"
         "race:Status::Unref\n"
         "race:status_internal::\n";
}
