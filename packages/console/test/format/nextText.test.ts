import { assert, describe, it } from "@effect/vitest"
import { nextText } from "../../src/format/nextText.ts"

describe("the next times of a job", () => {
  it("a time that the clock skips is the end of the gap, as the service expects it", () => {
    const texts = { cron: "30 2 * * *", tz: "Europe/Berlin" }
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
      nextText({ cron: "0 3 */2 * *", tz: "UTC" }, 0),
      /^Next: .*\. This line has a step in its days: /,
    )
    assert.match(nextText({ cron: "0 3 * * *", tz: "" }, 0), /^Choose the time zone of the machine/)
  })

  it("a wrong expression says what is wrong", () => {
    assert.strictEqual(
      nextText({ cron: "0 3 * *", tz: "UTC" }, 0),
      "The times must have five fields: minute, hour, day, month, weekday",
    )
  })
})
