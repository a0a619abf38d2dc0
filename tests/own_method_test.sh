#!/usr/bin/env bash
# own_method_test.sh PROGRAM: a method that a program registers (examples/own_method) is known to every command, to the schema and to the
# reader of scene files, and does what its settings say.
set -euo pipefail
program=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
# A hand that has gone down for half a second when it is held, and goes on.
write_scene() { # FILE SETTINGS
  cat > "$1" <<JSON
{ "format": 1, "seconds": 1.5, "method": "hold", "methods": { "hold": $2 },
  "safety": { "ramp_time": 0 },
  "tool": { "type": "point", "coupling": { "stiffness": 500, "damping": 0.5 } },
  "bodies": [ { "type": "static", "shape": { "type": "sphere", "radius": 0.05 } } ],
  "hand": { "type": "scripted", "path": { "type": "press_and_slide", "start": [0, 0.2, 0], "depth": 0.02, "approach_time": 1 } } }
JSON
}
peak() { python3 -c 'import json, sys; print(json.load(sys.stdin)["peak_force"])'; }

write_scene "$work/soft.json" '{ "stiffness": 100, "damping": 0 }'
write_scene "$work/stiff.json" '{ "stiffness": 200, "damping": 0 }'
soft=$("$program" run "$work/soft.json" --lockstep --no-record --json | peak)
stiff=$("$program" run "$work/stiff.json" --lockstep --no-record --json | peak)
# The spring's force is proportional to its stiffness, for the hand's way is given; to rounding.
python3 -c "import sys; a, b = map(float, sys.argv[1:]); sys.exit(not (a > 0.1 and abs(b - 2 * a) < 1e-9 * b))" "$soft" "$stiff" ||
  fail "twice the stiffness is not twice the force: $soft N, $stiff N"
"$program" run wall -m hold --lockstep --seconds 0.1 --no-record | grep >/dev/null "method hold" || fail "run -m hold"
"$program" compare wall --seconds 0.2 --output "$work/c.html" --json | grep >/dev/null '"hold"' || fail "compare --json does not know it"
"$program" bench wall --seconds 0.05 --json | grep >/dev/null '"method": "hold"' || fail "bench does not know it"
"$program" check "$work/soft.json" | grep >/dev/null "^method  hold (holds the hand" || fail "check does not know it"
"$program" check "$work/soft.json" --write | grep >/dev/null '"hold": { "stiffness": 100, "damping": 0 }' || fail "its settings are not written"
"$program" check --schema > "$work/schema.json"
python3 - "$work/schema.json" <<'PY' || fail "the schema does not know it"
import json, sys
schema = json.load(open(sys.argv[1]))
assert "hold" in schema["properties"]["method"]["enum"]
assert schema["$defs"]["methods"]["properties"]["hold"]["$ref"] == "#/$defs/hold_method"
assert schema["$defs"]["hold_method"]["properties"]["stiffness"]["maximum"] == 5000
PY
complain() { # WHAT: prints the program's complaint about the scene, which must exit with 2
  local code=0
  "$program" check "$work/wrong.json" 2>&1 >/dev/null || code=$?
  [ $code = 2 ] || fail "$1 exits with $code"
}
write_scene "$work/wrong.json" '{ "stifness": 100 }'
complain "a misspelt setting" | grep >/dev/null 'Did you mean "stiffness"?' || fail "a misspelt setting is not answered with the right one"
write_scene "$work/wrong.json" '{ "stiffness": -1 }'
complain "a wrong value" | grep >/dev/null 'methods.hold.stiffness = -1: must be 0 to 5000 N/m' || fail "a wrong value is not answered with its range"
