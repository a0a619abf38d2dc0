#!/usr/bin/env bash
# Two lockstep runs of the same scene give byte-identical recordings; so does a run on the first one's recorded hand.
set -euo pipefail
palpate=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
for scene in organ-static sine-static wall; do
  for method in reference direct halfspace; do
    for run in a b; do "$palpate" run $scene --method $method --lockstep --seconds 1 --record "$work/$run.palpate" >/dev/null; done
    cmp "$work/a.palpate" "$work/b.palpate"
    "$palpate" run --replay "$work/a.palpate" --method $method --lockstep --seconds 1 --record "$work/r.palpate" >/dev/null
    cmp "$work/a.palpate" "$work/r.palpate"
    echo "$scene $method: $(stat -c %s "$work/a.palpate") bytes, three times the same"
  done
done
# The default scene, with the method that it names.
for run in a b; do "$palpate" run organ --lockstep --seconds 1 --record "$work/$run.palpate" >/dev/null; done
cmp "$work/a.palpate" "$work/b.palpate"
# What was written of a scene runs as the scene does: the same rows below a header with another text.
for scene in organ-static wall wire cubes zhuang-hand susa-stand two-beams; do
  "$palpate" check $scene --write "$work/written.json" >/dev/null
  for s in $scene "$work/written.json"; do "$palpate" run "$s" --lockstep --seconds 0.3 --record "$work/$(basename "$s" .json).palpate" >/dev/null; done
  cmp <(tail -n +3 "$work/$scene.palpate") <(tail -n +3 "$work/written.palpate")
  [ "$(tail -n +3 "$work/written.palpate" | wc -c)" -gt 10000 ]
done
# A recording of a scene that was changed (here: its length) carries the changed one, and repeats without a word about it.
"$palpate" run wall --lockstep --seconds 0.7 --record "$work/a.palpate" >/dev/null
"$palpate" run --replay "$work/a.palpate" --lockstep --record "$work/r.palpate" >/dev/null
cmp "$work/a.palpate" "$work/r.palpate"
# A control: another method must not give the same bytes.
"$palpate" run sine-static --method reference --lockstep --seconds 1 --record "$work/x.palpate" >/dev/null
"$palpate" run sine-static --method halfspace --lockstep --seconds 1 --record "$work/y.palpate" >/dev/null
! cmp -s "$work/x.palpate" "$work/y.palpate"
