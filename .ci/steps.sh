# The steps of .ci/run, in order. Each is declared by `step NAME PURPOSE` and is the function step_NAME.
# shellcheck shell=bash

target=${CARGO_TARGET_DIR:-target}

# with_flags NAME FLAGS COMMAND...: builds with these compiler flags, in a folder of their own: no build evicts another.
with_flags() {
    local name=$1 flags=$2
    shift 2
    CARGO_TARGET_DIR=$target/$name RUSTFLAGS=$flags "$@"
}

parking() {
    with_flags parking '--cfg waitline_force_parking' "$@"
}

# The first command of README.md's code blocks that starts so. What the README promises is what is run.
readme_command() {
    local start=$1 command
    command=$(awk '/^ *```/ { code = !code; next } code' README.md | sed 's/^\$ //' | grep -m 1 -E "^$start( |\$)") ||
        die "no code block of README.md has the command '$start'"
    printf '%s\n' "$command"
}

run() {
    printf '+ %s\n' "$*" >&2
    bash -c "$*"
}

step lockfile "Cargo.lock is what Cargo.toml asks for"
step_lockfile() {
    cargo metadata --locked --format-version 1 >/dev/null
}

step format "rustfmt has nothing to change"
step_format() {
    cargo fmt --all --check -- --color never
    rustfmt --check --color never --edition 2024 .ci/public-api/src/main.rs .ci/threadless/src/main.rs .ci/fast-paths/probes.rs
}

step clippy "no warnings from clippy"
step_clippy() {
    cargo clippy --locked --workspace --all-targets -- -D warnings
}

step docs "no warnings from rustdoc, for users and for maintainers"
step_docs() {
    RUSTDOCFLAGS=-Dwarnings cargo doc --locked --no-deps
    RUSTDOCFLAGS=-Dwarnings cargo doc --locked --no-deps --document-private-items
}

step tests "the README's own test command"
step_tests() {
    local command
    command=$(readme_command 'cargo test')
    run "$command"
}

step parking "the tests on the portable back-end, without a warning"
step_parking() {
    parking without_warnings cargo test --locked
}

step clock "waits while the wall clock is set forwards and backwards, in a virtual machine"
needs_clock() {
    .ci/clock --fetch
}
step_clock() {
    .ci/clock
}

step delays "the tests of what threads do to each other, with delays wherever one can come in between"
step_delays() {
    with_own_flags delays '--cfg waitline_delays' cargo test --locked --test 'interleavings*'
}

step one-processor "the tests on a single processor"
step_one-processor() {
    local processor
    # The first of those that this process may use: there may be no processor 0 among them.
    processor=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    taskset -c "$processor" cargo test --locked --all-targets
    parking taskset -c "$processor" cargo test --locked --test timeouts
}

step stress "many more threads than processors, on either back-end"
step_stress() {
    export WAITLINE_STRESS_THREADS=$((64 * $(nproc))) WAITLINE_STRESS_SECONDS=4
    # The fence is missed only by code that is optimized.
    cargo test --locked --release --test 'stress*' --test atomic_wait_fence
    # Not optimized: that build is there already.
    parking cargo test --locked --test 'stress*'
}

step models "every schedule of the models with up to two preemptions (by itself, cargo loom allows three, and takes minutes)"
step_models() {
    LOOM_MAX_PREEMPTIONS=2 cargo loom
}

step mutants "each kept mutant still finds what it replaces (.ci/mutants runs them all, in ten minutes or so)"
step_mutants() {
    .ci/mutants --check
}

step wordcount "the README's example does its job, on the crate's own tree"
step_wordcount() {
    local command folder said expected
    command=$(readme_command 'cargo run --release --example wordcount --')
    folder=${command##*-- }
    said=$(run "$command" | tail -n 1)
    # A word is a run of bytes other than white space. `wc -w` ignores those without a printable character, and in the
    # C locale only ASCII has any, so that every other byte is made an x.
    expected=$(
        find "$folder" -type f -print0 |
            while IFS= read -r -d '' file; do
                LC_ALL=C tr -c '[:space:]' x <"$file" | LC_ALL=C wc -w
            done |
            awk '{ words += $1 } END { print words " words in " NR " files" }'
    )
    printf 'said:     %s\nexpected: %s\n' "$said" "$expected"
    [[ $said == "$expected" ]]
}

step benches "the benchmarks are built, and each runs once"
step_benches() {
    # Run as a test, each contest is held once. Nothing is measured, so nothing is optimized.
    cargo test --locked --package waitline-bench --all-targets
}

step embeddings "the pools that waitline is embedded in"
step_embeddings() {
    cargo test --locked --package waitline-embeddings --all-targets
}

step newcomer "the commands and programs of the front page, the guides and CONTRIBUTING.md, pasted"
step_newcomer() {
    .ci/newcomer
}

step api "the public API is the one in api.txt"
step_api() {
    .ci/api
}

step package "the package is complete and builds by itself"
step_package() {
    local log files file
    log=$(cargo package --locked --allow-dirty --package waitline 2>&1) || die "$log"
    printf '%s\n' "$log"
    [[ $log != *warning:* ]] || die "cargo package warns"
    files=$(cargo package --locked --allow-dirty --package waitline --list)
    for file in Cargo.lock README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE src/lib.rs examples/wordcount.rs; do
        grep -qxF "$file" <<<"$files" || die "$file is not in the package"
    done
}

step platforms "every other platform, run or compiled (.ci/platforms --list)"
needs_platforms() {
    .ci/platforms --fetch
}
step_platforms() {
    .ci/platforms
}

step sanitizer "the tests in which a primitive dies early, under AddressSanitizer"
needs_sanitizer() {
    need_nightly sanitizer
}
step_sanitizer() {
    # For what it reports, lines are needed.
    export CARGO_PROFILE_DEV_DEBUG=line-tables-only
    local host list
    host=$(rustc -vV | sed -n 's/^host: //p')
    # With --target, build scripts and macros are left as they are.
    local command=(cargo +nightly test --locked --target "$host" --test atomic_wait_lifetimes --test faults --test lifetimes --test pool may_die)
    list=$(with_flags asan -Zsanitizer=address "${command[@]}" -- --list)
    grep ': test$' <<<"$list" || die "no test has 'may_die' in its name"
    with_flags asan -Zsanitizer=address "${command[@]}"
}

step thread-sanitizer "plain memory between threads, along every edge, under ThreadSanitizer"
needs_thread-sanitizer() {
    need_nightly thread-sanitizer
    use_source_of_std thread-sanitizer
}
step_thread-sanitizer() {
    export CARGO_PROFILE_DEV_DEBUG=line-tables-only
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    # It sees what code does that was built for it, so std is built for it, too. Fences it does not know: the one pair that there
    # is (src/wait/table.rs) is between atomics, and no plain memory rests on it.
    with_flags tsan -Zsanitizer=thread with_own_flags delays '--cfg waitline_delays' \
        cargo +nightly test --locked -Zbuild-std=std,panic_unwind,test --target "$host" \
        --test message_passing --test lifetimes --test atomic_wait_lifetimes
}
