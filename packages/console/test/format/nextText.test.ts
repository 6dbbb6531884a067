import { assert, describe, it } from "@effect/vitest"
import { nextText } from "../../src/format/nextText.ts"

describe("the next times of a job", () => {
  it("a time that the clock skips is the end of the gap, as the service expects it", () => {
    const texts = { cron: "30 2 * * *", tz: "Europe/Berlin", grace: "1h" }
    assert.match(
      nextText(texts, Date.parse("2027-03-27T00:00Z")),
      /^Next: .*27.*2:30.*; .*28.*3:00.*; .*29.*2:30/,
    )
    assert.match(
      nextText(texts, Date.parse("2027-10-30T00:00Z")),
      /^Next: .*30.*2:30.*; .*31.*2:30.*; .*1.*2:30/,
    )
  })

  it("of a line that other crons read otherwise are said with that, and none without a zone", () => {
    assert.match(
      nextText({ cron: "0 3 */2 * *", tz: "UTC", grace: "1h" }, 0),
      /^Next: .*\. This line has a step in its days: /,
    )
    assert.match(nextText({ cron: "0 3 * * *", tz: "" }, 0), /^Choose the time zone of the machine/)
  })

  it.each(["", "half", "0s", "8d"])("a grace of %j is refused as it is where it is sent", (grace) => {
    const texts = { cron: "0 3 * * *", tz: "UTC" }
    assert.match(
      nextText({ ...texts, grace }, 0),
      /^Grace must be a duration such as 30m or 2h, of at most 7d/,
    )
    assert.match(nextText({ ...texts, grace: "1h" }, 0), /Late an hour after each\.$/)
    assert.match(nextText({ ...texts, grace: "7d" }, 0), /Late 7d after each\.$/)
  })

  it("a wrong expression says what is wrong", () => {
    assert.strictEqual(
      nextText({ cron: "0 3 * *", tz: "UTC" }, 0),
      "The times must have five fields: minute, hour, day, month, weekday",
    )
  })
})
