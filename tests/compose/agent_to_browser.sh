#!/usr/bin/env bash
# The end-to-end test against the composed services: an official MCP client on one side, a real
# browser with the extension on the other, the containers between them.
#   agent_to_browser.sh http://127.0.0.1:PORT
set -euo pipefail

readonly gateway_url=$1
cd "$(dirname "$0")/../e2e"
readonly test_file=compose_agent_to_browser_test.mjs

if [[ ! -f $test_file ]]; then
  echo "tests/e2e/$test_file is missing: the composed services went untested end to end" >&2
  exit 1
fi
if [[ ! -d node_modules ]]; then
  echo "tests/e2e/node_modules is missing: run ./dev setup first" >&2
  exit 1
fi
CALLSLIP_E2E_GATEWAY=$gateway_url node --test "$test_file"
