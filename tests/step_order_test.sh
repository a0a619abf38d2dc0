#!/usr/bin/env bash
# step_order_test.sh COMPILER SOURCE INCLUDE...: the stages of a step in their order compile, and no other order does.
set -euo pipefail
compiler=$1 source=$2
shift 2
flags=(-std=c++20 -fsyntax-only)
for folder in "$@"; do flags+=(-I "$folder"); done
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
"$compiler" "${flags[@]}" "$source" || { echo "the stages in their order do not compile" >&2; exit 1; }
for number in 1 2 3 4 5 6 7; do
  if "$compiler" "${flags[@]}" -DOUT_OF_ORDER=$number "$source" 2>"$messages"; then
    echo "out of order, but compiles: OUT_OF_ORDER == $number in $source" >&2
    exit 1
  fi
  # For that reason and no other: every error is in the one line.
  line=$(grep -n "OUT_OF_ORDER == $number " "$source" | cut -d: -f1)
  grep -q "$(basename "$source"):$((line + 1)):.*error" "$messages" || { cat "$messages" >&2; exit 1; }
done
