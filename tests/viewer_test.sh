#!/usr/bin/env bash
# viewer_test.sh PALPATE FOLDER: the viewer in headless Chromium, a hostile client beside it. Pictures go to FOLDER.
set -euo pipefail
palpate=$1 folder=$2
cd "$(dirname "$0")/../web"
browser=$(command -v chromium || command -v google-chrome || true)
[ -n "$browser" ] || { echo "skipped: no chromium"; exit 77; }
mkdir -p "$folder"
export PALPATE="$palpate" BROWSER="$browser" PICTURES="$folder"
# One after the other: the first looks at rates.
node --test tests/hostile.test.mjs
node --test tests/viewer.test.mjs
