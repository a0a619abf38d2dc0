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
"$palpate" run soft-block -m reduced --lockstep --no-record --seconds 0.1 | grep >/dev/null '^model      block: [0-9]* of [0-9]* states, which leave out [a-z ]*[0-9.]* % of its answer$' || fail "run tells of the states of reduced"
"$palpate" export "$work/wall.palpate" --output "$work/wall.csv" >/dev/null
head -1 "$work/wall.csv" | grep >/dev/null "^time" || fail "CSV has no heading"
"$palpate" compare sine-static --seconds 0.3 --output "$work/c.html" --json | is_json runs || fail "compare --json"
[ -s "$work/c.html" ] && is_json runs < "$work/c.metrics.json" || fail "compare writes report and data"
"$palpate" compare wall --seconds 0.3 --closed-loop --methods direct --output "$work/d.html" | grep >/dev/null "^direct" || fail "compare text"
"$palpate" compare sine-static --seconds 0.3 --rates 20,50 --friction 0,0.3 --methods direct --output "$work/e.html" > "$work/sweep"
grep -q "50 Hz, µ 0.3 *direct" "$work/sweep" || fail "compare goes through rates"
head -1 "$work/sweep" | grep -q "^force error of each method.* with the truth's hand replayed$\|in the closed loop" || fail "compare says which hand it went through rates with: $(cat "$work/sweep")"
for rate in 0.001 5000 fast; do { "$palpate" run wall --rate $rate --lockstep --no-record 2>&1 || true; } | grep >/dev/null -- "--rate \"$rate\": must be a number of hertz from 0.1 to 1000" || fail "a rate of $rate Hz"; done
"$palpate" advise sine-static --contact 0.2 --json | is_json take || fail "advise --json"
"$palpate" advise sine-static --contact 0.2 | grep >/dev/null '^Take "method"' || fail "advise says what to take"
"$palpate" advise sine-static --contact 0.2 | awk '$3 == "%" { print $2; ++n } END { exit n < 3 }' | sort -gc || fail "advise has the nearest first"
"$palpate" run sine-static -m auto --lockstep --seconds 0.3 --no-record --json | grep >/dev/null '"method": "[a-z]' || fail "run -m auto"
$has_viewer || { "$palpate" view wall 2>&1 || true; } | grep >/dev/null "without the viewer" || fail "view does not say that it is missing"
! $has_viewer || "$palpate" view wall --no-open --port 0 --seconds 0.5 --json | { head -1; cat >/dev/null; } | is_json url || fail "view --json"
if $has_viewer; then
  "$palpate" view wall --no-open --port 0 --seconds 20 --json > "$work/view" & viewer=$!
  for _ in $(seq 200); do grep -q url "$work/view" && break; sleep 0.05; done
  port=$(sed -n 's/.*:\([0-9]*\)\/.*/\1/p' "$work/view" | head -1)
  code=0; "$palpate" view wall --no-open --port "$port" --seconds 1 2>"$work/err" >/dev/null || code=$?
  kill $viewer; wait $viewer || true
  [ $code = 2 ] && grep -q "cannot listen on 127.0.0.1 port $port" "$work/err" || fail "a port in use is taken for another: $(cat "$work/err")"
fi
"$palpate" check organ --json > "$work/check.json"
for key in '"mass"' '"fixed_nodes"' '"nearest_distance"' '"warnings"'; do grep -q "$key" "$work/check.json" || fail "check --json has no $key"; done
"$palpate" check sine-static | grep -q '^hand    scripted; .* from "sine surface" at the nearest' || fail "check says how near the hand comes"
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
"$palpate" mesh "$work/hexes.vtu" | grep >/dev/null "125 hexes, 216 vertices, volume 1.953 m" || fail "mesh does not read the hexes that it wrote"
"$palpate" mesh "$work/cube.off" | grep >/dev/null "from    (0, 0, 0) m to (1, 1, 1) m, centre (0.5, 0.5, 0.5) m" || fail "mesh prints bounds and centre"
# A cube without its last two triangles: one hole, which can be filled.
sed -e 's/^8 12 0/8 10 0/' -e '/^3 1 3 5$/d' -e '/^3 3 7 5$/d' "$work/cube.off" > "$work/open.off"
"$palpate" mesh "$work/open.off" | grep >/dev/null "^holes   1 hole: 4 edges, 1 m across, around (1, 0.5, 0.5) m" || fail "mesh says where holes are"
"$palpate" mesh "$work/open.off" --fill-holes -o "$work/filled.off" | grep >/dev/null "1 hole filled" || fail "--fill-holes"
"$palpate" mesh "$work/filled.off" | grep >/dev/null "closed.*volume 1 m" || fail "what was filled is closed"
# Two cubes that touch along an edge are parted there; of a cube in a cube no finer cells are wanted than of one.
python3 - "$work" <<'END'
import sys
def write(name, cubes):
    points, faces = [], []
    for low, size in cubes:
        first = len(points) + 1
        points += [[low[a] + size * (i >> a & 1) for a in range(3)] for i in range(8)]
        for a, b, c, d in ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)):
            faces += [(first + a, first + b, first + c), (first + a, first + c, first + d)]
    with open(f"{sys.argv[1]}/{name}.obj", "w") as file:
        for p in points: print("v", *p, file=file)
        for f in faces: print("f", *f, file=file)
write("touching", [((0, 0, 0), 1), ((1, 1, 0), 1)])
write("nested", [((0, 0, 0), 1), ((0.25, 0.25, 0.25), 0.5)])
END
"$palpate" mesh "$work/touching.obj" --tets 0.25 > "$work/out" && grep -q "closed.*volume 2 m" "$work/out" && grep -q "1 edge parted" "$work/out" || fail "cubes that touch: $(cat "$work/out")"
for way in tets voxels; do
  "$palpate" mesh "$work/nested.obj" --$way 0.1 --json | python3 -c 'import json, sys; m = json.load(sys.stdin); sys.exit(abs(m["volume_change"]) > 0.03 or m["warnings"] != [])' || fail "a cube in a cube, --$way"
done
# Two corners of cubes that touch: one vertex, said in the singular.
awk 'NR > 2 && NF == 3 { print "v", $1, $2, $3 } NR > 2 && NF == 4 { print "f", $2 + 1, $3 + 1, $4 + 1 }' "$work/cube.off" > "$work/two.obj"
awk 'NR > 2 && NF == 3 { print "v", $1 + 1, $2 + 1, $3 + 1 } NR > 2 && NF == 4 { print "f", $2 + 9, $3 + 9, $4 + 9 }' "$work/cube.off" >> "$work/two.obj"
"$palpate" mesh "$work/two.obj" | grep >/dev/null "1 non-manifold vertex$" || fail "one vertex is not vertices"
# What is probably not meant is said, by check and run alike.
printf '{"format":1,"seconds":0.2,"bodies":[{"type":"soft","cell":200,"shape":{"type":"mesh","file":"cube.off","scale":1000}}],"hand":{"type":"scripted","path":{"type":"tap","start":[0,9000,0]}}}' > "$work/odd.json"
"$palpate" check "$work/odd.json" > "$work/out"
grep -q 'warning body "mesh" is 1000 m large: is "cube.off" in millimetres? Then write "scale": 1 ' "$work/out" || fail "millimetres: $(cat "$work/out")"
grep -q 'warning nothing holds "mesh"' "$work/out" || fail "nothing holds it"
grep -q 'warning the hand never comes near a body: the least distance on its path is' "$work/out" || fail "the hand is far"
"$palpate" run "$work/odd.json" --lockstep --no-record --json > "$work/odd.out" 2>"$work/err"
grep -q 'never comes near' "$work/err" && grep -q '"warnings": \[$' "$work/odd.out" || fail "run warns"
printf '{"format":1,"bodies":[{"type":"static","shape":{"type":"mesh","file":"cube.off"}}],"hand":{"type":"scripted","path":{"type":"tap","start":[0.5,0.9,0.5]}}}' > "$work/inside.json"
"$palpate" check "$work/inside.json" | grep -q 'warning the tool starts 0.1 m inside "mesh"' || fail "a tool inside a body"
! "$palpate" mesh "$work/cube.off" --tets --cell 2>"$work/err" && grep -q '"--cell": must be a number above 0' "$work/err" || fail "a size that is none: $(cat "$work/err")"
# A slow period that follows the machine is a fixed one in virtual time, and in real time says which.
printf '{"format":1,"seconds":0.3,"method":"direct","rates":{"slow_period":"auto"},"tool":{"type":"point"},"bodies":[{"type":"soft","cell":0.05,"shape":{"type":"box"},"fixed":[{"min":[-1,-0.06,-1],"max":[1,-0.04,1]}]}],"hand":{"type":"scripted","path":{"type":"tap","start":[0,0.06,0]}}}' > "$work/auto.json"
"$palpate" check "$work/auto.json" | grep >/dev/null 'slow 50 Hz in virtual time and as fast as the machine holds in real time' || fail "check of an automatic period"
"$palpate" run "$work/auto.json" --lockstep --no-record | grep >/dev/null 'slow loop.* of 50.0' || fail "an automatic period in lockstep"
"$palpate" run "$work/auto.json" --no-record >"$work/out" 2>&1 || fail "an automatic period in real time"
grep -q 'auto: slow loop at' "$work/out" || fail "which period it is: $(cat "$work/out")"
# Methods that are made for other worlds.
"$palpate" run "$work/auto.json" --lockstep --no-record -m limited 2>&1 | grep >/dev/null 'warning.*method limited: between two slow steps a soft surface is a wall' || fail "limited on a soft body"
"$palpate" check cubes | grep >/dev/null '^warning' && fail "cubes with direct is as it should be"
# Nothing of the kind is said of scenes that come with Palpate.
for scene in $("$palpate" check | awk 'NR > 1 { print $1 }'); do
  ! "$palpate" check "$scene" | grep "^warning.*\(inside\|never comes\|nothing holds\|millimetres\|cell\)" || fail "a false alarm about $scene"
done
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
