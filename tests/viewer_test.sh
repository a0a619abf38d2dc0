#!/usr/bin/env bash
# viewer_test.sh PALPATE FOLDER THEME: the viewer in headless Chromium, web/tests/THEME.test.mjs. Pictures go to FOLDER.
set -euo pipefail
palpate=$1 folder=$2 theme=$3
cd "$(dirname "$0")/../web"
browser=$(command -v chromium || command -v google-chrome || true)
[ -n "$browser" ] || { echo "skipped: no chromium"; exit 77; }
mkdir -p "$folder"
PALPATE="$palpate" BROWSER="$browser" PICTURES="$folder" exec node --test "tests/$theme.test.mjs"
