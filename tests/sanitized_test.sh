#!/usr/bin/env bash
# sanitized_test.sh PROGRAM [SCRIPT | OPTION...]: runs PROGRAM, or SCRIPT with it, from a sanitizer build if there is one.
set -euo pipefail
program=$1
[ -x "$program" ] || { echo "skipped: no sanitizer build of $(basename "$program"); ./test makes it"; exit 77; }
cd "$(dirname "$0")/.."
case ${2:-} in
  *.sh) exec "$2" "$program" ;;
  *) exec "$program" --gtest_brief=1 "${@:2}" ;;
esac
