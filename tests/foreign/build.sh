#!/bin/sh
# Build the Go programs of this folder into go/bin/.
#
# Where they cannot be built for want of Go or of a module, one line says so and
# the exit code is 0: nothing else needs them. A real build error is an error.
set -eu

cd "$(dirname "$0")/go"

if ! command -v go >/dev/null 2>&1; then
    echo "foreign: skipped: no go on PATH; install Go 1.26 or newer"
    exit 0
fi
export GOFLAGS="${GOFLAGS:-} -p=2"
if ! said=$(go mod download 2>&1); then
    last=$(printf '%s\n' "$said" | tail -n 1)
    case $said in
    *"SECURITY ERROR"* | *"errors parsing"* | *"missing go.sum"*)
        echo "foreign: failed: $last" >&2
        exit 1
        ;;
    esac
    echo "foreign: skipped: a module cannot be had: $last"
    exit 0
fi
nice go build -o bin/ ./cmd/...
echo "foreign: built: $(cd bin && echo *)"
