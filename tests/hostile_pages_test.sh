#!/usr/bin/env bash
# hostile_pages_test.sh PALPATE: 10,000 malformed messages to the viewer.
set -euo pipefail
palpate=$1
cd "$(dirname "$0")/../web"
PALPATE="$palpate" exec node --test tests/hostile.test.mjs
