import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

const read = (page: string): string => readFileSync(`docs/${page}.md`, "utf8")

describe("advice that other software makes necessary", () => {
  it("leaves Nagios the quotes of labels, without which one of two numbers is lost, and names its soft states", () => {
    const page = read("nagios")
    const [, stripped] = /^illegal_macro_output_chars=(.+)$/m.exec(page) ?? assert.fail("no such line")
    assert.notInclude(stripped, "'")
    assert.include(page, "soft states")
  })

  it("gives hourly timers of systemd three hours: 65 to 120 minutes pass between two in autumn", () => {
    assert.include(read("late"), "`every=1h&after=3h`")
  })
})
