import { spawnSync } from "node:child_process"
import { hash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { enrolmentLines } from "../../src/enrolment/enrolmentLines.ts"

const sha256 = "0123456789abcdef".repeat(4)

describe("the lines to paste on a host", () => {
  it("get the script, compare it, and run it; the token is for its question", () => {
    assert.deepStrictEqual(
      enrolmentLines({ server: "https://a.example/monitor/", token: "enrol_x", sha256 }),
      [
        `curl -fsSm 60 -o tocsin-agent.sh https://a.example/monitor/agent/install.sh && echo '${sha256}  tocsin-agent.sh' | sha256sum -c - && sudo sh tocsin-agent.sh --server https://a.example/monitor`,
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
    const [run = ""] = enrolmentLines({ server: "http://[::1]:1/a'$(b)", token: "enrol_x", sha256 })
    assert.match(run, /&& sudo sh tocsin-agent\.sh --server 'http:\/\/\[::1\]:1\/a%27\$\(b\)'$/)
  })

  it.each([
    ["as it was published", "echo ok", true],
    ["changed", "echo ok; echo more", false],
    ["unreachable", "return 22", false],
  ] as const)("pasted together, run a script that is %s: %s", (_, curl, runs) => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-enrolment-"))
    const published = hash("sha256", "ok\n")
    const lines = enrolmentLines({ server: "https://a.example", token: "true", sha256: published })
    const script = `curl() { { ${curl}; } > tocsin-agent.sh; }\nsudo() { echo "it runs"; }\n${lines.join("\n")}\n`
    const { stdout } = spawnSync("sh", { cwd: folder, input: script, encoding: "utf8" })
    rmSync(folder, { recursive: true })
    assert.strictEqual(stdout.includes("it runs"), runs)
  })
})
