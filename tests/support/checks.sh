# Functions of shell tests: counted checks and progress messages. Sourced by tests that set strict
# mode.
# shellcheck shell=bash

passed=0
failed=0
log=$(mktemp)

progress() { printf '==> %s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
  exit 1
}

# Shows the output of a command only if the command fails.
quietly() {
  local output
  output=$("$@" 2>&1) || {
    printf '%s\n' "$output" >&2
    return 1
  }
}

# check TITLE COMMAND...: runs the command and counts it; its output is shown only if it fails.
check() {
  local title=$1
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    printf 'ok    %s\n' "$title"
  else
    failed=$((failed + 1))
    printf 'FAIL  %s\n' "$title"
    tail -n 60 "$log" | sed 's/^/      /'
  fi
}

# Like check, and exits if this or an earlier check has failed.
require() {
  check "$@"
  ((failed == 0)) || exit 1
}

# The last line of a test; exits with 1 if a check has failed.
summarize_checks() {
  rm -f "$log"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0)) || exit 1
}
