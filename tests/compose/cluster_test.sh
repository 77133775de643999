#!/usr/bin/env bash
# Starts the cluster of deploy/cluster/docker-compose.yml with the programs of a build, and kills a
# tracker and a database: sessions that were accepted before are there afterwards.
#   cluster_test.sh BUILD_FOLDER
# Runs from a bare Debian 12 as root; a machine that has a container engine needs no root. Stops
# everything that it started; leaves everything else alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
cd "$repository"
# shellcheck source=tests/support/checks.sh
source "$here/../support/checks.sh"
# shellcheck source=tests/compose/engine.sh
source "$here/engine.sh"
# shellcheck source=tests/compose/services.sh
source "$here/services.sh"

export COMPOSE_PROJECT_NAME=callslip-cluster-$$
work=$(mktemp --directory)
readonly PATIENCE_SECONDS=60

compose() {
  docker-compose --file "$repository/deploy/cluster/docker-compose.yml" --file "$work/prebuilt.yml" \
    --project-directory "$repository/deploy/cluster" "$@"
}

clean_up() {
  local status=$?
  trap - EXIT
  ((status == 0 || failed)) || failed=1
  if ((failed)); then compose logs --no-color --tail 30 || true; fi
  compose down --volumes --rmi local --timeout 10 >/dev/null 2>&1 || true
  stop_engine
  rm -rf "$work"
  summarize_checks
}

take_programs() {
  mkdir -p "$work/bin" "$work/libexec/callslip" "$work/deploy/packages"
  cp "$build"/bin/callslip-{tracker,gateway} "$work/bin/"
  cp deploy/packages/runtime.txt "$work/deploy/packages/"
  cp deploy/Dockerfile "$work/deploy/"
  {
    echo "services:"
    for service in tracker1 tracker2 tracker3 gateway1 gateway2; do
      echo "  $service: {build: {context: $work, args: {PROGRAMS: prebuilt}}}"
    done
  } >"$work/prebuilt.yml"
}

# call METHOD PATH [BODY]: through the balancer, with the client's token of the cluster's token
# file.
call() {
  curl --silent --show-error --fail-with-body --max-time 5 --request "$1" \
    --header "Authorization: Bearer $token" --header 'Content-Type: application/json' \
    ${3:+--data "$3"} "http://127.0.0.1:$CALLSLIP_GATEWAY_PORT$2"
}

# insist COMMAND...: repeats it until it succeeds.
insist() {
  local until=$((SECONDS + PATIENCE_SECONDS))
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.5
  done
}

begin_session() {
  call POST /api/sessions "{\"session_id\": \"$1\", \"acp_server\": \"test\", \"working_dir\": \"/\"}"
}

has_session() { call GET "/api/sessions/$1"; }

# The tracker whose health check succeeds: it listens.
owner() {
  local each
  for each in tracker1 tracker2 tracker3; do
    if compose exec -T "$each" callslip-tracker healthcheck >/dev/null 2>&1; then
      echo "$each"
      return
    fi
  done
  return 1
}

# Deletes its volume; a follower of the other server takes its place.
make_first_database_anew() {
  compose rm --force db1
  docker volume rm "${COMPOSE_PROJECT_NAME}_db1-data"
  compose up --detach db1
}

follows() { [[ $(compose exec -T "$1" psql -h /run/postgresql -U postgres -At \
  -c 'SELECT state FROM pg_stat_replication') == streaming ]]; }

main() {
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  install_missing_packages
  choose_client
  start_engine
  ensure_base_image
  take_programs
  progress "making the images"
  require "the images build" compose build
  read -r CALLSLIP_GATEWAY_PORT _ < <(two_free_ports)
  export CALLSLIP_GATEWAY_PORT
  require "docker-compose up starts the cluster" compose up --detach
  require "a tracker serves" insist outside http-ok "$CALLSLIP_GATEWAY_PORT" /readyz
  token=$(compose exec -T gateway1 sed -n 's/^client agent //p' /etc/callslip/tokens)
  require "a session is taken" insist begin_session first

  local lost
  lost=$(owner)
  check "the tracker that serves is killed" compose kill "$lost"
  check "another one has the session" insist has_session first
  check "and takes another one" insist begin_session second
  check "the one that was killed runs again" compose up --detach "$lost"

  check "the database is lost" compose kill db1
  check "its standby takes over" compose exec -T db2 callslip-database promote
  check "what was taken is there" insist has_session second
  check "and more is taken" insist begin_session third
  check "the first database is made anew" make_first_database_anew
  check "and follows" insist follows db2
  check "and is waited for" compose exec -T db2 callslip-database wait-for db1
  check "and more is taken again" insist begin_session fourth
  check "a primary that was replaced is refused" refuses_to_be_second
}

# Starts an earlier primary whose standby was promoted meanwhile.
refuses_to_be_second() {
  compose exec -T db1 callslip-database promote
  compose restart db2
  insist grep -q "db1 has taken over, and what is here is of the past" <(compose logs --no-color db2)
}

main
