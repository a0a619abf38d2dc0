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

# A build without the viewer has all but one.
commands=(run compare advise reproduce mesh check bench devices doctor export)
has_viewer=false
if "$palpate" --help | grep >/dev/null "^  view .*in the browser"; then has_viewer=true; commands+=(view); fi
for command in "${commands[@]}"; do
  "$palpate" $command --help | grep >/dev/null "Example: palpate $command" || fail "$command --help has no example"
done
"$palpate" --help | grep >/dev/null "Exit codes" || fail "no exit codes in --help"
"$palpate" --version | grep >/dev/null "^palpate [0-9]" || fail "no version"

"$palpate" run wall --lockstep --seconds 0.2 --no-record --json | is_json tick_time || fail "run --json"
"$palpate" run wall --seconds 0.2 --record "$work/wall.palpate" | grep >/dev/null "recording  $work/wall.palpate" || fail "run says where its recording is"
"$palpate" export "$work/wall.palpate" --output "$work/wall.csv" >/dev/null
head -1 "$work/wall.csv" | grep >/dev/null "^time" || fail "CSV has no heading"
"$palpate" compare sine-static --seconds 0.3 --output "$work/c.html" --json | is_json runs || fail "compare --json"
[ -s "$work/c.html" ] && is_json runs < "$work/c.json" || fail "compare writes report and data"
"$palpate" compare wall --seconds 0.3 --closed-loop --methods direct --output "$work/d.html" | grep >/dev/null "^direct" || fail "compare text"
"$palpate" compare sine-static --seconds 0.3 --rates 20,50 --friction 0,0.3 --methods direct --output "$work/e.html" | grep >/dev/null "50 Hz, µ 0.3 *direct" || fail "compare goes through rates"
"$palpate" advise sine-static --contact 0.2 --json | is_json take || fail "advise --json"
"$palpate" advise sine-static --contact 0.2 | grep >/dev/null '^Take "method"' || fail "advise says what to take"
"$palpate" run sine-static -m auto --lockstep --seconds 0.3 --no-record --json | grep >/dev/null '"method": "[a-z]' || fail "run -m auto"
$has_viewer || { "$palpate" view wall 2>&1 || true; } | grep >/dev/null "without the viewer" || fail "view does not say that it is missing"
! $has_viewer || "$palpate" view wall --no-open --port 0 --seconds 0.5 --json | { head -1; cat >/dev/null; } | is_json url || fail "view --json"
"$palpate" check organ --json | is_json bodies || fail "check --json"
"$palpate" check organ --write | is_json bodies || fail "check --write"
"$palpate" check organ --write - | cmp -s - <("$palpate" check organ --write) || fail "check --write -"
"$palpate" check organ --write "$work/organ.json" | grep -qx "written $work/organ.json" || fail "check --write FILE says where"
"$palpate" check "$work/organ.json" --write | cmp -s - "$work/organ.json" || fail "a written scene is written differently"
"$palpate" check organ > "$work/out"; grep -q "^valid" "$work/out" && tail -1 "$work/out" | grep -q "^advice .*palpate advise" || fail "check text"
"$palpate" check --schema | diff -q - schema/scene.schema.json || fail "schema/scene.schema.json is not what 'palpate check --schema' prints"
"$palpate" devices --json > "$work/devices.json"; is_json devices < "$work/devices.json" && is_json drivers < "$work/devices.json" || fail "devices --json"
"$palpate" devices | grep -q "^haply" || fail "devices lists the drivers"
"$palpate" doctor --json | is_json checks || fail "doctor --json"
[ "$("$palpate" doctor force-dimension:/nowhere/lib.so > "$work/out"; echo $?)" = 1 ] && grep -q "LD_LIBRARY_PATH" "$work/out" || fail "doctor explains"
{ "$palpate" run wall --device hapley 2>&1 || true; } | grep -q 'Did you mean "haply"' || fail "a misspelt device is answered"
# A double in one process, the program in another, by the real protocol.
"$palpate" devices double "space-mouse:$work/spnav.sock" > "$work/double" & double=$!
for _ in $(seq 100); do grep -q runs "$work/double" && break; sleep 0.05; done
"$palpate" devices try "space-mouse:$work/spnav.sock" --seconds 1 | grep -q "samples a second" || fail "devices try"
"$palpate" run wall --device "space-mouse:$work/spnav.sock" --seconds 0.5 --no-record --json | is_json notes || fail "run --device"
{ "$palpate" run two-hands --device lft=haply 2>&1 || true; } | grep -q 'no tool of two-hands is called "lft".*Did you mean "left"' || fail "a misspelt tool is answered"
{ "$palpate" run wall --mapping scal=2 2>&1 || true; } | grep -q 'Did you mean "scale"' || fail "a misspelt key of the mapping is answered"
"$palpate" run two-hands -m left=direct -m right=jacobian --device "right=space-mouse:$work/spnav.sock" --mapping right.scale=2 --seconds 0.5 --no-record --json > "$work/two.json" || fail "a device in the second hand"
grep -q '"method": "jacobian"' "$work/two.json" && is_json devices < "$work/two.json" || fail "each tool has its own method and device"
kill $double; wait $double || true
"$palpate" bench wall --seconds 0.1 --json | is_json runs || fail "bench --json"
"$palpate" reproduce | grep >/dev/null "sine-static-halfspace" || fail "reproduce lists"
# Not all: others take minutes, and their claims about computing times are for a machine at rest.
"$palpate" reproduce sine-static-halfspace wall-passivity --output "$work/reports" --json > "$work/claims.json" || fail "a claim does not hold: $(cat "$work/claims.json")"
is_json experiments < "$work/claims.json" || fail "reproduce --json"
for name in sine-static-halfspace wall-passivity; do [ -s "$work/reports/$name.html" ] || fail "no report of $name"; done

# Meshes: a cube as surface, tets and cubes of it, every conversion there and back.
printf 'OFF\n8 12 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n3 0 2 1\n3 1 2 3\n3 4 5 6\n3 5 7 6\n3 0 1 4\n3 1 5 4\n3 2 6 3\n3 3 6 7\n3 0 4 2\n3 2 4 6\n3 1 3 5\n3 3 7 5\n' > "$work/cube.off"
"$palpate" mesh "$work/cube.off" --json | is_json triangles || fail "mesh --json of a surface"
"$palpate" mesh "$work/cube.off" --scale 0.1 --tets 0.02 --output "$work/cube.vtu" --surface "$work/skin.ply" > "$work/out" || fail "mesh --tets"
grep -q "^angles  dihedral" "$work/out" && grep -q "^written $work/cube.vtu" "$work/out" || fail "mesh --tets says what it made"
"$palpate" mesh "$work/skin.ply" | grep >/dev/null "closed" || fail "the boundary of tets is closed"
"$palpate" mesh "$work/cube.vtu" --json | is_json tets || fail "mesh --json of a volume"
"$palpate" mesh "$work/cube.vtu" --output "$work/cube.msh" >/dev/null && "$palpate" mesh "$work/cube.msh" --output "$work/cube.vtk" >/dev/null \
  && "$palpate" mesh "$work/cube.vtk" --output "$work/again.vtu" >/dev/null && cmp "$work/cube.vtu" "$work/again.vtu" || fail "conversions change a volume"
"$palpate" mesh "$work/cube.vtu" --ascii --output "$work/text.vtu" >/dev/null && "$palpate" mesh "$work/text.vtu" --output "$work/again.vtu" >/dev/null \
  && cmp "$work/cube.vtu" "$work/again.vtu" || fail "text changes a volume"
"$palpate" mesh "$work/cube.off" --voxels 0.25 --output "$work/hexes.vtu" --json | is_json hexes || fail "mesh --voxels"
if command -v python3 >/dev/null; then
  for f in cube text hexes; do python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$work/$f.vtu" || fail "$f.vtu is not XML"; done
fi
if /usr/bin/python3 -c 'import vtkmodules' 2>/dev/null; then
  /usr/bin/python3 tests/read_vtu.py "$work/cube.vtu" "$work/text.vtu" "$work/hexes.vtu" || fail "VTK does not read what mesh wrote"
else
  echo "skipped: reading VTU files with VTK itself (Debian: python3-vtk9)"
fi

code=0; "$palpate" run no-such-scene 2>/dev/null || code=$?; [ $code = 2 ] || fail "unknown scene exits with $code"
code=0; "$palpate" frobnicate 2>/dev/null || code=$?; [ $code = 2 ] || fail "unknown command exits with $code"
code=0; "$palpate" 2>/dev/null || code=$?; [ $code = 2 ] || fail "no command exits with $code"
code=0; "$palpate" run wall --seconds -1 2>/dev/null || code=$?; [ $code = 2 ] || fail "negative seconds exit with $code"
code=0; "$palpate" run wall --method halfspce 2>"$work/err" || code=$?
[ $code = 2 ] && grep -q 'Did you mean "halfspace"' "$work/err" || fail "no suggestion for a mistyped method"
echo "all commands answer"
