# Gets a container engine and the base image ready, starting from a bare Debian. Sourced by
# compose_test.sh, cluster_test.sh and image_test.sh, after checks.sh; the functions are called in
# the order of this file.
# shellcheck shell=bash

# shellcheck source=tests/support/debian_root.sh
source "$(dirname "${BASH_SOURCE[0]}")/../support/debian_root.sh"

readonly BASE_IMAGE=debian:bookworm-slim
ENGINE_PID=
ENGINE_DIR=

install_missing_packages() {
  local -a missing=()
  command -v dockerd >/dev/null || missing+=(docker.io)
  command -v docker-compose >/dev/null || missing+=(docker-compose)
  command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
  command -v node >/dev/null || missing+=(nodejs)
  ((${#missing[@]})) || return 0

  progress "installing ${missing[*]}"
  [[ $EUID == 0 ]] || die "run as root, or first: sudo apt-get install ${missing[*]}"
  quietly apt-get update
  DEBIAN_FRONTEND=noninteractive quietly apt-get install --yes --no-install-recommends \
    "${missing[@]}"
}

# The images need BuildKit. Debian's docker.io 20.10 client has it built in; a client from 23.0 on
# needs the buildx plugin for it. A client with neither is skipped for the one in /usr/bin.
choose_client() {
  export DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1 BUILDKIT_PROGRESS=plain
  if ! docker buildx version >/dev/null 2>&1; then
    export PATH=/usr/bin:$PATH
  fi
}

# Uses a running engine, or else starts one for the test: its sockets and process files are in a
# temporary folder (a Unix socket's path must be short), its images and compiler cache in the cache
# folder, so that the next run is quick.
start_engine() {
  if docker info >/dev/null 2>&1; then
    return
  fi
  [[ $EUID == 0 ]] || die "no container engine answers, and only root can start one"
  mkdir -p "$CACHE_DIR"
  # Two daemons on one data-root damage it. The lock is held until this script ends.
  exec 9>"$CACHE_DIR/engine.lock"
  if ! flock --nonblock 9; then
    progress "another run uses the engine in $CACHE_DIR: waiting for it"
    flock --wait 600 9 || die "another run has used the engine in $CACHE_DIR for ten minutes"
  fi

  ENGINE_DIR=$(mktemp --directory /tmp/callslip-engine.XXXXXX)
  # A file of its own, so that an /etc/docker/daemon.json can't contradict the flags. The limit
  # keeps the build cache from growing without end.
  printf '{"builder": {"gc": {"enabled": true, "defaultKeepStorage": "8GB"}}}\n' \
    >"$ENGINE_DIR/daemon.json"
  # The storage driver (overlay2 if the kernel has it) and iptables rules are left to dockerd's
  # defaults. The bridge must not have a larger MTU than the machine's default route: if "packet too
  # big" messages get lost, downloads inside the build would hang.
  dockerd --config-file "$ENGINE_DIR/daemon.json" --host "unix://$ENGINE_DIR/docker.sock" \
    --data-root "$CACHE_DIR/engine" --exec-root "$ENGINE_DIR/exec" \
    --pidfile "$ENGINE_DIR/dockerd.pid" --mtu "$(default_route_mtu)" \
    >"$ENGINE_DIR/dockerd.log" 2>&1 9>&- &
  ENGINE_PID=$!
  export DOCKER_HOST=unix://$ENGINE_DIR/docker.sock

  local tries
  for ((tries = 0; tries < 60; tries++)); do
    if docker info >/dev/null 2>&1; then
      progress "started a container engine (pid $ENGINE_PID)"
      return
    fi
    kill -0 "$ENGINE_PID" 2>/dev/null || break
    sleep 0.5
  done
  tail -n 20 "$ENGINE_DIR/dockerd.log" >&2
  die "the container engine did not start"
}

default_route_mtu() {
  local device
  device=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
  cat "/sys/class/net/${device:-lo}/mtu"
}

# Stops the engine only if start_engine() started it. Like every dockerd, it leaves its (now idle)
# docker0 bridge and forwarding rules behind; the next one finds and reuses them.
stop_engine() {
  [[ -n $ENGINE_PID ]] || return 0
  kill "$ENGINE_PID" 2>/dev/null || true
  wait "$ENGINE_PID" 2>/dev/null || true
  rm -rf "$ENGINE_DIR"
  ENGINE_PID=
}

# The base image is pulled if a registry is reachable. Otherwise it is made from the package archive
# and given the same name, so that the Dockerfile sees no difference. An image made here uses the
# host's package sources and proxy settings, the only ones known to work on this machine; its label
# records them, and a change of them has it made again.
ensure_base_image() {
  local settings made_with tarball
  settings=$(apt_settings)
  if made_with=$(docker image inspect "$BASE_IMAGE" \
      --format '{{index .Config.Labels "callslip.apt-settings"}}' 2>/dev/null); then
    [[ -z $made_with || $made_with == "$settings" ]] && return
  elif timeout 60 docker pull --quiet "$BASE_IMAGE" >/dev/null 2>&1; then
    progress "pulled $BASE_IMAGE"
    return
  fi

  tarball=$(base_tarball)
  docker import --change "LABEL callslip.apt-settings=$settings" "$tarball" "$BASE_IMAGE" >/dev/null
}
