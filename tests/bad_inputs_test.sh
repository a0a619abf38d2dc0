#!/usr/bin/env bash
# bad_inputs_test.sh PALPATE: what is wrong is named, the exit code is 2, and nothing crashes. Also run under ASan.
set -uo pipefail
palpate=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cases=0; failures=0

# refused WORDS COMMAND...: the command must exit with 2 and its message must contain WORDS (a fixed string).
refused() {
  local words=$1; shift
  cases=$((cases + 1))
  local code=0
  timeout 60 "$palpate" "$@" >"$work/out" 2>"$work/err" || code=$?
  if [ $code -ne 2 ] || ! grep -qF -- "$words" "$work/err" || grep -qE 'Sanitizer|runtime error' "$work/err"; then
    failures=$((failures + 1))
    echo "FAILED ($code): palpate $*"; echo "  wanted: $words"; sed 's/^/  got: /' "$work/err" | head -5 | cut -c1-400
  fi
}
# scene WORDS JSON: a scene file with that text.
scene() { printf '%s' "$2" > "$work/s.json"; refused "$1" check "$work/s.json"; }
# body WORDS SHAPE / hand WORDS HAND / top WORDS KEYS: a valid scene but for one part.
good_hand='{"type":"scripted","path":{"type":"tap"}}'
good_body='{"type":"static","shape":{"type":"box"}}'
top()  { scene "$1" "{\"format\":1,$2\"bodies\":[$good_body],\"hand\":$good_hand}"; }
body() { scene "$1" "{\"format\":1,\"bodies\":[$2],\"hand\":$good_hand}"; }
hand() { scene "$1" "{\"format\":1,\"bodies\":[$good_body],\"hand\":$2}"; }

# -- Scene files as files
refused "no such file" check "$work/missing.json"
refused "not a file" check "$work/."
refused "built in: organ" check no-such-scene
scene ':1: not JSON' ''
scene ':1: not JSON' '{"format": 1, "bodies": ['
scene ':2: not JSON' '{"format": 1,
 "bodies": nonsense}'
head -c 10000000 /dev/zero > "$work/zeros.json"; refused ':1: not JSON' check "$work/zeros.json"
head -c 70000000 /dev/zero > "$work/zeros.json"; refused 'has at most' check "$work/zeros.json"
head -c 100000 /dev/urandom > "$work/noise.json"; refused 'noise.json' check "$work/noise.json"
printf '%0.s[' $(seq 100000) > "$work/deep.json"; refused 'nested deeper than 32' check "$work/deep.json"
scene 'must be an object' '[1, 2]'
scene 'key "format" is given twice' '{"format":1,"format":1}'
scene 's.json:1: format = 1e999: too large a number; at most 1.8e+308' '{"format": 1e999}'
scene 's.json:3: rates.dt = -1e400: too large a number' '{"format": 1,
  "rates": {
    "dt": -1e400}}'
scene 'bodies[1].position[2] = 1e99999: too large a number' '{"bodies":[{},{"position":[0,0,1e99999]}]}'
scene 'not JSON' '{"format": NaN}'
# -- The scene's own keys
scene 'key "bodies" is missing: what can be touched. Is it "body"?' '{"format":1,"body":[]}'
scene 'key "format" is missing' '{}'
scene 'format = 2: must be 1' '{"format": 2}'
scene 'format = "1": must be a number' '{"format": "1"}'
scene 'key "bodies" is missing' '{"format": 1}'
scene 'bodies is empty' "{\"format\":1,\"bodies\":[],\"hand\":$good_hand}"
scene 'key "bodies" is missing: what can be touched. Is it "bodys"?' '{"format":1,"bodys":[]}'
scene 'bodies[0] = 7: must be an object' '{"format":1,"bodies":[7]}'
top 'unknown key "mehtod". Did you mean "method"?' '"mehtod":"direct",'
top 'Did you mean "halfspace"?' '"method":"half_space",'
top 'methods.compliance.force = "constraint": must be one of: grip, constraints. Did you mean "constraints"?' '"methods":{"compliance":{"force":"constraint"}},'
top 'methods.limited.max_constraints = 5000: must be 8 to 4096' '"methods":{"limited":{"max_constraints":5000}},'
top 'methods: unknown key "limitd". Did you mean "limited"?' '"methods":{"limitd":{}},'
top 'safety.max_force_rate = 1000000000: must be above 0 and at most 10000000 N/s' '"safety":{"max_force_rate":1e9},'
top 'input.max_speed = 0: must be above 0 and at most 1000 m/s' '"input":{"max_speed":0},'
top 'input: unknown key "max_sped". Did you mean "max_speed"?' '"input":{"max_sped":2},'
top 'passivity: debt_limit = 0.1 J: must be above allowance, 0.2 J' '"passivity":{"allowance":0.2},'
top 'seconds = -1: must be above 0' '"seconds":-1,'
top 'rates.dt = 0: must be 1e-05 to 0.1 s' '"rates":{"dt":0},'
top 'rates: slow_period = 0.0001: must be at least dt, 0.001 s' '"rates":{"dt":0.001,"slow_period":0.0001},'
top 'tool.mass = -0.001: must be 0 to 10 kg' '"tool":{"type":"point","mass":-0.001},'
top 'stiffness = 0: must be above 0' '"tool":{"type":"point","coupling":{"stiffness":0}},'
top 'safety.max_force = -3' '"safety":{"max_force":-3},'
top 'tool = true: must be an object' '"tool":true,'
# -- Bodies
body 'key "type" is missing' '{}'
body 'must be one of: static, plane, rigid, soft, chain' '{"type":"liquid"}'
body 'give one of shape and volume' '{"type":"soft"}'
body 'young_modulus = -5: must be above 0' '{"type":"soft","shape":{"type":"box"},"material":{"young_modulus":-5}}'
body 'poisson_ratio = 0.5' '{"type":"soft","shape":{"type":"box"},"material":{"poisson_ratio":0.5}}'
body 'no node lies in the boxes of fixed' '{"type":"soft","shape":{"type":"box"},"fixed":[{"min":[5,5,5],"max":[6,6,6]}]}'
body 'contact "box" needs a shape of that type, not "sphere"' '{"type":"rigid","shape":{"type":"sphere"},"contact":"box"}'
body 'density = 0: must be above 0' '{"type":"rigid","shape":{"type":"box"},"density":0}'
body 'needs a closed surface' '{"type":"rigid","shape":{"type":"sine"}}'
body 'beams = 0: must be 1 to 1000' '{"type":"chain","beams":0}'
body 'coincide' '{"type":"chain","from":[0,0,0],"to":[0,0,0]}'
body 'normal has no length' '{"type":"plane","normal":[0,0,0]}'
top 'no body that moves is called "too"; there are: tool. Did you mean "tool"?' '"tool":{"type":"chain"},"joints":[{"type":"ball","a":"too"}],'
top 'no body that moves is called "door"' '"joints":[{"type":"hinge","a":"door"}],'
top 'axis has no length' '"joints":[{"type":"hinge","a":"tool","axis":[0,0,0]}],'
top 'solver.name = "magic"' '"world":{"solver":{"name":"magic"}},'
top 'alarm_distance = 0: must be above 0' '"world":{"alarm_distance":0},'
top 'length = -1: must be above 0' '"tool":{"type":"chain","length":-1},'
body 'key "shape" is missing' '{"type":"static"}'
body 'bodies[0].friction = -0.1: must be 0 to 100' '{"type":"static","friction":-0.1,"shape":{"type":"box"}}'
body 'Did you mean "sphere"?' '{"type":"static","shape":{"type":"shpere"}}'
body 'radius = -1' '{"type":"static","shape":{"type":"sphere","radius":-1}}'
body 'subdivisions = 2.5: must be a whole number' '{"type":"static","shape":{"type":"sphere","subdivisions":2.5}}'
body 'has 2 items; must be three numbers' '{"type":"static","position":[1,2],"shape":{"type":"box"}}'
body 'position[1] = null: must be a number' '{"type":"static","position":[1,null,2],"shape":{"type":"box"}}'
body 'size' '{"type":"static","shape":{"type":"box","size":[0.1,0,0.1]}}'
# -- Meshes in scenes and on their own
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n' > "$work/hole.obj"
body '1 hole: 3 edges, 1 m across, around (0, 0.3333, 0.3333) m' '{"type":"soft","shape":{"type":"mesh","file":"hole.obj"}}'
body '"repair": true in a mesh shape fills them' '{"type":"rigid","shape":{"type":"mesh","file":"hole.obj"}}'
body 'gone.obj' '{"type":"static","shape":{"type":"mesh","file":"gone.obj"}}'
PALPATE_DATA= body 'bodies[0].shape: "data:liver.obj" is in the folder of real meshes, which is not known; set the environment'"'"'s PALPATE_DATA' '{"type":"static","shape":{"type":"mesh","file":"data:liver.obj"}}'
PALPATE_DATA=$work body 'liver.obj: no such file' '{"type":"static","shape":{"type":"mesh","file":"data:liver.obj"}}'
body 'give one of file and data' '{"type":"static","shape":{"type":"mesh"}}'
printf 'v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n' > "$work/nan.obj"; refused 'nan.obj' mesh "$work/nan.obj"
body 'nan.obj' '{"type":"static","shape":{"type":"mesh","file":"nan.obj"}}'
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n' > "$work/index.obj"; refused 'index.obj' mesh "$work/index.obj"
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\n' > "$work/cut.off"; refused 'cut.off' mesh "$work/cut.off"
head -c 10000000 /dev/zero > "$work/zeros.stl"; refused 'zeros.stl' mesh "$work/zeros.stl"
head -c 10000000 /dev/zero > "$work/zeros.ply"; refused 'zeros.ply' mesh "$work/zeros.ply"
printf 'ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nend_header\n' > "$work/huge.ply"; refused 'huge.ply' mesh "$work/huge.ply"
: > "$work/empty.obj"; refused 'empty.obj' mesh "$work/empty.obj"
cp "$work/nan.obj" "$work/what.xyz"; refused '.obj' mesh "$work/what.xyz"
refused 'missing.stl' mesh "$work/missing.stl"
# -- Volume meshes
# volume WORDS NAME TEXT: a volume file with that text.
volume() { printf "$3" > "$work/$2"; refused "$1" mesh "$work/$2"; }
nodes='$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n'
volume 'cut short' cut.msh '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n'
volume 'nan.msh:4: "nan" is not finite' nan.msh '$NOD\n4\n1 0 0 0\n2 nan 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n'
volume 'are the counts right' counts.msh '$NOD\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n'
volume '"5" is out of range' index.msh "$nodes"'$ELM\n1\n1 4 1 1 4 1 2 3 5\n$ENDELM\n'
volume 'do not fit' huge.msh "$nodes"'$ELM\n4000000000\n1 4 1 1 4 1 2 3 4\n$ENDELM\n'
volume 'version' version.msh '$MeshFormat\n7.5 0 8\n$EndMeshFormat\n'
volume 'only ASCII is supported' binary.msh '$MeshFormat\n4.1 1 8\n$EndMeshFormat\n'
volume 'hexahedra' hex.msh "$nodes"'$ELM\n1\n1 5 1 1 8 1 2 3 4 1 2 3 4\n$ENDELM\n'
volume 'no volume' flat.msh '$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 2 3 4\n$ENDELM\n'
volume 'DATASET' cut.vtk '# vtk DataFile Version 3.0\nx\nASCII\n'
volume 'do not fit' huge.vtk '# vtk DataFile Version 3.0\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 100000 double\n'
volume 'allowed are none and vtkZLib' lz4.vtu '<VTKFile type="UnstructuredGrid" compressor="vtkLZ4DataCompressor"></VTKFile>'
volume '2147483647' huge.vtu '<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="4000000000" NumberOfCells="1"></Piece></UnstructuredGrid></VTKFile>'
volume 'no <VTKFile>' html.vtu '<html><body>404</body></html>'
volume 'lonely.ele: no such file' lonely.node '1 3 0 0\n0 0 0 0\n'
for ending in msh vtk vtu node; do
  head -c 1000000 /dev/zero > "$work/zeros.$ending"; : > "$work/zeros.ele"; refused "zeros." mesh "$work/zeros.$ending"
  head -c 100000 /dev/urandom > "$work/noise.$ending"; cp "$work/noise.$ending" "$work/noise.ele"; refused "noise." mesh "$work/noise.$ending"
done
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > "$work/open.obj"
refused 'closed' mesh "$work/open.obj" --tets 0.1
refused 'closed' mesh "$work/open.obj" --voxels 0.1
# A cube with a fin: three triangles at one edge.
printf 'OFF\n9 13 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n0 -1 -1\n3 0 2 1\n3 1 2 3\n3 4 5 6\n3 5 7 6\n3 0 1 4\n3 1 5 4\n3 2 6 3\n3 3 6 7\n3 0 4 2\n3 2 4 6\n3 1 3 5\n3 3 7 5\n3 0 1 8\n' > "$work/fin.off"
refused 'at 1 edge more than two triangles meet (around (0.5, 0, 0) m)' mesh "$work/fin.off" --tets 0.1
refused 'at 1 edge more than two triangles meet (around (0.5, 0, 0) m)' mesh "$work/fin.off" --voxels 0.1
body 'at 1 edge more than two triangles meet' '{"type":"rigid","shape":{"type":"mesh","file":"'"$work/fin.off"'"}}'
refused 'already a surface' mesh "$work/open.obj" --surface "$work/x.obj"
refused '--tets' mesh "$work/open.obj" --tets 0
refused 'there is no folder' mesh "$work/hole.obj" -o "$work/no/such/folder/x.obj"
printf '<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="8" NumberOfCells="1"><Points><DataArray type="Float64" NumberOfComponents="3">0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1</DataArray></Points><Cells><DataArray type="Int32" Name="connectivity">0 1 2 3 4 5 6 7</DataArray><DataArray type="Int32" Name="offsets">8</DataArray><DataArray type="UInt8" Name="types">12</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>' > "$work/hex.vtu"
body 'holds 1 hexahedra; tetrahedra are needed here' '{"type":"soft","volume":"hex.vtu"}'
refused 'holds hexahedra, which are not converted' mesh "$work/hex.vtu" -o "$work/x.vtu"
# -- Hands
hand 'must be one of: scripted, simulated, replay' '{"type":"robot"}'
hand 'key "path" is missing' '{"type":"scripted"}'
hand 'frequency = -2' '{"type":"scripted","path":{"type":"sine","frequency":-2}}'
hand 'times' '{"type":"scripted","path":{"type":"keyframes","keyframes":[{"time":1,"position":[0,0,0]},{"time":0.5,"position":[0,0,0]}]}}'
hand 'direction' '{"type":"scripted","path":{"type":"tap","direction":[0,0,0]}}'
hand 'mass = -0.1: must be above 0' '{"type":"simulated","mass":-0.1,"path":{"type":"tap"}}'
hand 'preset = "phantom"' '{"type":"simulated","preset":"phantom","path":{"type":"tap"}}'
hand 'missing.palpate' '{"type":"replay","file":"missing.palpate"}'
# -- Several tools
tools() { scene "$1" "{\"format\":1,\"bodies\":[$good_body],\"tools\":$2}"; }
one="{\"name\":\"a\",\"hand\":$good_hand}"
top 'stands beside "tools"' "\"tools\":[$one],"
tools 'give at least one' '[]'
tools 'at most 4' "[$one,$one,$one,$one,$one]"
tools 'another tool has it too' "[$one,$one]"
tools 'a body has it too' "[{\"name\":\"box\",\"hand\":$good_hand}]"
tools 'without slashes' "[{\"name\":\"../a\",\"hand\":$good_hand}]"
tools '"hand" is missing' '[{"name":"a"}]'
tools 'tools = "a": must be a list' '"a"'
tools 'tools[0].tool.mass' "[{\"tool\":{\"type\":\"point\",\"mass\":-1},\"hand\":$good_hand}]"
refused 'all bodies must be rigid' run two-hands -m accelerance --lockstep --no-record
# -- Recordings
head -c 1000000 /dev/zero > "$work/zeros.palpate"; refused 'zeros.palpate' export "$work/zeros.palpate"
printf 'PALPATE RECORDING 1\n{"tick_columns": 7}\n' > "$work/bad.palpate"; refused 'bad.palpate' run --replay "$work/bad.palpate"
header='"palpate":"1","scene_name":"s","scene":"","method":"m","runtime":"lockstep","dt":0.001,"slow_period":0,"latency":0'
header="$header,\"tick_columns\":[{\"name\":\"time\",\"unit\":\"s\",\"type\":\"f64\"}]"
header="$header,\"step_columns\":[{\"name\":\"time\",\"unit\":\"s\",\"type\":\"f64\"}]"
recording() { printf 'PALPATE RECORDING 1\n{%s,"tools":%s}\n%b' "$header" "$2" "${3:-}" > "$work/tools.palpate"; refused "$1" export "$work/tools.palpate"; }
recording 'header has 0 tools' '[]'
recording 'as another tool is' '[{"name":"a","method":"m"},{"name":"a","method":"m"}]'
recording 'has an empty name' '[{"name":"","method":"m"}]'
recording '"TIC1"; allowed: TICK, STEP, DONE' '[{"name":"a","method":"m"}]' 'TIC1\0\0\0\0'
recording '"TIC2"; allowed: TICK, TIC1, STEP, DONE' '[{"name":"a","method":"m"},{"name":"b","method":"m"}]' 'TIC2\0\0\0\0'
printf 'PALPATE RECORDING 9\n{}\n' > "$work/new.palpate"; refused 'new.palpate' export "$work/new.palpate"
hand 'zeros.palpate' '{"type":"replay","file":"zeros.palpate"}'
# -- Usage
refused 'no command is called "rnu"; there are: run,' rnu wall
refused 'Did you mean "run"?' rnu wall
refused 'there is no folder' run wall --lockstep --seconds 0.1 -o "$work/no/such/folder/x.palpate"
refused 'there is no folder' compare wall --seconds 0.1 -o "$work/no/such/folder/x.html"
refused 'there is no folder' reproduce wall-passivity -o "$work/no/such/folder"
# Refusals speak of what was given, not of how it is made.
refused 'method jacobian cannot be used here: nothing in the world can move' run wall -m jacobian --lockstep --no-record
if "$palpate" --help | grep >/dev/null "^  view .*in the browser"; then
  refused 'method jacobian cannot be used here: nothing in the world can move' view wall -m jacobian --no-open --port 0 --seconds 1
fi
refused 'give the SCENE' check --write "$work/x.json"
refused 'no-such-folder' check wall --write "$work/no-such-folder/x.json"
refused 'method' run wall --method nothing --no-record
refused 'recording' run wall --lockstep --seconds 0.1 --record /proc/recording.palpate
refused 'experiments:' reproduce nothing
refused 'seconds' run wall --seconds abc

echo "$cases bad inputs, $((cases - failures)) refused as they should be"
[ $failures -eq 0 ]
