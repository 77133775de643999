#!/usr/bin/env bash
# Holds the sources to the rules that a compiler does not know. Prints each breach; exits with 1 if
# there is one.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

breaches=0

# forbid MESSAGE PATTERN PATHSPEC...: no line of the tracked files may match PATTERN.
forbid() {
  local message=$1 pattern=$2 hits
  shift 2
  if hits=$(git grep --line-number --extended-regexp "$pattern" -- "$@"); then
    printf '%s:\n%s\n' "$message" "$hits"
    breaches=1
  fi
}

sources=('services/*.h' 'services/*.cc' 'tests/*.h' 'tests/*.cc')

forbid "real time is read in common/clock.cc only (take a Clock)" \
  'absl::Now\(|system_clock::now|steady_clock::now|[^_]time\(nullptr\)|gettimeofday|clock_gettime' \
  "${sources[@]}" ':!services/common/clock.cc' ':!tests/bench/*'
forbid "nothing sleeps (wait for an event, or on a Sleeper)" \
  'SleepFor\(|::sleep_(for|until)|\b(u|nano)?sleep\(' "${sources[@]}" ':!tests/bench/*'
forbid "randomness comes from common/random.cc (tests may seed a generator)" \
  'random_device|getrandom|[^a-z_]rand\(' "${sources[@]}" ':!services/common/random.cc'
forbid "randomness comes from common/random.cc" 'mt19937' 'services/*.h' 'services/*.cc' \
  ':!services/*_test.cc' ':!services/tracker/domain/command/command_model*'
forbid "the tracker's domain knows no transport and no format" \
  '#include.*(grpc|\.pb\.h|json|httplib|boost/(asio|beast))' 'services/tracker/domain/*'
forbid "Beast stays behind http_codec.h and web_sockets.h, and the bridge's http_answer.h" \
  '#include.*boost/beast' 'services/*' ':!services/gateway/http/http_codec.cc' \
  ':!services/gateway/http/web_sockets.cc' ':!services/bridge/http_answer.cc'
forbid "gRPC stays out of headers besides those of the RPC layers" \
  '#include.*grpc' 'services/*.h' ':!services/tracker/rpc/*' ':!services/common/rpc_status.h' \
  ':!services/gateway/tracker_client/*_call.h'
forbid "tests bind port 0" 'callslip-(tracker|gateway).*--listen [^ ]*:[1-9]' 'tests/*.mjs' 'tests/*.cc'

if ! git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror; then
  printf 'not formatted; run ./dev format\n'
  breaches=1
fi

exit "$breaches"
