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
# A CI build is made once: nothing to be incremental for, and names and lines are all that a backtrace needs.
export CARGO_INCREMENTAL=0
export CARGO_PROFILE_DEV_DEBUG=line-tables-only
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
    command -v "$command" >/dev/null && return
    [[ ${CI:-} == true && $(id -u) -eq 0 ]] || skip "$step: needs $command (Debian's packages: $*)"
    # A mirror of something else may be down; whether the packages can be had, the next command tells.
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
        skip "$step: needs $command, and Debian's packages can't be had: $*"
}

# Waits until no other run changes the cache. The lock goes with the process.
lock_cache() {
    mkdir -p "$cache"
    exec {cache_lock}>"$cache/lock"
    flock "$cache_lock"
}
