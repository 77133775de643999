#!/usr/bin/env bash
# Runs the benchmarks of a build one after the other, in about eight minutes. Prints figures
# and their ratios to floors that are measured in the same run, and judges nothing. Usage:
#
#   tests/bench/run.sh build/release
set -euo pipefail

readonly BUILD=${1:?usage: run.sh BUILD_DIR}
readonly MAX_SECONDS=900

# run PROGRAM [ARGUMENT...]: a benchmark; its children end with it. Runs through $placed.
placed=(env)
run() {
  local program=$1
  shift
  printf '==> %s (load average %s)\n\n' "$program" "$(cut -d' ' -f1 /proc/loadavg)"
  timeout $((MAX_SECONDS - SECONDS)) "${placed[@]}" "$BUILD/bench_bin/$program" "$@"
}

services=("$BUILD/bin/callslip-tracker" "$BUILD/bin/callslip-gateway")

run interact_latency "${services[@]}"
placed=(taskset --cpu-list 0)
run interact_latency "${services[@]}"
placed=(env)
run gateway_bench "${services[@]}"
run lists_bench "${services[@]}"
run stdio_latency "${services[@]}" "$BUILD/bin/callslip-bridge"
run client_waits_bench
run command_table_bench
run session_bench
CALLSLIP_BENCH_DIR=$BUILD run durability_bench
run tracker_rpc_bench

# Benchmarks with clients of the end-to-end tests: omitted if their packages are not installed.
here=$(dirname "${BASH_SOURCE[0]}")
for script in runner_bench page_bench extension_latency; do
  if [[ -d $here/../e2e/node_modules ]] && command -v node >/dev/null; then
    printf '==> %s (load average %s)\n\n' "$script" "$(cut -d' ' -f1 /proc/loadavg)"
    CALLSLIP_BIN=$(realpath "$BUILD/bin") timeout $((MAX_SECONDS - SECONDS)) \
      node "$here/$script.mjs"
  else
    printf '==> %s is left out: it needs what ./dev test installs\n' "$script"
  fi
done
