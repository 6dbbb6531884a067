import { assert, describe, it } from "@effect/vitest"
import { enrolmentLines } from "../src/enrolmentLines.ts"

const sha256 = "0123456789abcdef".repeat(4)

describe("the lines to paste on a host", () => {
  it("get the script, compare it, and run it; the token is for its question", () => {
    assert.deepStrictEqual(
      enrolmentLines({ server: "https://a.example/monitor/", token: "enrol_x", sha256 }),
      [
        `curl -fsSo tocsin-agent.sh https://a.example/monitor/agent/install.sh && echo '${sha256}  tocsin-agent.sh' | sha256sum -c -`,
        "sudo sh tocsin-agent.sh --server https://a.example/monitor",
        "enrol_x",
      ],
    )
  })

  it("start an installed agent where the server hands out none", () => {
    assert.deepStrictEqual(enrolmentLines({ server: "https://a.example", token: "enrol_x" }), [
      "TOCSIN_ENROLMENT_TOKEN=enrol_x tocsin-agent start --server https://a.example",
    ])
  })

  it("give a shell the address as one word, whatever it contains", () => {
    const [, run] = enrolmentLines({ server: "http://[::1]:1/a'$(b)", token: "enrol_x", sha256 })
    assert.strictEqual(run, "sudo sh tocsin-agent.sh --server 'http://[::1]:1/a%27$(b)'")
  })
})
