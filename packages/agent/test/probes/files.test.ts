import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { createServer as createHttp } from "node:http"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/clock/Clock.ts"
import { configured, probed } from "./probed.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-probes-"))
const at = (name: string): string => join(folder, name)

const servers = {
  echo: createServer((socket) =>
    socket.on("error", () => {}).on("data", (sent) => socket.end(`+${sent.toString()}`)),
  ),
  web: createHttp(({ method = "", url = "", headers }, response) => {
    if (url === "/away") response.writeHead(302, { location: "/" }).end()
    else response.end(`${method} ${headers.host ?? ""}${url}`)
  }),
}

beforeAll(async () => {
  for (const [name, server] of Object.entries(servers)) {
    server.listen(at(`${name}.sock`))
    await once(server, "listening")
  }
})

afterAll(() => {
  for (const server of Object.values(servers)) server.close()
  rmSync(folder, { recursive: true })
})

/** Writes a file that was changed some seconds ago. */
const write = (name: string, seconds: number, content = "x"): string => {
  writeFileSync(at(name), content)
  const when = systemClock.wall() / 1_000 - seconds
  utimesSync(at(name), when, when)
  return at(name)
}

describe("the file probe", () => {
  it.each<[object, number | undefined, string]>([
    [{}, 100_000, "ok"],
    [{ warning: "1h", critical: "26h" }, 60, "ok"],
    [{ warning: "1h", critical: "26h" }, 7_200, "warning"],
    [{ warning: "1h", critical: "26h" }, 100_000, "critical"],
    [{ critical: "1.5m:" }, 60, "critical"],
    [{ critical: "1.5m:" }, 100, "ok"],
    [{ critical: "26h" }, -30, "ok"],
    [{ critical: "26h" }, -3_600, "critical"],
    [{ size: { critical: "1KiB:" } }, 60, "critical"],
    [{ size: { critical: "1B:" } }, 60, "ok"],
    [{}, undefined, "critical"],
    [{ missing: "ok" }, undefined, "ok"],
    [{ missing: "warning" }, undefined, "warning"],
    [{ missing: "ok", critical: "@0:" }, 60, "critical"],
  ])("with %j of a file of %s seconds is %s", async (settings, seconds, expected) => {
    const path = seconds === undefined ? at("none") : write("file", seconds)
    const { status, output } = await probed("file", { path, ...settings })
    assert.strictEqual(status, expected, output)
  })

  it("states age and size, of the newest file that a glob matches", async () => {
    write("db-1.gz", 400_000, "old")
    write("db-2.gz", 200_000, "newest")
    write("db-3.txt", 0)
    const { output } = await probed("file", { path: at("db-*.gz"), warning: "1d", size: { critical: "1B:" } })
    assert.match(output, /^FILE WARNING - \S+\/db-2\.gz 2 days old \| age=20000\ds;86400 size=6B;;1:$/)
    const missing = await probed("file", { path: join(folder, "none", "*.gz") })
    assert.match(missing.output, /none\/\*\.gz does not exist$/)
  })

  it.each([
    [1.7, "1 second old, 1 byte | age=1s size=1B"],
    [89.7, "89 seconds old, 1 byte | age=89s size=1B"],
    [7_259.9, "2 hours old, 1 byte | age=7259s size=1B"],
    [-61.2, "dated 61 s ahead, 1 byte | age=-61s size=1B"],
  ])("has the same whole seconds in its words and figures after %d s", async (seconds, words) => {
    const path = write("aged", 0)
    const now = statSync(path).mtimeMs + seconds * 1_000
    const { output } = await probed("file", { path }, { clock: { ...systemClock, wall: () => now } })
    assert.strictEqual(output, `FILE OK - ${path} ${words}`)
  })

  it.each([
    [{ path: "relative" }, /path must be an absolute path/],
    [{ path: "/a", critical: "1w" }, /critical must be a range such as "26h" or "5m:"; units are s, m, h, d/],
    [{ path: "/a", size: { critical: "1GB" } }, /size\.critical .* units are B, KiB, MiB, GiB, TiB/],
    [{}, /must have path/],
  ])("refuses %j", (settings, problem) => {
    assert.throws(() => configured("file", settings), problem)
  })
})

describe("the disk probe", () => {
  it("compares free bytes in place of the percentage", async () => {
    const ask = async (bytes: object, more: object = {}) =>
      await probed("disk", { mounts: "/", inodes: { critical: "0:" }, bytes, ...more })
    assert.match(
      (await ask({ warning: "1B:", critical: "0:" })).output,
      /^DISK OK - .*'\/ free'=[\d.]+% '\/ bytes'=\d+B;1:;0:/,
    )
    assert.strictEqual((await ask({ critical: "1000TiB:" })).status, "critical")
    assert.strictEqual((await ask({ critical: "1B:" }, { warning: "100:" })).status, "warning")
  })
})

describe("the mount probe", () => {
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
  const proc = mounts.find(([, path]) => path === "/proc")

  it("is critical where a mount is missing, of another type, or read-only", async () => {
    const found = await probed("mount", { mounts: ["/", "/proc/"] })
    assert.strictEqual(found.output, "MOUNT OK - /, /proc/ mounted | mounts=0;;0")
    const missing = await probed("mount", { mounts: ["/proc", folder, "/no/such"] })
    assert.strictEqual(missing.status, "critical")
    assert.include(missing.output, `CRITICAL - ${folder} is not mounted, /no/such cannot be examined: ENOENT`)
    assert.match(missing.output, /\| mounts=2;;0$/)
    const other = await probed("mount", { mounts: "/proc", types: ["ext4", "xfs"] })
    assert.include(other.output, `/proc is of type ${proc?.[2] ?? ""}`)
    const readOnly = mounts.find(
      ([, path = "", , options]) => options?.startsWith("ro") && !path.includes("\\"),
    )
    if (readOnly === undefined) return
    const { output } = await probed("mount", { mounts: readOnly[1], writable: true })
    assert.include(output, "is read-only")
  })
})

describe("a Unix socket", () => {
  it("answers the unix probe", async () => {
    const path = at("echo.sock")
    assert.match((await probed("unix", { path })).output, /^UNIX OK - \S+ answered in \d\.\d{3} s \| time=/)
    assert.strictEqual((await probed("unix", { path, send: "PING", expect: "+PING" })).status, "ok")
    assert.strictEqual((await probed("unix", { path, send: "PING", expect: "-" })).status, "critical")
    const missing = await probed("unix", { path: at("none.sock") })
    assert.match(missing.output, /^UNIX CRITICAL - \S+: connect ENOENT/)
  })

  it("carries the http probe", async () => {
    const settings = { url: "http://api.example/v1", socket: at("web.sock"), text: "GET api.example/v1" }
    assert.strictEqual((await probed("http", settings)).status, "ok")
    const moved = await probed("http", {
      ...settings,
      url: "http://api.example/away",
      text: "GET api.example/",
    })
    assert.strictEqual(moved.status, "ok", moved.output)
  })
})
