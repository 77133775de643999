#!/usr/bin/env bash
# Makes npm's packages of a build, and tests them on a Debian with Node and Chromium, without our
# sources and without a network: runs npm_checks.mjs in namespaces of its own.
#   npm_test.sh BUILD_FOLDER [SUITE]     SUITE: bookworm (default) or trixie
# Needs root, the package archive, and the packages of ../e2e and ../deploy; installs missing
# packages.
set -euo pipefail

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
suite=${2:-bookworm}
# shellcheck source=tests/support/checks.sh
source "$tests/support/checks.sh"
# shellcheck source=tests/support/debian_root.sh
source "$tests/support/debian_root.sh"

install_missing_packages() {
  local package
  local -a missing=()
  for package in binutils iproute2 mmdebstrap patchelf; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  progress "installing ${missing[*]}"
  quietly apt-get update
  DEBIAN_FRONTEND=noninteractive quietly apt-get install --yes --no-install-recommends \
    "${missing[@]}"
}

# in_machine COMMAND...: runs it in $root, with processes and a loopback of its own, and the tests
# in /tests.
in_machine() {
  # shellcheck disable=SC2016  # The inner shell's.
  unshare --mount --pid --ipc --net --fork --kill-child bash -c '
    set -e
    root=$1
    ip link set lo up
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount --bind -o ro "$2" "$root/tests"
    cd /
    exec env -i PATH=/tests/deploy/node_modules/.bin:/usr/sbin:/usr/bin PACKAGES=/packages \
      chroot "$root" "${@:3}"' _ "$root" "$tests" "$@"
}

[[ $EUID == 0 ]] || die "only root can make a Debian"
install_missing_packages
work=$(mktemp --directory /tmp/callslip-npm.XXXXXX)
trap 'rm -rf --one-file-system "$work" "$log"' EXIT
root=$work/root
mkdir "$root"
tar --directory "$root" --extract --file "$(base_tarball "$suite" chromium,nodejs)"
mkdir "$root/tests" "$root/packages"
progress "packing"
"$tests/../deploy/release/pack.sh" npm "$build/bin" "$root/packages" >/dev/null
progress "Debian $suite: $(du --bytes --total --human-readable "$root"/packages/* | tail --lines=1 | cut -f 1)B of packages"
in_machine timeout 240 node --test --test-reporter=spec /tests/package/npm_checks.mjs
