import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { definitions } from "@tocsin/server/settings/Settings"
import { blocksOf } from "../docs/CodeBlock.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const FOLDER = "deploy/high-availability"
const files = readdirSync(FOLDER)
const textOf = (file: string) => readFileSync(join(FOLDER, file), "utf8")
const commands = blocksOf("docs/install/high-availability.md").map(({ text }) => text)

/** The variables that the page sets, on all machines and on each. */
const variables = new Set(
  commands.flatMap((text) => Array.from(text.matchAll(/\b([A-Z_]+)=/g), ([, name = ""]) => name)),
)

const CERTIFIER = "openssl"
const HAPROXY = programPath("haproxy") ?? "haproxy"
const withoutHaproxy = lacking("haproxy", "openssl")

// test/failover/patroni.test.ts runs Patroni and etcd with their files.
describe("the files for high availability", () => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-haproxy-"))
  afterAll(() => rmSync(folder, { recursive: true }))

  it("are all installed by the page, and name only variables that it sets", () => {
    for (const file of files) {
      assert.isTrue(
        commands.some((text) => text.includes(`<${FOLDER}/${file}`)),
        file,
      )
      for (const [, name = ""] of textOf(file).matchAll(/\$\{(\w+)\}/g)) assert.include(variables, name)
    }
  })

  it("have the balancer ask for readiness at the server's port, and trust it", () => {
    assert.include(textOf("haproxy.cfg"), "option httpchk GET /api/v1/ready")
    assert.include(textOf("haproxy.cfg"), `\${ONE}:${definitions.SERVICE_PORT.fallback}`)
    assert.isTrue(commands.some((text) => text.includes("SERVICE_TRUST_PROXY=1")))
  })

  it.skipIf(withoutHaproxy !== undefined)(
    `have a configuration that HAProxy accepts${skippedFor(withoutHaproxy)}`,
    () => {
      const subject = ["-subj", "/CN=monitoring.example", "-keyout", join(folder, "tocsin.pem")]
      const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
      const certificate = execFileSync(CERTIFIER, ["req", "-x509", ...key, ...subject], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      })
      writeFileSync(join(folder, "tocsin.pem"), certificate, { flag: "a" })
      const text = textOf("haproxy.cfg")
        .replaceAll(/\$\{\w+\}/g, "127.0.0.1")
        .replaceAll("/etc/haproxy/tocsin.pem", join(folder, "tocsin.pem"))
      writeFileSync(join(folder, "haproxy.cfg"), text)
      const checked = spawnSync(HAPROXY, ["-c", "-f", join(folder, "haproxy.cfg")], { encoding: "utf8" })
      assert.strictEqual(checked.status, 0, checked.stderr)
    },
  )
})
