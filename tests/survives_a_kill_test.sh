#!/usr/bin/env bash
# A run that is killed leaves a recording that can be read, exported and replayed up to its last second.
set -euo pipefail
palpate=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$palpate" run sine-static --seconds 60 --record "$work/killed.palpate" >/dev/null 2>&1 &
pid=$!
for _ in $(seq 100); do [ -s "$work/killed.palpate" ] && [ "$(stat -c %s "$work/killed.palpate")" -gt 500000 ] && break; sleep 0.1; done
kill -KILL $pid; wait $pid 2>/dev/null || true
"$palpate" export "$work/killed.palpate" --output "$work/killed.csv" 2>"$work/messages"
grep -q "cut off" "$work/messages"
rows=$(wc -l < "$work/killed.csv")
echo "killed after $rows rows"
[ "$rows" -gt 1000 ]
"$palpate" run --replay "$work/killed.palpate" --lockstep --seconds 1 --no-record >/dev/null
