#!/usr/bin/env bash
# outside_project_test.sh BUILD: installs BUILD into a folder, builds examples/outside_project against it, runs it.
set -euo pipefail
build=$1
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -G Ninja -S "$source/examples/outside_project" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/build" >"$work/log" || { cat "$work/log"; exit 1; }
"$work/build/feel_a_sphere"
"$work/prefix/bin/palpate" run organ --lockstep --seconds 0.1 --no-record >/dev/null
# Nothing installed may still point at the source or build folder.
if grep -rlF -e "$source/" "$work/prefix/lib" --include='*.cmake'; then echo "installed files name the source folder"; exit 1; fi
