#!/usr/bin/env bash
# cli_test.sh PALPATE: every command answers --help with an example, gives JSON that parses, and exits as promised.
set -euo pipefail
palpate=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
# is_json KEY: standard input is JSON with that key at the top. Palpate's own parser is not the judge of itself where
# another is there.
is_json() {
  if command -v python3 >/dev/null; then python3 -c 'import json,sys; sys.exit(sys.argv[1] not in json.load(sys.stdin))' "$1"
  else grep -q "\"$1\""; fi
}

for command in run compare reproduce mesh check bench devices export; do
  "$palpate" $command --help | grep -q "Example: palpate $command" || fail "$command --help has no example"
done
"$palpate" --help | grep -q "Exit codes" || fail "no exit codes in --help"
"$palpate" --version | grep -q "^palpate [0-9]" || fail "no version"

"$palpate" run wall --lockstep --seconds 0.2 --no-record --json | is_json tick_time || fail "run --json"
"$palpate" run wall --seconds 0.2 --record "$work/wall.palpate" | grep -q "recording  $work/wall.palpate" || fail "run says where its recording is"
"$palpate" export "$work/wall.palpate" --output "$work/wall.csv" >/dev/null
head -1 "$work/wall.csv" | grep -q "^time" || fail "CSV has no heading"
"$palpate" compare sine-static --seconds 0.3 --output "$work/c.html" --json | is_json runs || fail "compare --json"
[ -s "$work/c.html" ] && is_json runs < "$work/c.json" || fail "compare writes report and data"
"$palpate" compare wall --seconds 0.3 --closed-loop --methods direct --output "$work/d.html" | grep -q "^direct" || fail "compare text"
"$palpate" check organ --json | is_json bodies || fail "check --json"
"$palpate" check organ | grep -q "^valid" || fail "check text"
"$palpate" check --schema | diff -q - schema/scene.schema.json || fail "schema/scene.schema.json is not what 'palpate check --schema' prints"
"$palpate" devices --json | is_json devices || fail "devices --json"
"$palpate" bench wall --seconds 0.1 --json | is_json runs || fail "bench --json"
"$palpate" reproduce | grep -q "sine-static-halfspace" || fail "reproduce lists"
"$palpate" reproduce --all --output "$work/reports" --json > "$work/claims.json" || fail "a claim does not hold: $(cat "$work/claims.json")"
is_json experiments < "$work/claims.json" || fail "reproduce --json"
for name in sine-static-halfspace wall-passivity; do [ -s "$work/reports/$name.html" ] || fail "no report of $name"; done

code=0; "$palpate" run no-such-scene 2>/dev/null || code=$?; [ $code = 2 ] || fail "unknown scene exits with $code"
code=0; "$palpate" frobnicate 2>/dev/null || code=$?; [ $code = 2 ] || fail "unknown command exits with $code"
code=0; "$palpate" 2>/dev/null || code=$?; [ $code = 2 ] || fail "no command exits with $code"
code=0; "$palpate" run wall --seconds -1 2>/dev/null || code=$?; [ $code = 2 ] || fail "negative seconds exit with $code"
code=0; "$palpate" run wall --method halfspce 2>"$work/err" || code=$?
[ $code = 2 ] && grep -q 'Did you mean "halfspace"' "$work/err" || fail "no suggestion for a mistyped method"
echo "all commands answer"
