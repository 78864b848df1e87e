# What the scripts in this folder share. To be sourced at the root of the checkout.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the variables are for those who source this

shopt -s inherit_errexit

# The exit status of a step that this machine can't do, as automake's test drivers have it.
SKIPPED=77

# Tools that are slow to get. Nothing of the crate's own build goes here.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/waitline-ci

export CARGO_TERM_COLOR=never
export RUST_BACKTRACE=1
# A CI build is made once: nothing to be incremental for. A panic says its line, and names are all that a backtrace needs.
export CARGO_INCREMENTAL=0
export CARGO_PROFILE_DEV_DEBUG=0
# A toolchain that is missing is a reason to skip a step, not to download one.
export RUSTUP_AUTO_INSTALL=0
# Each step sets the flags of its own build.
unset RUSTFLAGS RUSTDOCFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Ends the step without a verdict.
skip() {
    printf 'SKIPPED %s\n' "$*"
    exit "$SKIPPED"
}

# need_nightly STEP: skips the step if there is no nightly toolchain.
need_nightly() {
    cargo +nightly --version >/dev/null 2>&1 || skip "$1: there is no nightly toolchain"
}

# need_package STEP COMMAND PACKAGE...: sees to it that the command is there, by Debian's packages if need be.
need_package() {
    local step=$1 command=$2
    shift 2
    apt_is_done
    command -v "$command" >/dev/null && return
    install_packages "$step" "needs $command" "$@"
}

# Waits until no other run installs packages: a command may be there before all that it needs.
apt_is_done() {
    mkdir -p "$cache"
    flock "$cache/apt-lock" true
}

# A mirror of something else may be down; whether the packages can be had, the next command tells.
apt_update() {
    mkdir -p "$cache"
    flock "$cache/apt-lock" apt-get update -qq || true
}

# install_packages STEP WHY PACKAGE...
install_packages() {
    local step=$1 why=$2
    shift 2
    [[ ${CI:-} == true && $(id -u) -eq 0 ]] || skip "$step: $why (Debian's packages: $*)"
    mkdir -p "$cache"
    (
        # apt does one thing at a time, and does not always wait for its turn.
        flock 9
        apt-get update -qq || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
            skip "$step: $why, and Debian's packages can't be had: $*"
    ) 9>"$cache/apt-lock" || exit
}

# with_own_flags NAME FLAGS COMMAND...: for flags that mean nothing to dependencies. Those are taken from the plain build,
# and only the crate's own code is compiled again: cargo tells a wrapper for that by its path. It is kept in $target.
with_own_flags() {
    local wrapper flags=$2
    mkdir -p "${target:?}"
    wrapper=$(realpath "$target")/rustc-$1
    shift 2
    printf '#!/bin/sh\nexec "$@" %s\n' "$flags" >"$wrapper"
    chmod +x "$wrapper"
    RUSTC_WORKSPACE_WRAPPER=$wrapper "$@"
}

# Warnings of the crate's own code are errors.
without_warnings() {
    with_own_flags no-warnings -Dwarnings "$@"
}

# Waits until no other run changes the cache. The lock goes with the process, or by unlock_cache.
lock_cache() {
    mkdir -p "$cache"
    exec {cache_lock}>"$cache/lock"
    flock "$cache_lock"
}

unlock_cache() {
    flock --unlock "$cache_lock"
    exec {cache_lock}>&-
}

# The Debian release whose newer packages are used where this machine's are too old. Its Rust is the oldest one promised.
newer_debian=trixie

# The mirror that this machine has its own Debian packages from.
debian_mirror() {
    local codename
    codename=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    # shellcheck disable=SC2016  # the dollar is for apt
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' "Codename: $codename" | sed -n 1p
}

# unpack_debian STEP FOLDER OPTION...: unpacks packages of the newer Debian into the folder, without installing them, unless
# it is there. The options are mmdebstrap's.
unpack_debian() {
    local step=$1 folder=$2 from
    shift 2
    lock_cache
    if [[ -d $folder ]]; then
        unlock_cache
        return
    fi
    [[ $(id -u) -eq 0 ]] || skip "$step: packages of Debian $newer_debian are unpacked by root only"
    need_package "$step" mmdebstrap mmdebstrap
    from=$(debian_mirror)
    if [[ -z $from ]]; then
        apt_update
        from=$(debian_mirror)
    fi
    [[ -n $from ]] || skip "$step: apt names no Debian mirror"
    rm -rf "$folder.partial"
    mmdebstrap --quiet --variant=extract --aptopt='APT::Sandbox::User "root"' "$@" \
        "$newer_debian" "$folder.partial" "$from" || skip "$step: packages of Debian $newer_debian can't be had"
    mv "$folder.partial" "$folder"
    unlock_cache
}

# use_source_of_std STEP: for -Zbuild-std with the nightly toolchain, the source that it was built from, or next to it: Debian
# unstable's of the same version. Of the package, which is mostly the compiler, the library is kept.
use_source_of_std() {
    local step=$1 version root check_dates
    # Unstable's lists expire. Where this machine's apt does not mind, as with a mirror that stands still, it is not to here.
    command -v apt-config >/dev/null || skip "$step: only Debian is provided for"
    check_dates=$(apt-config dump --format '%v' Acquire::Check-Valid-Until)
    version=$(rustc +nightly --version | sed 's/^rustc \([0-9]*\.[0-9]*\)\..*/\1/')
    root=$cache/std-$version
    # shellcheck disable=SC2016  # the dollars are for the hook
    newer_debian=unstable unpack_debian "$step" "$root" --aptopt="Acquire::Check-Valid-Until \"${check_dates:-true}\"" --extract-hook='
        cd "$1/tmp" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get download -qq "rust-src='"$version"'.*" &&
        dpkg-deb --fsys-tarfile rust-src_*.deb | tar -x -C "$1" --wildcards "./usr/src/rustc-*/library/*" && rm rust-src_*.deb'
    __CARGO_TESTS_ONLY_SRC_ROOT=$(printf '%s\n' "$root"/usr/src/rustc-*/library)
    export __CARGO_TESTS_ONLY_SRC_ROOT
}

# wrap_program ROOT FILE NAME: a script of that name in $root/wrappers that runs the file with the loader and the libraries
# that are unpacked beside it.
wrap_program() {
    local root=$1 file=$2 name=$3
    mkdir -p "$root/wrappers"
    # Written beside it first: another run may be using it.
    cat >"$root/wrappers/$name.$$" <<EOF
#!/bin/sh
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$root/$file" "\$@"
EOF
    chmod +x "$root/wrappers/$name.$$"
    mv "$root/wrappers/$name.$$" "$root/wrappers/$name"
}

# Processors that Debian has std built for, besides this one.
foreign_architectures=(arm64 armel armhf i386 riscv64 s390x)

# use_oldest_rust STEP: puts the oldest Rust promised first on PATH, as Debian ships it, with std for many targets and with
# std's source for the others. It runs where it is unpacked, with its own loader and libraries; the linker is this machine's.
use_oldest_rust() {
    local step=$1 root promised version
    [[ $(uname -m) == x86_64 ]] || skip "$step: only x86-64 is provided for"
    # Those of other processors are unpacked alone: what they depend on is for programs that run there.
    # shellcheck disable=SC2016,SC2054  # the dollars are for the hooks, the commas for apt
    local options=(
        --architectures="$(printf '%s,' amd64 "${foreign_architectures[@]}")"
        --include=rustc,cargo,rust-src,lld,libstd-rust-dev-wasm32
        --extract-hook='cd "$1/tmp" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get download -qq '"${foreign_architectures[*]/#/libstd-rust-dev:}"
        --extract-hook='for package in "$1"/tmp/*.deb; do dpkg-deb -x "$package" "$1" && rm "$package" || exit; done'
    )
    # Another list of packages is another folder.
    root=$cache/rust-$newer_debian-$(cksum <<<"${options[*]}" | cut -d ' ' -f 1)
    unpack_debian "$step" "$root" "${options[@]}"
    wrap_program "$root" usr/bin/cargo cargo
    wrap_program "$root" usr/bin/rustc rustc
    wrap_program "$root" usr/bin/lld rust-lld
    export PATH=$root/wrappers:$PATH RUSTC=$root/wrappers/rustc
    promised=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    version=$(rustc --version)
    printf '%s\n' "$version"
    case $version in
        "rustc $promised."*) ;;
        *) die "Cargo.toml promises Rust ${promised:-?}, which is not what Debian $newer_debian has" ;;
    esac
}
