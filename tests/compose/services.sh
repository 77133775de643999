# The services of docker-compose.yml, started and tested from outside. Sourced by compose_test.sh,
# cluster_test.sh and image_test.sh, after checks.sh and engine.sh; they set `here`, `repository`,
# COMPOSE_PROJECT_NAME and COMPOSE_FILES, an array.
# shellcheck shell=bash disable=SC2154

# Equal to stop_grace_period in docker-compose.yml.
readonly STOP_GRACE_SECONDS=10
readonly HEALTH_LIMIT_SECONDS=60
readonly SERVICES=(tracker gateway runner)

compose() {
  local file
  local -a files=()
  for file in "${COMPOSE_FILES[@]}"; do files+=(--file "$file"); done
  docker-compose "${files[@]}" --project-directory "$repository" --profile tools "$@"
}

# Starts them on free ports.
start_services() {
  read -r CALLSLIP_GATEWAY_PORT CALLSLIP_TRACKER_PORT < <(two_free_ports)
  export CALLSLIP_GATEWAY_PORT CALLSLIP_TRACKER_PORT
  progress "starting the services on ports $CALLSLIP_GATEWAY_PORT and $CALLSLIP_TRACKER_PORT"
  require "docker-compose up starts the services" compose up --detach "${SERVICES[@]}"
  local service
  for service in "${SERVICES[@]}"; do
    require "$service becomes healthy" becomes_healthy "$service"
  done
}

check_answers() {
  check "the gateway is ready" outside http-ok "$CALLSLIP_GATEWAY_PORT" /readyz
  check "an agent reaches the tools over HTTP" outside mcp-over-http "$CALLSLIP_GATEWAY_PORT"
  check "another service reaches the tracker over gRPC" \
    outside grpc-serving "$CALLSLIP_TRACKER_PORT"
  check "whoever shows the tracker no token is told nothing" \
    outside grpc-strangers-refused "$CALLSLIP_TRACKER_PORT"
  check "a service with a token of the tracker's file is let in" with_tokens_of_tracker
  check "an agent reaches the tools over the bridge" \
    outside mcp-over-stdio docker-compose run --rm -T bridge
  check "the runner is there, and idle" outside runner-idle "$CALLSLIP_GATEWAY_PORT"
}

with_tokens_of_tracker() {
  local tokens
  tokens=$(mktemp)
  compose exec -T tracker cat /var/lib/callslip/tokens >"$tokens" &&
    outside grpc-with-token "$CALLSLIP_TRACKER_PORT" "$tokens"
  local result=$?
  rm -f "$tokens"
  return $result
}

check_stop() {
  check "the services stop within their grace period" stop_within_grace
  local service
  for service in "${SERVICES[@]}"; do
    check "$service ended by itself, with exit code 0" ended_cleanly "$service"
  done
}

# Prints their logs if a check has failed.
remove_services() {
  if ((failed)); then
    compose logs --no-color --tail 40 "${SERVICES[@]}" 2>/dev/null || true
  fi
  compose down --volumes --rmi local --timeout "$STOP_GRACE_SECONDS" >/dev/null 2>&1 || true
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

# inspect SERVICE TEMPLATE: a field of the service's container, as a Go template.
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
