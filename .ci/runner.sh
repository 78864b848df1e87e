# Runs named steps one after the other and keeps count. For scripts that declare steps; common.sh comes first.
# shellcheck shell=bash

names=()
declare -A purpose

# step NAME PURPOSE: declares the step that the function step_NAME carries out. Where there is a function needs_NAME, it runs
# before, in the same shell: it gets what the step needs, or skips it.
step() {
    names+=("$1")
    purpose[$1]=$2
}

get_needs() {
    ! declare -F "needs_$1" >/dev/null || "needs_$1"
}

# Gets what the steps need, of each as much as can be had.
fetch() {
    local name
    for name in "${names[@]}"; do
        # Not in a condition, as below.
        (
            set -e
            get_needs "$name"
        )
        true
    done
}

passed=0 failed=0 skipped=0
report=""

# Runs one step in a shell of its own, whose exit status is kept, and adds a line to the report.
run_step() {
    local name=$1 start=$SECONDS status verdict
    printf '\n==> %s: %s\n' "$name" "${purpose[$name]}"
    # Not in a condition: there `set -e` would be without effect inside.
    set +e
    (
        set -e
        get_needs "$name"
        "step_$name"
    )
    status=$?
    set -e
    case $status in
        0) verdict=passed passed=$((passed + 1)) ;;
        "$SKIPPED") verdict=SKIPPED skipped=$((skipped + 1)) ;;
        *) verdict=FAILED failed=$((failed + 1)) ;;
    esac
    printf -v report '%s%-16s %-8s %4d s\n' "$report" "$name" "$verdict" $((SECONDS - start))
    printf '<== %s: %s after %d s\n' "$name" "$verdict" $((SECONDS - start))
}

summary() {
    printf '\n%s%-16s %-8s %4d s\n' "$report" all "" "$SECONDS"
    printf 'steps: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
}

# run_steps [--list | --fetch | NAME...]: the steps named, or all of them, until one fails.
run_steps() {
    local name
    if [[ ${1:-} == --list ]]; then
        for name in "${names[@]}"; do
            printf '%-16s %s\n' "$name" "${purpose[$name]}"
        done
        return
    fi
    if [[ ${1:-} == --fetch ]]; then
        set +e
        fetch
        return
    fi
    for name in "$@"; do
        [[ -v purpose[$name] ]] || die "there is no step '$name'; $0 --list shows them"
    done
    [[ $# -gt 0 ]] || set -- "${names[@]}"
    for name in "$@"; do
        run_step "$name"
        [[ $failed -eq 0 ]] || break
    done
    summary
    [[ $failed -eq 0 ]] || die "$name failed; $0 $name repeats it alone"
    # Nothing passed: whoever runs this as one of his steps is not to call it so.
    [[ $passed -gt 0 ]] || exit "$SKIPPED"
}
