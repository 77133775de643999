#!/usr/bin/env bash
# Starts the services as docker-compose.yml describes them, and tests them from outside: who can
# reach them, their privileges, whether agents get answers, whether they stop. The images take the
# programs of an existing build; image_test.sh tests the build from sources.
#   compose_test.sh BUILD_FOLDER
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

# A name of its own keeps this run apart from other runs and from services in everyday use.
export COMPOSE_PROJECT_NAME=callslip-test-$$
work=$(mktemp --directory)
COMPOSE_FILES=("$repository/docker-compose.yml" "$work/prebuilt.yml")

clean_up() {
  local status=$?
  trap - EXIT
  # An end before the first check is a failure too.
  ((status == 0 || failed)) || failed=1
  remove_services
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

  take_programs
  progress "making the images"
  require "the images build" compose build
  start_services
  local service
  for service in tracker gateway; do
    check "$service is published on loopback only" published_on_loopback_only "$service"
  done
  check "the runner is not published" not_published runner
  for service in "${SERVICES[@]}"; do
    check "$service runs without root and without privileges" runs_unprivileged "$service"
    check "$service has a read-only root file system" has_read_only_root "$service"
    check "$service has a memory limit" has_limit "$service" Memory
    check "$service has a limit on processes" has_limit "$service" PidsLimit
  done

  check "the tracker can write to its volume" \
    compose exec -T tracker touch /var/lib/callslip/compose_test
  check "the gateway refuses a foreign Host" outside foreign-host-refused "$CALLSLIP_GATEWAY_PORT"
  check_answers
  require "the runner takes an agent" gets_agent
  check "an agent of a session answers" \
    outside agent-answers "$CALLSLIP_GATEWAY_PORT" agent /var/lib/callslip
  progress "running the end-to-end test against the services"
  check "a command goes from agent to browser and back" \
    "$here/agent_to_browser.sh" "http://127.0.0.1:$CALLSLIP_GATEWAY_PORT"

  check_stop
}

# A build context with the programs of our build, and a compose file that uses it.
take_programs() {
  local service
  mkdir -p "$work/bin" "$work/libexec/callslip" "$work/deploy/packages"
  cp "$build"/bin/callslip-{tracker,gateway,runner,bridge} "$work/bin/"
  cp "$build/bin/callslip-keeper" "$work/libexec/callslip/"
  cp deploy/Dockerfile "$work/deploy/"
  cp deploy/packages/runtime.txt "$work/deploy/packages/"
  {
    echo "services:"
    for service in "${SERVICES[@]}" bridge; do
      echo "  $service: {build: {context: $work, args: {PROGRAMS: prebuilt}}}"
    done
  } >"$work/prebuilt.yml"
}

# Mounts the tests' scripted agent into the same container.
gets_agent() {
  cat >"$work/agent.yml" <<YAML
services:
  runner:
    environment: {CALLSLIP_AGENT: /usr/local/bin/agent, CALLSLIP_DIR: /var/lib/callslip}
    volumes: ["$build/test_bin/callslip-scripted-agent:/usr/local/bin/agent:ro"]
YAML
  COMPOSE_FILES+=("$work/agent.yml")
  compose up --detach runner && becomes_healthy runner
}

not_published() {
  local ports
  ports=$(inspect "$1" '{{range .NetworkSettings.Ports}}{{range .}}{{.HostPort}} {{end}}{{end}}')
  echo "published: $ports"
  [[ -z $ports ]]
}

published_on_loopback_only() {
  local addresses
  addresses=$(inspect "$1" '{{range .NetworkSettings.Ports}}{{range .}}{{.HostIp}} {{end}}{{end}}')
  echo "published on: $addresses"
  [[ $addresses == "127.0.0.1 " ]]
}

# Reads the running process's status from the kernel, not the configuration.
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

main "$@"
