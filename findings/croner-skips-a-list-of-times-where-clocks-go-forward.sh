#!/usr/bin/env bash
# A list of times is skipped where clocks go forward; one time is not
#
# What: croner 11.0.1 (npm), with its own handling of time zones.
#
# Behaviour: in Berlin's night of 28 March 2027, the clock goes from 02:00 to 03:00.
#   "30 2 * * *" runs once at the end of the gap, 03:00 (01:00Z).
#   "0,30 2 * * *" does not run in that night at all: the next run is a day later.
# Where the clock goes back, on 25 October 2026, 02:30 is shown twice.
#   "30 2 * * *" runs the first time alone.
#   "0,30 2 * * *" runs both times: four runs.
#
# What people expect: that a list of two times runs whenever each of them alone would, as in Debian's cron, which makes
# up for both at 03:00, and runs each once in autumn. A nightly job that gets a second time loses one night of the year.
#
# Seen, 2026-11-28:
#   one time  spring: 2027-03-28T01:00 2027-03-29T00:30
#   two times spring: 2027-03-29T00:00 2027-03-29T00:30
#   one time  autumn: 2026-10-25T00:30 2026-10-26T01:30
#   two times autumn: 2026-10-25T00:00 2026-10-25T00:30 2026-10-25T01:00 2026-10-25T01:30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund croner@11.0.1
cat >runs.mjs <<'JS'
import { Cron } from "croner"
const runs = (line, from, count) =>
  new Cron(line, { timezone: "Europe/Berlin" })
    .nextRuns(count, new Date(from))
    .map((run) => run.toISOString().slice(0, 16))
    .join(" ")
const [spring, autumn] = ["2027-03-28T00:30:00Z", "2026-10-24T23:50:00Z"]
console.log(`one time  spring: ${runs("30 2 * * *", spring, 2)}`)
console.log(`two times spring: ${runs("0,30 2 * * *", spring, 2)}`)
console.log(`one time  autumn: ${runs("30 2 * * *", autumn, 2)}`)
console.log(`two times autumn: ${runs("0,30 2 * * *", autumn, 4)}`)
JS
seen=$(node runs.mjs)
echo "$seen"
expected='one time  spring: 2027-03-28T01:00 2027-03-29T00:30
two times spring: 2027-03-29T00:00 2027-03-29T00:30
one time  autumn: 2026-10-25T00:30 2026-10-26T01:30
two times autumn: 2026-10-25T00:00 2026-10-25T00:30 2026-10-25T01:00 2026-10-25T01:30'
[ "$seen" = "$expected" ] || { echo "croner behaves otherwise now" >&2; exit 1; }
