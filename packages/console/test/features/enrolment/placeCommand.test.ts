import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { placeCommand } from "../../../src/features/enrolment/agentCommands.ts"

/** The configuration after the command, with an agent that refuses it or not. */
const after = (config: string, answer = "true"): string => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-place-"))
  try {
    const file = join(folder, "config.yaml")
    writeFileSync(file, config)
    const command = placeCommand("public, 10.0.0.0/8").replaceAll("/etc/tocsin-agent/config.yaml", file)
    const sudo = `sudo() { case $1 in tocsin-agent) ${answer} ;; systemctl) ;; *) "$@" ;; esac; }`
    execFileSync("sh", ["-c", `${sudo}; ${command}`])
    return readFileSync(file, "utf8")
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const PLACE = "place: { allow: [public, 10.0.0.0/8] }\n"

describe("the command that makes an agent a place", () => {
  for (const [before, rest] of [
    ["server: http://a\n", "server: http://a\n"],
    ["server: http://a", "server: http://a\n"],
    ["place: true\nserver: http://a\n", "server: http://a\n"],
    ["server: http://a\nplace: { allow: [public] }\n", "server: http://a\n"],
    ["server: http://a\nplace: false \n", "server: http://a\n"],
  ] as const)
    it(`adds its line to ${JSON.stringify(before)}`, () => {
      assert.strictEqual(after(before), `${rest}${PLACE}`)
    })

  it("takes back what the agent refuses", () => {
    const config = "place:\n  allow: [public]\n"
    assert.strictEqual(after(config, "false"), config)
  })
})
