// Suppressions for ThreadSanitizer, in tests. Debian's Abseil is not instrumented: ThreadSanitizer
// does not see the atomic counters with which the copies of one absl::Status share its details, so
// the thread that frees the last copy seems to race with threads that read another one.

extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libabsl_status.so\n"
         "called_from_lib:libabsl_cord.so\n"
         "race:Status::Unref\n"
         "race:status_internal::\n";
}
