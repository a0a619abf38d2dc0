#!/usr/bin/env bash
# outside_project_test.sh BUILD: installs BUILD into a folder, and builds and runs copies of examples/outside_project and examples/own_method
# against it, and examples/feel_a_sphere.cpp with one layer alone. Nothing of the source folder is in reach but by mistake.
set -euo pipefail
build=$1
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
build_and_run() { # FOLDER PROGRAM ARGUMENT...
  cmake -G Ninja -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 || { cat "$work/log"; fail "$1 is not configured"; }
  cmake --build "$1/build" >"$work/log" || { cat "$work/log"; fail "$1 is not built"; }
  (cd "$work" && "$1/build/$2" "${@:3}") || fail "$2"
}
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cp -r "$source/examples/outside_project" "$work/all"
build_and_run "$work/all" feel_a_block
cp -r "$source/examples/own_method" "$work/own"
build_and_run "$work/own" own_method run wall -m hold --lockstep --seconds 0.1 --no-record >/dev/null

# The layers by themselves, and the version that is asked for.
version=$("$work/prefix/bin/palpate" --version | sed 's/^palpate //')
mkdir "$work/one"
cp "$source/examples/feel_a_sphere.cpp" "$work/one/main.cpp"
cat > "$work/one/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(one LANGUAGES CXX)
find_package(palpate $version EXACT REQUIRED)
add_executable(one main.cpp)
target_link_libraries(one PRIVATE palpate::runtime)
CMAKE
build_and_run "$work/one" one
grep -q "^## $version\b" "$source/CHANGELOG.md" || fail "CHANGELOG.md has no version $version"

"$work/prefix/bin/palpate" run organ --lockstep --seconds 0.1 --no-record >/dev/null
# Nothing installed may still point at the source or build folder.
if grep -rlF -e "$source/" -e "$build/" "$work/prefix/lib" --include='*.cmake'; then fail "installed files name the source or build folder"; fi
