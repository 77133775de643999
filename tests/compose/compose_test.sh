#!/usr/bin/env bash
# Starts the services as docker-compose.yml describes them, and looks at them from outside: who can
# reach them, what they may do, whether agents get answers, whether they stop. The images take the
# programs of a build that is there; that they can be built from sources is image_test.sh's.
#   compose_test.sh BUILD_FOLDER
# Runs from a bare Debian 12 as root; a machine that has a container engine needs no root. What it
# starts it stops, what it finds running it leaves alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
cd "$repository"
# shellcheck source=tests/support/checks.sh
source "$here/../support/checks.sh"
# shellcheck source=tests/compose/engine.sh
source "$here/engine.sh"

# A name of its own keeps this run apart from other runs and from services in everyday use.
export COMPOSE_PROJECT_NAME=callslip-test-$$
# Equal to stop_grace_period in docker-compose.yml.
readonly STOP_GRACE_SECONDS=10
readonly HEALTH_LIMIT_SECONDS=60

work=$(mktemp --directory)

compose() {
  docker-compose --file "$repository/docker-compose.yml" --file "$work/prebuilt.yml" \
    --project-directory "$repository" --profile tools "$@"
}

clean_up() {
  local status=$?
  trap - EXIT
  # An end before the first check is a failure too.
  ((status == 0 || failed)) || failed=1
  if ((failed)); then
    compose logs --no-color --tail 40 tracker gateway 2>/dev/null || true
  fi
  compose down --volumes --rmi local --timeout "$STOP_GRACE_SECONDS" >/dev/null 2>&1 || true
  stop_engine
  rm -rf "$work"
  summarize_checks
}

main() {
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  install_missing_packages
  choose_client
  start_engine
  ensure_base_image

  read -r CALLSLIP_GATEWAY_PORT CALLSLIP_TRACKER_PORT < <(two_free_ports)
  export CALLSLIP_GATEWAY_PORT CALLSLIP_TRACKER_PORT

  take_programs
  progress "making the images"
  require "the images build" compose build
  progress "starting the services on ports $CALLSLIP_GATEWAY_PORT and $CALLSLIP_TRACKER_PORT"
  require "docker-compose up starts the services" compose up --detach tracker gateway
  local service
  for service in tracker gateway; do
    require "$service becomes healthy" becomes_healthy "$service"
  done

  for service in tracker gateway; do
    check "$service is published on loopback only" published_on_loopback_only "$service"
    check "$service runs without root and without privileges" runs_unprivileged "$service"
    check "$service has a read-only root file system" has_read_only_root "$service"
    check "$service has a memory limit" has_limit "$service" Memory
    check "$service has a limit on processes" has_limit "$service" PidsLimit
  done

  check "the tracker can write to its volume" \
    compose exec -T tracker touch /var/lib/callslip/compose_test
  check "the gateway is ready" outside http-ok "$CALLSLIP_GATEWAY_PORT" /readyz
  check "the gateway refuses a foreign Host" outside foreign-host-refused "$CALLSLIP_GATEWAY_PORT"
  check "an agent reaches the tools over HTTP" outside mcp-over-http "$CALLSLIP_GATEWAY_PORT"
  check "another service reaches the tracker over gRPC" \
    outside grpc-serving "$CALLSLIP_TRACKER_PORT"
  check "an agent reaches the tools over the bridge" \
    outside mcp-over-stdio docker-compose run --rm -T bridge
  progress "running the end-to-end test against the services"
  check "a command goes from agent to browser and back" \
    "$here/agent_to_browser.sh" "http://127.0.0.1:$CALLSLIP_GATEWAY_PORT"

  check "the services stop within their grace period" stop_within_grace
  for service in tracker gateway; do
    check "$service ended by itself, with exit code 0" ended_cleanly "$service"
  done
}

# A context for the images' build with the programs of our build in it, and what makes compose use it.
take_programs() {
  local service
  mkdir -p "$work/bin" "$work/deploy/packages"
  cp "$build"/bin/callslip-{tracker,gateway,bridge} "$work/bin/"
  cp deploy/Dockerfile "$work/deploy/"
  cp deploy/packages/runtime.txt "$work/deploy/packages/"
  {
    echo "services:"
    for service in tracker gateway bridge; do
      echo "  $service: {build: {context: $work, args: {PROGRAMS: prebuilt}}}"
    done
  } >"$work/prebuilt.yml"
}

outside() { node "$here/client_checks.mjs" "$@"; }

two_free_ports() {
  node -e '
    const {createServer} = require("node:net");
    const listeners = [createServer(), createServer()];
    let ready = 0;
    for (const listener of listeners) listener.listen(0, "127.0.0.1", () => {
      if (++ready < listeners.length) return;
      console.log(listeners.map((one) => one.address().port).join(" "));
      listeners.forEach((one) => one.close());
    });'
}

# Reads one field of a service's container, as a Go template.
inspect() { docker inspect --format "$2" "$(compose ps --quiet "$1")"; }

becomes_healthy() {
  local state
  for ((waited = 0; waited < HEALTH_LIMIT_SECONDS; waited++)); do
    state=$(inspect "$1" '{{.State.Status}} {{.State.Health.Status}}')
    [[ $state != "running healthy" ]] || return 0
    sleep 1
  done
  echo "after $HEALTH_LIMIT_SECONDS s: $state"
  return 1
}

published_on_loopback_only() {
  local addresses
  addresses=$(inspect "$1" '{{range .NetworkSettings.Ports}}{{range .}}{{.HostIp}} {{end}}{{end}}')
  echo "published on: $addresses"
  [[ $addresses == "127.0.0.1 " ]]
}

# What the kernel says of the running process counts, not what was configured.
runs_unprivileged() {
  local status
  status=$(compose exec -T "$1" cat /proc/1/status)
  grep -E '^(Uid|Gid|Cap|NoNewPrivs|Seccomp)' <<<"$status"
  grep -qP '^Uid:\t7900\t7900\t7900\t7900$' <<<"$status" &&
    grep -qP '^CapEff:\t0+$' <<<"$status" &&
    grep -qP '^CapBnd:\t0+$' <<<"$status" &&
    grep -qP '^NoNewPrivs:\t1$' <<<"$status"
}

has_read_only_root() {
  local root_mount
  root_mount=$(compose exec -T "$1" grep -E '^\S+ / ' /proc/1/mounts)
  echo "$root_mount"
  [[ $root_mount =~ ^[^\ ]+\ /\ [^\ ]+\ ro, ]]
}

# has_limit SERVICE NAME: a limit of the container, by its name in HostConfig.
has_limit() {
  local limit
  limit=$(inspect "$1" "{{.HostConfig.$2}}")
  echo "limit: $limit"
  ((limit > 0))
}

stop_within_grace() {
  local begin=$SECONDS
  compose stop
  echo "took $((SECONDS - begin)) s"
  ((SECONDS - begin < STOP_GRACE_SECONDS))
}

ended_cleanly() {
  local end
  end=$(inspect "$1" 'code {{.State.ExitCode}}, out of memory {{.State.OOMKilled}}')
  echo "$end"
  [[ $end == "code 0, out of memory false" ]]
}

main "$@"
