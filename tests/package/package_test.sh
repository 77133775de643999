#!/usr/bin/env bash
# Makes the Debian package of a build, installs it into a fresh Debian 12, boots that system's
# systemd in namespaces of its own, and tests the services from outside: whether agents get answers
# from the sandboxed units, and whether upgrade, removal and purge leave the right files.
#   package_test.sh BUILD_FOLDER
# Needs root and the package archive; installs missing packages. Ends everything that it started.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
# shellcheck source=tests/support/checks.sh
source "$here/../support/checks.sh"
# shellcheck source=tests/support/debian_root.sh
source "$here/../support/debian_root.sh"

readonly GATEWAY_PORT=7890
readonly TOKENS=/var/lib/callslip/gateway/tokens
readonly START_LIMIT_SECONDS=30
# In tenths, by service; systemd calls up to 4.0 "OK". Agents need more privileges than the
# services.
declare -rA MOST_EXPOSURE=([tracker]=15 [gateway]=15 [runner]=20)
readonly SERVICES=(tracker gateway runner)

work=
init_pid=
cgroup=

clean_up() {
  local status=$?
  trap - EXIT
  ((status == 0 || failed)) || failed=1
  ((failed == 0)) || in_machine journalctl --no-pager --lines 60 2>/dev/null || true
  shut_down
  [[ -z $work ]] || rm -rf "$work"
  summarize_checks
}

main() {
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  [[ $EUID == 0 ]] || die "only root can install a package and boot what it is in"
  install_missing_packages
  work=$(mktemp --directory /tmp/callslip-package.XXXXXX)

  require "the package is made" "$here/../../deploy/release/pack.sh" deb "$build" "$work/packages"
  deb=$(echo "$work"/packages/*.deb)
  check "its name says what it is" matches "$(basename "$deb")" '^callslip_[0-9.]+_amd64\.deb$'
  check "it depends on the libraries that it loads" \
    matches "$(dpkg-deb --field "$deb" Depends)" 'libgrpc\+\+1\.51.*libssl3'

  progress "installing it into a fresh Debian"
  root=$work/root
  mkdir "$root"
  tar --directory "$root" --extract --file "$(base_tarball)"
  quietly in_root apt-get update
  quietly in_root apt-get install --yes --no-install-recommends systemd
  cp "$deb" "$root/callslip.deb"
  require "it installs without a running systemd" \
    in_root apt-get install --yes --no-install-recommends /callslip.deb
  # shellcheck disable=SC2016  # dpkg fills it in.
  check "its configuration files are known as such" \
    matches "$(in_root dpkg-query --show --showformat '${Conffiles}' callslip)" \
    'gateway.yaml.*runner.yaml.*tracker.yaml'
  check "programs, protos and extension are there" holds_files
  local service
  for service in "${SERVICES[@]}"; do
    check "the unit of the $service is well-formed" \
      systemd-analyze verify --root="$root" "callslip-$service.service"
    check "the unit of the $service exposes little" systemd-analyze security --offline=true \
      --threshold="${MOST_EXPOSURE[$service]}" --root="$root" "callslip-$service.service"
  done

  progress "booting it"
  require "systemd comes up" boot
  for service in "${SERVICES[@]}"; do
    require "the $service starts" becomes_active "$service"
    check "the $service runs without root and without privileges" runs_unprivileged "$service"
  done
  check "the gateway started after the tracker" started_in_order
  check "nobody else can read the tokens" is_private "$TOKENS"
  check "nobody else reaches the tracker" is_private /run/callslip
  check "a command goes from an agent to a worker and back" command_passes
  check "the runner is idle, and the tracker knows it" runner_serves
  check "its own user alone reads the runner's files" is_private /var/lib/callslip-runner
  require "the runner takes an agent" gets_agent
  check "an agent of a session answers" agent_answers
  check "the runner is started again after a crash" survives_kill runner
  check "the tracker is started again after a crash" survives_kill tracker
  check "the gateway is started again after a crash" survives_kill gateway
  check "a command passes after that" command_passes
  check "the agent answers after that" agent_answers
  check "nothing in the log is a refused system call" no_refusals

  check "an upgrade restarts the services" upgrades
  check "a command passes after the upgrade" command_passes
  check "the services end by themselves" stops_cleanly
  check "a removal leaves data and configuration" removes
  check "a purge leaves nothing" purges
}

install_missing_packages() {
  local package
  local -a missing=()
  for package in dpkg-dev file mmdebstrap systemd; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  progress "installing ${missing[*]}"
  quietly apt-get update
  DEBIAN_FRONTEND=noninteractive quietly apt-get install --yes --no-install-recommends \
    "${missing[@]}"
}

matches() {
  echo "$1"
  tr "\n" " " <<<"$1" | sed "s, *\$,," | grep -qE "$2"
}

in_root() { DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }

holds_files() {
  local file
  for file in bin/callslip-tracker bin/callslip-gateway bin/callslip-bridge bin/callslip-runner \
    libexec/callslip/callslip-keeper \
    share/callslip/proto/callslip/tracker/v1/command_service.proto \
    share/callslip/extension/manifest.json share/doc/callslip/README.Debian \
    share/doc/callslip/copyright share/doc/callslip/examples/gateway.yaml; do
    test -s "$root/usr/$file" || { echo "$file is missing"; return 1; }
  done
}

# Boots the root as a machine that shares only the kernel: it has its own processes, mounts, network
# (only loopback) and control groups. It ends with its first process.
boot() {
  cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/callslip-package-$$
  mkdir "$cgroup" || { echo "systemd needs a cgroup2 hierarchy"; return 1; }
  # There is no console to log in on.
  ln -sf /dev/null "$root/etc/systemd/system/getty.target"
  # shellcheck disable=SC2016  # The inner shell's.
  env -i PATH="$PATH" bash -c '
    echo $$ >"$2/cgroup.procs"
    exec unshare --mount --pid --uts --ipc --net --cgroup --fork --kill-child bash -c "
      set -e
      mount --make-rprivate /
      mount --bind $1 $1
      mount -t proc proc $1/proc
      mount -t sysfs -o ro sysfs $1/sys
      mount -t cgroup2 cgroup2 $1/sys/fs/cgroup
      mount -t tmpfs tmpfs $1/run
      mount -t tmpfs tmpfs $1/tmp
      # Where the root is not that of the mount namespace, the kernel gives no user namespaces.
      cd $1
      pivot_root . mnt
      umount --lazy /mnt
      exec env container=other chroot . /lib/systemd/systemd"' \
    _ "$root" "$cgroup" >"$work/boot.log" 2>&1 </dev/null &
  unshare_pid=$!
  local tries
  for ((tries = 0; tries < START_LIMIT_SECONDS * 10; tries++)); do
    init_pid=$(pgrep --parent "$unshare_pid" || true)
    [[ -n $init_pid && -S /proc/$init_pid/root/run/systemd/private ]] && return
    kill -0 "$unshare_pid" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/boot.log"
  return 1
}

shut_down() {
  [[ -z $init_pid ]] || kill -9 "$init_pid" 2>/dev/null || true
  [[ -z ${unshare_pid:-} ]] || wait "$unshare_pid" 2>/dev/null || true
  [[ -z $cgroup ]] || find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}

in_machine() { [[ -n $init_pid ]] && nsenter --target "$init_pid" --all --root --wd "$@"; }

# Runs the host's client_checks.mjs in the machine's network namespace.
outside() {
  nsenter --target "$init_pid" --net node "$here/../compose/client_checks.mjs" "$@"
}

command_passes() { outside command-with-tokens "$GATEWAY_PORT" "$root$TOKENS"; }

property() { in_machine systemctl show --value --property "$2" "callslip-$1.service"; }

becomes_active() {
  local tries
  for ((tries = 0; tries < START_LIMIT_SECONDS * 10; tries++)); do
    [[ $(property "$1" ActiveState) != active ]] || return 0
    sleep 0.1
  done
  in_machine systemctl --no-pager status "callslip-$1.service"
  return 1
}

runs_unprivileged() {
  local status
  status=$(in_machine cat "/proc/$(property "$1" MainPID)/status")
  grep -E '^(Uid|Cap|NoNewPrivs|Seccomp)' <<<"$status"
  ! grep -qP '^Uid:.*\t0(\t|$)' <<<"$status" &&
    grep -qP '^CapEff:\t0+$' <<<"$status" &&
    grep -qP '^CapBnd:\t0+$' <<<"$status" &&
    grep -qP '^NoNewPrivs:\t1$' <<<"$status" &&
    grep -qP '^Seccomp:\t2$' <<<"$status"
}

as_runner() { in_machine runuser --user callslip-runner --supp-group callslip -- "$@"; }

runner_serves() {
  local tries
  for ((tries = 0; tries < START_LIMIT_SECONDS * 10; tries++)); do
    as_runner callslip-runner healthcheck --runner-file /etc/callslip/runner.yaml && return
    sleep 0.1
  done
  return 1
}

# Adds the tests' scripted agent, which needs only a C++ library. Its workspace is the runner's
# home.
gets_agent() {
  install --mode=0755 "$build/test_bin/callslip-scripted-agent" "$root/usr/local/bin/agent"
  cat >>"$root/etc/callslip/runner.yaml" <<YAML
agents: {scripted: {command: [/usr/local/bin/agent]}}
workspaces: {home: {dir: /var/lib/callslip-runner}}
YAML
  sed -i '/^agents:$/d; /^workspaces:$/d' "$root/etc/callslip/runner.yaml"
  as_runner callslip-runner check --runner-file /etc/callslip/runner.yaml || return 1
  in_machine systemctl restart callslip-runner && becomes_active runner
}

agent_answers() {
  outside agent-answers "$GATEWAY_PORT" scripted /var/lib/callslip-runner "$root$TOKENS"
}

started_in_order() {
  local tracker gateway
  tracker=$(property tracker ActiveEnterTimestampMonotonic)
  gateway=$(property gateway ExecMainStartTimestampMonotonic)
  echo "tracker ready at $tracker us, gateway begun at $gateway us"
  ((tracker <= gateway))
}

is_private() { matches "$(in_machine stat --format '%U %a' "$1")" '^callslip(-runner)? [67][05]0$'; }

survives_kill() {
  local before tries
  before=$(property "$1" MainPID)
  in_machine systemctl kill --signal=KILL "callslip-$1.service" || return 1
  for ((tries = 0; tries < START_LIMIT_SECONDS * 10; tries++)); do
    [[ $(property "$1" MainPID) =~ ^($before|0)$ ]] || break
    sleep 0.1
  done
  becomes_active "$1" && [[ $(property "$1" MainPID) != "$before" ]]
}

no_refusals() {
  ! in_machine journalctl --no-pager --unit 'callslip-*' |
    grep -iE 'SIGSYS|Operation not permitted|Permission denied'
}

upgrades() {
  local before
  before=$(property gateway MainPID)
  in_machine dpkg --install /callslip.deb || return 1
  becomes_active tracker && becomes_active gateway && becomes_active runner &&
    [[ $(property gateway MainPID) != "$before" ]]
}

stops_cleanly() {
  local service
  in_machine systemctl stop callslip-runner callslip-gateway callslip-tracker || return 1
  for service in "${SERVICES[@]}"; do
    echo "$service: $(property "$service" Result) $(property "$service" ExecMainStatus)"
    [[ $(property "$service" Result) == success && $(property "$service" ExecMainStatus) == 0 ]] ||
      return 1
  done
}

removes() {
  in_machine systemctl start callslip-gateway && in_machine dpkg --remove callslip || return 1
  [[ $(property gateway ActiveState) == inactive && -e $root$TOKENS &&
    -e $root/etc/callslip/gateway.yaml && ! -e $root/usr/bin/callslip-gateway ]]
}

purges() {
  local left
  in_machine dpkg --purge callslip || return 1
  left=$(find "$root/etc" "$root/var/lib" "$root/usr" -name '*callslip*')
  echo "$left"
  [[ -z $left ]]
}

main
