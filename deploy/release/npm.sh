# The packages for npm: the launcher with the extension, and the programs with all their libraries
# except glibc. Sourced by pack.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154  # pack.sh's `work`.

readonly NEWEST_GLIBC=2.36

# The packages whose headers are compiled in, and glibc, since the keeper is static.
readonly COMPILED_IN=(libboost1.81-dev nlohmann-json3-dev libc6)

# libraries PROGRAM...: the paths of the libraries that they load, directly or not, without glibc.
libraries() {
  ldd "$@" | sed -n 's/^\t.* => \(\/.*\) (0x.*/\1/p' | sort -u |
    grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv|ld-linux[^/]*)\.so\.[0-9]+$' || true
}

# package_of LIBRARY: its Debian package. dpkg may know the path before /usr was merged.
package_of() {
  local file
  file=$(readlink --canonicalize "$1")
  { dpkg-query --search "$file" 2>/dev/null || dpkg-query --search "${file#/usr}" 2>/dev/null; } |
    sed -n '1s/:.*//p'
}

# copy_licence PACKAGE FOLDER
copy_licence() {
  [[ -n $1 && -f /usr/share/doc/$1/copyright ]] || die "there is no licence of ${1:-a library} here"
  cp --dereference "/usr/share/doc/$1/copyright" "$2/$1"
}

# bundle_libraries FOLDER: copies the libraries of the programs in its bin/ to lib/, and their
# licences to licenses/.
bundle_libraries() {
  local folder=$1 file
  local -a dynamic=()
  for file in "$folder"/bin/*; do
    if [[ $(readelf --dynamic "$file") == *NEEDED* ]]; then dynamic+=("$file"); fi
  done
  mkdir "$folder/lib" "$folder/licenses"
  cp "$ROOT/deploy/debian/copyright" "$folder/licenses/callslip"
  for file in $(libraries "${dynamic[@]}"); do
    cp --dereference "$file" "$folder/lib/"
    copy_licence "$(package_of "$file")" "$folder/licenses"
  done
  for file in "${COMPILED_IN[@]}"; do copy_licence "$file" "$folder/licenses"; done
  grep --no-filename --only-matching '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' \
    "$folder"/licenses/* | sort -u | xargs cp --dereference --target-directory="$folder/licenses"
  # RPATH also applies to the libraries' own libraries; RUNPATH would not.
  # shellcheck disable=SC2016  # The loader fills it in.
  patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "${dynamic[@]}"
  file=$(libraries "${dynamic[@]}" | grep -v "^$folder/" || true)
  [[ -z $file ]] || die "programs still load $file"
  check_glibc "${dynamic[@]}" "$folder"/lib/*
}

# check_glibc FILE...: fails if one of them needs a newer glibc than the oldest system has.
check_glibc() {
  local newest
  newest=$(objdump --dynamic-syms "$@" | grep -o 'GLIBC_[0-9.]*' |
    cut -d _ -f 2 | cat - <(echo "$NEWEST_GLIBC") | sort --version-sort --unique | tail --lines=1)
  [[ $newest == "$NEWEST_GLIBC" ]] || die "programs need glibc $newest, newer than $NEWEST_GLIBC"
}

# tar_package FOLDER FILE: npm's layout, with all files in a folder `package`.
tar_package() {
  level "$1"
  chmod --recursive u=rwX,go=rX "$1"
  tar --create --sort=name --format=ustar --owner=0 --group=0 --numeric-owner \
    --directory "${1%/*}" --transform 's,^[^/]*,package,' "${1##*/}" | gzip -9 --no-name >"$2"
  echo "$2"
}

npm() {
  local bin=$1 out launcher=$work/launcher programs=$work/programs
  [[ $(platform) == linux-x64 ]] || die "npm's packages are made for linux-x64 only"
  out=$(out_folder "$2")
  copy_programs "$bin" "$programs/bin" callslip-bridge callslip-gateway callslip-runner callslip-tracker
  copy_program "$bin/callslip-keeper" "$programs/bin"
  cp "$ROOT/deploy/npm/platform/package.json" "$ROOT/LICENSE" "$programs/"
  if is_elf "$programs/bin/callslip-gateway"; then bundle_libraries "$programs"; fi
  mkdir "$launcher"
  cp --recursive "$ROOT"/deploy/npm/{package.json,README.md,bin,lib} "$ROOT/LICENSE" "$launcher/"
  copy_extension "$launcher/extension"
  tar_package "$launcher" "$out/callslip-$(version).tgz"
  tar_package "$programs" "$out/callslip-linux-x64-$(version).tgz"
}
