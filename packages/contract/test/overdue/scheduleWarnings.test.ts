import { assert, it } from "@effect/vitest"
import { scheduleWarnings } from "../../src/overdue/scheduleWarnings.ts"

// As read by Debian 12: cron 3.0pl1-162, busybox 1.35.0 (even days of */2), systemd-cron 1.15.19 (both, and every day of 5-7).
it.each([
  ["0 3 * * *", undefined, undefined],
  ["0 3 1-31/2 * *", undefined, undefined],
  ["0 3 */1 * sun", undefined, undefined],
  ["*/2 */2 * */2 1-5", undefined, undefined],
  ["0 3 */2 * *", undefined, "begins at day 0; write a range, such as 1-31/2"],
  ["0 3 1,*/5 * *", undefined, "cron has a step in its days"],
  ["0 3 * * 7", undefined, "every day: write 0 for Sunday, and 0,5,6 for 5-7"],
  ["0 3 * * 5-7", undefined, "cron has the weekday 7"],
  ["0 3 13 * 5", undefined, "cron names a day of the month and a weekday"],
  ["0 3 */2 * 1", undefined, "cron has a step in its days"],
  ["0 3 13 * */2", undefined, undefined],
  ["0 3 * * */7", undefined, undefined],
  ["0 3 * * 1-5/17", undefined, undefined],
  ["0 3 * * 0,7", undefined, "cron has the weekday 7"],
  ["@reboot", undefined, undefined],
  ["@weekly", undefined, undefined],
  ["0 3 L * *", undefined, "cron has L, which few crons know"],
  ["0 3 15,L * *", undefined, "cron has L, which few crons know"],
  ["5/15 * * * *", undefined, "cron has a step behind one value"],
  ["0 1/2 * * *", undefined, "cron has a step behind one value"],
  ["0\t3 2/2 * *", undefined, "cron has a step behind one value"],
  ["0 3 * jan/3 *", undefined, "leaves out: write a range, such as 5-59/15"],
  ["5-59/15 */2 1-31/2 jan-dec/3 *", undefined, undefined],
  ["*/5,2-59/7 * * * *", undefined, undefined],
  ["0 3 * * *", "EST", "tz knows no summer time: write America/New_York"],
  [undefined, "hst", "tz knows no summer time: write America/Adak"],
  ["0 3 * * *", "EST5EDT", undefined],
])("%s in %s is warned of", (cron, tz, expected) => {
  const [found, ...others] = scheduleWarnings({ cron, tz }).map(
    ({ message, path }) => `${path.join(".")} ${message}`,
  )
  assert.deepStrictEqual(others, [])
  if (expected === undefined) assert.isUndefined(found)
  else assert.include(found, expected)
})
