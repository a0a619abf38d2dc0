#!/usr/bin/env bash
# sanitized_test.sh PROGRAM [SCRIPT]: runs PROGRAM, or SCRIPT with it, from a sanitizer build if there is one.
set -euo pipefail
program=$1
[ -x "$program" ] || { echo "skipped: no sanitizer build of $(basename "$program"); ./test makes it"; exit 77; }
cd "$(dirname "$0")/.."
if [ $# -gt 1 ]; then exec "$2" "$program"; else exec "$program" --gtest_brief=1; fi
