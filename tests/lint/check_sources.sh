#!/usr/bin/env bash
# Checks the rules that a compiler does not check. Prints each breach; exits with 1 if there is one.
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

# The English of everything except tests and decisions: phrases.txt has each pattern and its
# replacement.
while IFS=$'\t' read -r phrase instead; do
  [[ -z $phrase || $phrase == \#* ]] || forbid "write plain English ($instead)" "$phrase" \
    services web/src extension/src proto docs deploy examples README.md CONTRIBUTING.md \
    ARCHITECTURE.md ':!docs/adr' ':!*_test.cc' ':!*fixture.h'
done <tests/lint/phrases.txt

sources=('services/*.h' 'services/*.cc' 'tests/*.h' 'tests/*.cc')

forbid "a header begins with #pragma once" '^#ifndef .*_H_$' '*.h'
forbid "real time is read in common/clock.cc only (take a Clock)" \
  'absl::Now\(|system_clock::now|steady_clock::now|[^_]time\(nullptr\)|gettimeofday|clock_gettime' \
  "${sources[@]}" ':!services/common/clock.cc' ':!services/keeper/main.cc' ':!tests/bench/*'
forbid "nothing sleeps (wait for an event, or on a Sleeper)" \
  'SleepFor\(|::sleep_(for|until)|\b(u|nano)?sleep\(' "${sources[@]}" ':!tests/bench/*'
forbid "randomness comes from common/random.cc (tests may seed a generator)" \
  'random_device|getrandom|[^a-z_]rand\(' "${sources[@]}" ':!services/common/random.cc'
forbid "randomness comes from common/random.cc" 'mt19937' 'services/*.h' 'services/*.cc' \
  ':!services/*_test.cc'
forbid "the tracker's domain knows no transport and no format" \
  '#include.*(grpc|\.pb\.h|json|httplib|boost/(asio|beast))' 'services/tracker/domain/*' ':!*_test.cc' ':!*fixture.h'
# A folder of the domain may include the folders before it, and never those outside the domain.
later='rpc|server|storage|process|metrics'
for room in runner session annotation queue journal worker command; do
  forbid "domain/$room includes what stands above it in ARCHITECTURE.md only" \
    "#include \"tracker/($later)/" "services/tracker/domain/$room/*" ':!*_test.cc' ':!*fixture.h'
  later+="|domain/$room"
done
later=process
for room in rpc server metrics storage; do
  forbid "$room includes the domain, and the folders of the tracker that it stands on" \
    "#include \"tracker/($later)/" "services/tracker/$room/*" ':!*_test.cc' ':!*fixture.h'
  later+="|$room"
done
# The headers that take longest to parse, each with the pathspecs of files that may include them
# (docs/adr/0011): elsewhere, every file that includes them would become slower to compile.
heavy_headers=''
confine() {
  local header=$1 pattern=$2 hits count
  shift 2
  if hits=$(git grep --line-number --extended-regexp "#include [<\"]($pattern)" -- 'services/*.h' \
      'services/*.cc' ':!services/*_test.cc' ':!services/*fixture.h' "${@/#/:!}"); then
    printf '%s is for %s only:\n%s\n' "$header" "$*" "$hits"
    breaches=1
  fi
  count=$(git grep --files-with-matches --extended-regexp "#include [<\"]($pattern)" -- \
    'services/*.h' 'services/*.cc' | wc -l || true)
  heavy_headers+=" $header $count,"
}

confine gRPC 'grpcpp/|grpc/[a-z_]+\.h|grpc/support/|.*\.grpc\.pb\.h' services/common/grpc_log.cc \
  'services/common/rpc_status.*' 'services/common/rpc_credentials.*' \
  'services/gateway/tracker_client/*' 'services/rpc_client/*' 'services/runner/tracker/*' \
  services/telemetry/grpc_transport.cc 'services/tracker/server/async_server*' \
  services/tracker/server/authenticator.cc services/tracker/server/awaited_requests.h services/tracker/server/health_check.cc \
  services/tracker/server/operation_queue.h 'services/tracker/server/rpc_service.*' services/tracker/rpc/tracker_server.cc
confine protobuf '.*\.pb\.h|google/protobuf/' 'services/gateway/*' 'services/rpc_client/*' \
  'services/runner/session/*' 'services/runner/tracker/*' 'services/tracker/rpc/*' 'services/tracker/server/*' 'services/tracker/storage/journal_*'
confine Asio 'boost/asio' 'services/gateway/*' 'services/rpc_client/*' 'services/runner/*'
confine Beast 'boost/beast' services/gateway/http/http_codec.cc services/gateway/http/web_sockets.cc \
  services/gateway/oauth/https_source.cc services/http_client/http_answer.cc
confine nlohmann/json 'nlohmann/' 'services/bridge/*.cc' 'services/common/json_members.*' services/common/json_string.cc services/gateway/json/parse.h \
  services/tracker/storage/json.h services/runner/acp/message.h
confine httplib 'httplib' 'services/bridge/http/fake_gateway.*'
confine GoogleTest 'gtest/|gmock/' services/common/status_matchers.h
forbid "a test waits as long as the machine needs (stretched() of tests/support/patience.js)" \
  '[{,] timeout: [0-9]' 'tests/*.mjs' 'tests/*.js' ':!tests/bench/*' ':!tests/soak/*' ':!tests/miniwob/*'
forbid "tests bind port 0" 'callslip-(tracker|gateway).*--listen [^ ]*:[1-9]' 'tests/*.mjs' 'tests/*.cc'

printf 'files that include%s\n' "${heavy_headers%,}"

if ! git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror; then
  printf 'not formatted; run ./dev format\n'
  breaches=1
fi

# A browser reports no syntax error of a service worker.
while read -r script; do
  node --check --input-type=module <"$script" || breaches=1
done < <(git ls-files 'extension/*.js' | grep -v /page/)

exit "$breaches"
