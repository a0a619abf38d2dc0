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
# A control: another method must not give the same bytes.
"$palpate" run sine-static --method reference --lockstep --seconds 1 --record "$work/x.palpate" >/dev/null
"$palpate" run sine-static --method halfspace --lockstep --seconds 1 --record "$work/y.palpate" >/dev/null
! cmp -s "$work/x.palpate" "$work/y.palpate"
