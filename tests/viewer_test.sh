#!/usr/bin/env bash
# viewer_test.sh PALPATE FOLDER: the viewer in headless Chromium. Pictures go to FOLDER.
set -euo pipefail
palpate=$1 folder=$2
cd "$(dirname "$0")/../web"
browser=$(command -v chromium || command -v google-chrome || true)
[ -n "$browser" ] || { echo "skipped: no chromium"; exit 77; }
mkdir -p "$folder"
PALPATE="$palpate" BROWSER="$browser" PICTURES="$folder" exec node --test tests/viewer.test.mjs
