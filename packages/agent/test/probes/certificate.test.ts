import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createHttps } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/clock/Clock.ts"
import { configured, opensslIn, probed, TestServers, unlessOpenssl, withoutOpenssl } from "./probed.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-certificate-"))
const at = (name: string): string => join(folder, name)
const read = (name: string): string => readFileSync(at(name), "utf8")
const servers = new TestServers()

const openssl = opensslIn(folder)

const HOUR = 3_600_000
const timeText = (hours: number): string =>
  `${new Date(systemClock.wall() + hours * HOUR).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)}Z`

/** Issues a certificate of a lifetime, from hours ago to hours ahead. */
const issue = (
  name: string,
  by: string,
  kind: string,
  [from, to]: readonly [number, number],
  { key = name, subject = name } = {},
): void => {
  openssl(`req -new -subj /CN=${subject} -key ${key}.key -out ${name}.request`)
  const times = `-startdate ${timeText(from)} -enddate ${timeText(to)}`
  openssl(
    `ca -batch -notext -config ca -cert ${by}.pem -keyfile ${by}.key ${times} -extfile ${kind} -in ${name}.request -out ${name}.pem`,
  )
}

/** The configuration with which openssl issues certificates with times. */
const CA = `[ca]
default_ca = own
[own]
database = index
new_certs_dir = .
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
`

const serve = async (name: string, ...above: ReadonlyArray<string>): Promise<number> => {
  const cert = [name, ...above].map((one) => read(`${one}.pem`)).join("")
  const server = createHttps({ key: read("server.key"), cert }, (_, response) => response.end("hello"))
  return await servers.listen(server)
}

beforeAll(() => {
  if (withoutOpenssl !== undefined) return
  for (const name of ["root", "old", "between", "server"])
    openssl(`ecparam -name prime256v1 -genkey -noout -out ${name}.key`)
  for (const name of ["root", "old"])
    openssl(`req -x509 -days 3650 -subj /CN=${name} -key ${name}.key -out ${name}.pem`)
  writeFileSync(at("ca"), CA)
  writeFileSync(at("index"), "")
  writeFileSync(at("authority"), "basicConstraints=CA:TRUE")
  writeFileSync(at("leaf"), "subjectAltName=DNS:localhost,IP:127.0.0.1")
})

afterAll(() => {
  servers.close()
  rmSync(folder, { recursive: true })
})

/** The first words of both probes that show a certificate. */
const both = async (port: number, settings: Readonly<Record<string, unknown>> = {}, ca = "root.pem") => {
  const byTls = await probed("tls", { host: "127.0.0.1", port, ca: at(ca), ...settings })
  const page = { url: `https://127.0.0.1:${port}/`, ca: at(ca), days: settings["days"] ?? settings }
  const byHttp = await probed("http", page)
  assert.strictEqual(byTls.status, byHttp.status, `${byTls.output}\n${byHttp.output}`)
  return byTls
}

describe.skipIf(withoutOpenssl !== undefined)(`the days of a certificate${unlessOpenssl}`, () => {
  it.each([
    ["fresh, of 160 hours", [-1, 159], "ok", /valid for 6 days, /],
    [
      "of 160 hours with 40 left",
      [-120, 40.5],
      "warning",
      /valid for 40 hours, to \d{4}-\d\d-\d\dT\d\d:\d\dZ/,
    ],
    ["of 160 hours with 10 left", [-150, 10.5], "critical", /valid for 10 hours, to /],
    ["fresh, of 12 hours", [-0.1, 11.9], "ok", /valid for 11 hours, to /],
    ["of 12 hours with 3 left", [-9, 3.1], "warning", /valid for 3 hours, to /],
    ["of 12 hours with 1 left", [-11, 1.1], "critical", /valid for 1 hour, to /],
    ["of 90 days with 20 left", [-70 * 24, 20 * 24 + 1], "warning", /valid for 20 days, to /],
    ["of 90 days with 22 left", [-68 * 24, 22 * 24 + 1], "ok", /valid for 22 days, to .*;21:;7:/],
    ["of 90 days with 6 left", [-84 * 24, 6 * 24 + 1], "critical", /valid for 6 days, to /],
    ["that expired", [-84, -1], "critical", /certificate (expired on|has expired)/],
  ] as const)("%s", async (_, lifetime, status, words) => {
    issue("server", "root", "leaf", lifetime)
    const found = await both(await serve("server"))
    assert.strictEqual(found.status, status, found.output)
    assert.match(found.output, words)
  })

  it("take thresholds with units", async () => {
    issue("server", "root", "leaf", [-1, 40.5])
    const port = await serve("server")
    assert.strictEqual((await both(port, { warning: "1d:", critical: "90m:" })).status, "ok")
    assert.strictEqual((await both(port, { warning: "41h:", critical: "40h:" })).status, "warning")
    assert.strictEqual((await both(port, { critical: "2:" })).status, "critical")
    assert.strictEqual((await both(port, { days: { critical: "2:" } })).status, "critical")
    assert.throws(() => configured("tls", { host: "a", warning: "2GiB:" }), /units are m, h, d$/)
  })

  it("are critical below none, whatever was asked for as a warning", async () => {
    issue("server", "root", "leaf", [-84, -1])
    const host = { host: "127.0.0.1", port: await serve("server"), ca: at("root.pem") }
    for (const given of [{ warning: "30:" }, { days: { warning: "30:" }, verify: false }]) {
      const { output, status } = await probed("tls", { ...host, ...given })
      assert.strictEqual(status, "critical", output)
    }
  })

  it("are those of a certificate in between that expires first, with its name", async () => {
    issue("between", "root", "authority", [-300 * 24, 3 * 24 + 1])
    issue("server", "between", "leaf", [-1, 307 * 24])
    // In whatever order they were sent.
    for (const above of [["between"], ["root", "between"]]) {
      const found = await both(await serve("server", ...above))
      assert.strictEqual(found.status, "critical", `${above.join()} ${found.output}`)
      assert.match(found.output, /certificate of between valid for 3 days, to /)
    }
  })

  it("are those of an authority that a file names, and of the newest where it names several", async () => {
    writeFileSync(at("young.key"), read("old.key"))
    openssl("req -new -subj /CN=young -key young.key -out young.request")
    for (const [name, end] of [
      ["young", 3 * 24 + 1],
      ["newer", 400 * 24],
    ] as const)
      openssl(
        `ca -batch -notext -config ca -selfsign -keyfile young.key -startdate ${timeText(-300 * 24)} -enddate ${timeText(end)} -extfile authority -in young.request -out ${name}.pem`,
      )
    issue("server", "young", "leaf", [-1, 307 * 24])
    const port = await serve("server")
    const found = await both(port, {}, "young.pem")
    assert.match(found.output, /^TLS CRITICAL - .*certificate of young valid for 3 days, to /)
    writeFileSync(at("both.pem"), read("young.pem") + read("newer.pem"))
    const renewed = await both(port, {}, "both.pem")
    assert.match(renewed.output, /^TLS OK - .*certificate valid for 30[67] days/)
  })

  it("name a certificate as it was issued", async () => {
    issue("between", "root", "authority", [-300 * 24, 3 * 24 + 1], { subject: String.raw`Bau,\+"Co"` })
    issue("server", "between", "leaf", [-1, 307 * 24])
    const { output } = await both(await serve("server", "between"))
    assert.include(output, 'certificate of Bau,+"Co" valid for')
  })

  it("are not those of certificates that are sent and not used", async () => {
    issue("between", "root", "authority", [-1, 400 * 24])
    issue("server", "between", "leaf", [-1, 307 * 24])
    // The trusted root, signed by an older one for older clients.
    issue("crossed", "old", "authority", [-300 * 24, 24], { key: "root", subject: "root" })
    for (const above of [
      ["between", "crossed"],
      ["between", "crossed", "old"],
      ["between", "root"],
      ["between", "old"],
    ]) {
      const found = await both(await serve("server", ...above))
      assert.strictEqual(found.status, "ok", found.output)
      assert.match(found.output, /certificate valid for 30[67] days/)
    }
  })
})
