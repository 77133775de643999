#!/usr/bin/env bash
# Builds the images from the sources, as `docker-compose build` does for those who use them, and has
# each say its version. Runs from a bare Debian 12 as root; a machine that has a container engine
# needs no root. What it starts it stops; the compiler's cache stays, so that the next run is short.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
# shellcheck source=tests/support/checks.sh
source "$here/../support/checks.sh"
# shellcheck source=tests/compose/engine.sh
source "$here/engine.sh"

# A name of its own keeps this run apart from other runs and from services in everyday use.
export COMPOSE_PROJECT_NAME=callslip-image-test-$$

clean_up() {
  local status=$?
  trap - EXIT
  # An end before the first check is a failure too.
  ((status == 0 || failed)) || failed=1
  docker-compose --profile tools down --rmi local >/dev/null 2>&1 || true
  stop_engine
  summarize_checks
}

main() {
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  install_missing_packages
  choose_client
  start_engine
  ensure_base_image

  progress "building the images from sources (the first time takes some minutes)"
  require "the images build" docker-compose --profile tools build
  local service version
  version=$(sed -n 's/^project(callslip VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  for service in tracker gateway bridge; do
    check "$service says its version" says_version "$service" "$version"
    check "$service holds no compiler" holds_no_compiler "$service"
  done
}

says_version() {
  local said
  said=$(docker run --rm --network none "${COMPOSE_PROJECT_NAME}_$1" --version)
  echo "$said"
  [[ $said == *"$2"* ]]
}

holds_no_compiler() {
  ! docker run --rm --network none --entrypoint /bin/sh "${COMPOSE_PROJECT_NAME}_$1" \
    -c 'command -v g++ cmake ninja'
}

main "$@"
