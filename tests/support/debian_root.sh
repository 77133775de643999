# A fresh Debian as a tarball, made from the package archive and kept for later runs. Sourced by
# tests that have sourced checks.sh; only root can make one.
# shellcheck shell=bash

# shellcheck source=deploy/debian_sources.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/debian_sources.sh"

CACHE_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/callslip

# base_tarball [SUITE [PACKAGE,…]]: the path of the tarball of that Debian, 12 by default, with
# these packages; makes it if it is missing. It uses the host's package sources and proxy settings,
# the only ones that are known to work on this machine; other settings make another tarball.
base_tarball() {
  local suite=${1:-bookworm} packages=${2:-} tarball
  tarball=$CACHE_DIR/$suite-$(apt_settings "$suite" "$packages").tar
  if [[ ! -s $tarball ]]; then
    progress "making a Debian $suite from its packages"
    make_base_tarball "$tarball" "$suite" "$packages"
  fi
  printf '%s\n' "$tarball"
}

# apt_settings [SUITE [PACKAGE,…]]: the hash of the sources, the settings and the packages.
apt_settings() {
  (host_sources "${1:-bookworm}"; host_apt_options; echo "${2:-}") | sha256sum | cut -c 1-16
}

make_base_tarball() {
  local tarball=$1 suite=$2 packages=$3 work
  work=$(mktemp --directory)
  mkdir -p "$CACHE_DIR"
  host_sources "$suite" >"$work/sources.list"
  host_apt_options >"$work/apt.conf"
  # Without the host's sources (it may not be a Debian), mmdebstrap uses its own.
  local -a sources=()
  [[ ! -s $work/sources.list ]] || sources=("$work/sources.list")
  if ! mmdebstrap --quiet --variant=minbase --aptopt="$work/apt.conf" \
      ${packages:+--include="$packages"} "$suite" "$work/base.tar" "${sources[@]}" 2>"$work/log"; then
    cat "$work/log" >&2
    die "the base image could not be made"
  fi
  mv "$work/base.tar" "$tarball"
  rm -rf "$work"
}
