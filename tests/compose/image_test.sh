#!/usr/bin/env bash
# Builds the images from the sources, as a user's `docker-compose build` does, and starts the
# services from them: these programs are compiled like the released ones. Runs from a bare Debian 12
# as root; a machine that has a container engine needs no root. Stops everything that it started;
# the compiler's cache stays, so that the next run is short.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
cd "$repository"
# shellcheck source=tests/support/checks.sh
source "$here/../support/checks.sh"
# shellcheck source=tests/compose/engine.sh
source "$here/engine.sh"
# shellcheck source=tests/compose/services.sh
source "$here/services.sh"

# A name of its own keeps this run apart from other runs and from services in everyday use.
export COMPOSE_PROJECT_NAME=callslip-image-test-$$
# shellcheck disable=SC2034  # For services.sh.
COMPOSE_FILES=("$repository/docker-compose.yml")

clean_up() {
  local status=$?
  trap - EXIT
  # An end before the first check is a failure too.
  ((status == 0 || failed)) || failed=1
  remove_services
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
  require "the images build" compose build
  local service version
  version=$(sed -n 's/^project(callslip VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  for service in "${SERVICES[@]}" bridge; do
    check "$service says its version" says_version "$service" "$version"
    check "$service holds no compiler" holds_no_compiler "$service"
  done
  start_services
  check_answers
  check_stop
}

says_version() {
  local said
  said=$(compose run --rm --no-deps -T "$1" --version)
  echo "$said"
  [[ -n $2 && $said == *"$2"* ]]
}

# Ends with 0 only if all tools were looked for.
holds_no_compiler() {
  # shellcheck disable=SC2016  # The inner shell's.
  compose run --rm --no-deps -T --entrypoint /bin/sh "$1" -c '
    for tool in g++ cmake ninja; do
      if command -v "$tool"; then exit 7; fi
    done'
}

main "$@"
