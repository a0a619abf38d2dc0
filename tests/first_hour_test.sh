#!/usr/bin/env bash
# first_hour_test.sh PALPATE: the commands and the scene of docs/first-hour.md, as they stand there, with a mesh as a beginner has one.
set -euo pipefail
palpate=$1
page=$(cd "$(dirname "$0")/.." && pwd)/docs/first-hour.md
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*"; exit 1; }

# A table in millimetres: a board of squares and four legs of 12 mm, all one surface, the top of the board missing.
awk 'BEGIN {
  n = 15; s = 20                                       # squares of 20 mm along x; 10 along z
  m = 10; legs = 5
  for (i = 0; i <= n; ++i) for (k = 0; k <= m; ++k) for (top = 0; top < 2; ++top)
    print "v", s * (i - n / 2), top ? 220 : 190, s * (k - m / 2)
  for (i = 0; i < n; ++i) for (k = 0; k < m; ++k)
    if (!((i == 1 || i == n - 2) && (k == 1 || k == m - 2))) quad(b(i, k), b(i + 1, k), b(i + 1, k + 1), b(i, k + 1))
  for (i = 0; i < n; ++i) { side(b(i, 0), b(i + 1, 0)); side(b(i + 1, m), b(i, m)) }
  for (k = 0; k < m; ++k) { side(b(n, k), b(n, k + 1)); side(b(0, k + 1), b(0, k)) }
  count = 2 * (n + 1) * (m + 1)
  for (i = 1; i <= n - 2; i += n - 3) for (k = 1; k <= m - 2; k += m - 3) leg(i, k)
}
function b(i, k) { return 1 + 2 * (i * (m + 1) + k) }  # below; the vertex above follows it
function quad(p, q, r, t) { print "f", p, q, r, t }
function side(p, q) { quad(q, p, p + 1, q + 1) }
function leg(i, k,   j, x, z, c, d) {                  # narrows to 12 mm below the board, and stands on y = 0
  x = s * (i + 0.5 - n / 2); z = s * (k + 0.5 - m / 2)
  split(b(i, k) " " b(i + 1, k) " " b(i + 1, k + 1) " " b(i, k + 1), c, " ")
  for (j = 1; j <= legs; ++j) {
    print "v", x - 6, 180 * (legs - j) / (legs - 1), z - 6; print "v", x + 6, 180 * (legs - j) / (legs - 1), z - 6
    print "v", x + 6, 180 * (legs - j) / (legs - 1), z + 6; print "v", x - 6, 180 * (legs - j) / (legs - 1), z + 6
    split((count + 1) " " (count + 2) " " (count + 3) " " (count + 4), d, " ")
    count += 4
    for (e = 1; e <= 4; ++e) quad(c[e], d[e], d[e % 4 + 1], c[e % 4 + 1])
    for (e = 1; e <= 4; ++e) c[e] = d[e]
  }
  quad(c[1], c[2], c[3], c[4])
}' > table.obj

# The page's scene, and its commands in their order.
sed -n '/^```json$/,/^```$/{/^```/d;p}' "$page" > table.json
[ -s table.json ] || fail "no scene on the page"
ran=0
while read -r line; do
  ran=$((ran + 1))
  eval "\"\$palpate\" $line" > "out.$ran" 2> "err.$ran" || fail "palpate $line: $(cat "err.$ran")"
done < <(sed -n 's/^    palpate //p' "$page")
[ $ran = 6 ] || fail "$ran commands on the page"

# And each said what the page says of it.
grep -q '^holes   1 hole: .* around (0, 220, 0) m; closed by: palpate mesh table.obj --fill-holes' out.1 || fail "the hole: $(cat out.1)"
grep -q '^unit    300 m: in millimetres? Then give --scale 0.001' out.1 || fail "millimetres: $(cat out.1)"
grep -q '1 hole filled' out.2 || fail "filled: $(cat out.2)"
grep -q '^from    (-0.15, ' out.3 && grep -q ', 0.22, ' out.3 || fail "the tets have legs and board: $(cat out.3)"
! grep -q '^warning' out.3 || fail "something is lost: $(cat out.3)"
grep -q 'table: soft.* g, .*[1-9][0-9]* fixed nodes' out.4 && grep -q '^valid' out.4 || fail "check: $(cat out.4)"
! grep -q '^warning' out.4 || fail "check warns: $(cat out.4)"
# "The file as it came would do as well."
sed 's|"file": "table.ply"|"file": "table.obj", "scale": 0.001, "repair": true|' table.json > raw.json
grep -q '"repair": true' raw.json || fail "the page's scene has no table.ply"
"$palpate" check raw.json > out.raw 2>&1 || fail "check of the file as it came: $(cat out.raw)"
soft() { grep -o 'table: soft.*' "$1"; }
[ "$(soft out.raw)" = "$(soft out.4)" ] || fail "repaired by the scene: $(soft out.raw); by hand: $(soft out.4)"
grep -q 'peak force [1-9][0-9.]* N' out.5 || fail "nothing is felt: $(cat out.5)"
[ -s table.palpate ] && [ -s table.html ] && [ -s table.metrics.json ] || fail "no recording or no report"
grep -q '"bodies"' table.json || fail "the scene was written over"
grep -q '^jacobian' out.6 || fail "compare: $(cat out.6)"
echo "the first hour: $(grep -o 'peak force [^,]*' out.5), $(sed -n 's/^tets: \([0-9]* tets\).*/\1/p' out.3)"
