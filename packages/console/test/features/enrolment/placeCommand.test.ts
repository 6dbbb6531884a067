import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { cloneCommand, placeCommand } from "../../../src/features/enrolment/agentCommands.ts"

/** The configuration after a command in its folder, and whether the command succeeded. */
const run = (file: string, config: string | undefined, command: string) => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-place-"))
  try {
    const path = join(folder, file)
    if (config !== undefined) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, config)
    }
    const { status } = spawnSync("sh", ["-c", command], { cwd: folder })
    return { config: existsSync(path) ? readFileSync(path, "utf8") : undefined, succeeds: status === 0 }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface Answers {
  readonly agent?: string
  readonly systemctl?: string
}

/** The outcome of the command for an installed agent's configuration, by what stands in for the agent and for systemd. */
const placed = (config: string | undefined, { agent = "true", systemctl = "true" }: Answers = {}) => {
  const sudo = `sudo() { case $1 in tocsin-agent) ${agent} ;; systemctl) ${systemctl} ;; *) "$@" ;; esac; }`
  const command = placeCommand("public, 10.0.0.0/8").replaceAll("/etc/tocsin-agent/", "")
  return run("config.yaml", config, `${sudo}; ${command}`)
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
      assert.deepStrictEqual(placed(before), { config: `${rest}${PLACE}`, succeeds: true })
    })

  it("takes back what the agent refuses, and fails", () => {
    const config = "place:\n  allow: [public]\n"
    assert.deepStrictEqual(placed(config, { agent: "false" }), { config, succeeds: false })
  })

  it("keeps what the agent accepts where systemd does not run, and fails", () => {
    const after = placed("server: http://a\n", { systemctl: "false" })
    assert.deepStrictEqual(after, { config: `server: http://a\n${PLACE}`, succeeds: false })
  })

  it("fails where there is no configuration, and makes none of a former one", () => {
    assert.deepStrictEqual(placed(undefined), { config: undefined, succeeds: false })
  })
})

describe("the commands that make the agent of a clone a place", () => {
  const command = `npm() { :; }; ${cloneCommand("http://127.0.0.1:8080/", { allow: "public, 10.0.0.0/8" })}`

  it("write a configuration where there is none", () => {
    const { config, succeeds } = run("data/agent/config.yaml", undefined, command)
    assert.strictEqual(
      config,
      `server: "http://127.0.0.1:8080"\n${PLACE}checks: { disk: { disk: {} }, load: { load: {} }, memory: { memory: {} } }\n`,
    )
    assert.isTrue(succeeds)
  })

  it("keep one that is there", () => {
    const own = "server: http://a\nchecks:\n  shop: { http: { url: http://b } }\n"
    const after = run("data/agent/config.yaml", own, command)
    assert.deepStrictEqual(after, { config: own + PLACE, succeeds: true })
  })
})
