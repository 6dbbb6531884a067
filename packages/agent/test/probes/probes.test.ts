import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer as createHttp } from "node:http"
import { createServer as createTcp } from "node:net"
import { cpus, loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { AGENT } from "@tocsin/test/processes/program"
import { createServer as createTls, getCACertificates, setDefaultCACertificates } from "node:tls"
import { text } from "node:stream/consumers"
import { configured, probed, type ProbeName, TestServers, unlessOpenssl, withoutOpenssl } from "./probed.ts"
import { lacking } from "../../../../scripts/programs.mjs"

const CERTIFIER = "openssl"

const servers = new TestServers()
const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
const ports = { http: 0, switching: 0, greeting: 0, mute: 0, slow: 0, tls: 0 }

beforeAll(async () => {
  ports.http = await servers.listen(
    createHttp((request, response) => {
      const { url = "", headers } = request
      if (url === "/away") response.writeHead(302, { location: "/here" }).end()
      else if (url === "/round") response.writeHead(302, { location: "/round" }).end()
      else if (url === "/broken") response.writeHead(500).end()
      else if (url === "/secret") response.end(headers["x-token"] ?? "none")
      else if (url === "/packed") response.end(headers["accept-encoding"] ?? "packed")
      else if (url === "/gzip") response.writeHead(200, { "content-encoding": "gzip" }).end("\u001f")
      else if (url === "/cut")
        response.writeHead(200, { "content-length": 9 }).write("well", () => response.destroy())
      else if (url === "/slow") response.end(`${"a".repeat(60)}!`)
      else if (url === "/form")
        void text(request).then((sent) =>
          response.end(`${request.method} ${sent} ${headers["content-type"]}`),
        )
      else if (/^\/30[1-8]$/.test(url)) response.writeHead(Number(url.slice(1)), { location: "/form" }).end()
      else if (url === "/elsewhere")
        response.writeHead(307, { location: `http://localhost:${ports.http}/form` }).end()
      else if (url === "/long") response.end(`${"a".repeat(1_048_576)}needle`)
      else if (url === "/mute") return
      // Its end is that of the connection, as with a server of HTTP/1.0.
      else if (url === "/half")
        response.socket?.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall is well")
      else response.end("all is well\nhere")
    }),
  )
  // Byte by byte.
  ports.slow = await servers.listen(
    createTcp((socket) => {
      const left = [..."220 HELO"]
      socket.setNoDelay(true).on("error", () => {})
      const timer = setInterval(() => socket.write(left.shift() ?? "."), 5)
      socket.on("close", () => clearInterval(timer))
    }),
  )
  ports.switching = await servers.listen(
    createTcp((socket) =>
      socket.once("data", () =>
        socket.end("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: h\r\n\r\n"),
      ),
    ),
  )
  ports.greeting = await servers.listen(
    createTcp((socket) =>
      socket.on("error", () => {}).on("data", (sent) => socket.end(`220 ${sent.toString()}`)),
    ),
  )
  ports.mute = await servers.listen(createTcp(() => {}))
  if (withoutOpenssl !== undefined) return
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const args = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout ${key} -out ${cert}`
  execFileSync(CERTIFIER, args.split(" "), { stdio: "ignore" })
  ports.tls = await servers.listen(createTls({ key: readFileSync(key), cert: readFileSync(cert) }))
})

afterAll(() => {
  servers.close()
  rmSync(folder, { recursive: true })
})

const JSON_TYPE = { "content-type": "application/json" }
const at = (path: string): string => `http://127.0.0.1:${ports.http}${path}`

describe("the http probe", () => {
  it.each([
    ["/", {}, "ok"],
    ["/away", {}, "ok"],
    ["/away", { redirects: 0 }, "ok"],
    ["/away", { redirects: 0, text: "well" }, "critical"],
    ["/round", {}, "critical"],
    ["/broken", {}, "critical"],
    ["/broken", { status: [404, 500] }, "ok"],
    ["/", { text: "well" }, "ok"],
    ["/", { text: "unwell" }, "critical"],
    ["/", { pattern: "^here$" }, "ok"],
    ["/", { pattern: "^well" }, "critical"],
    ["/", { critical: "@0:100" }, "critical"],
    ["/secret", { headers: { "x-token": "yes" }, text: "yes" }, "ok"],
    [
      "/form",
      { method: "POST", body: '{"a":1}', headers: JSON_TYPE, text: 'POST {"a":1} application/json' },
      "ok",
    ],
    ["/form", { method: "POST", text: "POST  undefined" }, "ok"],
    ["/302", { method: "POST", body: "a=1", text: "GET  undefined" }, "ok"],
    ["/307", { method: "POST", body: "a=1", text: "POST a=1" }, "ok"],
    ["/308", { method: "POST", body: "a=1", text: "POST a=1" }, "ok"],
    ["/elsewhere", { method: "POST", body: "s3cret" }, "critical"],
    ["/packed", { text: "identity" }, "ok"],
    ["/mute", { wait: "1s" }, "critical"],
    ["/half", { wait: "1s", text: "well" }, "ok"],
    ["/half", { wait: "1s", text: "unwell" }, "critical"],
    ["/slow", { pattern: "^(a+)+$" }, "unknown"],
  ] as const)("of %s with %j is %s", async (path, settings, expected) => {
    const { status, output } = await probed("http", { url: at(path), ...settings })
    assert.strictEqual(status, expected, output)
  })

  it("is critical where the server switches protocols in place of an answer", async () => {
    const { status, output } = await probed("http", { url: `http://127.0.0.1:${ports.switching}/` })
    assert.strictEqual(status, "critical")
    assert.match(output, /^HTTP CRITICAL - 101 /)
  })

  it("refuses a body without a method that sends one, and other methods", () => {
    const refusal = (settings: object) => () => configured("http", { url: at("/"), ...settings })
    assert.throws(refusal({ body: "a" }), /^body needs a method that sends one, such as POST$/)
    assert.throws(refusal({ method: "TRACE" }), /^method must be one of GET, HEAD, POST, /)
  })

  it("states time and size as performance data", async () => {
    const { output } = await probed("http", { url: at("/"), warning: 60 })
    assert.match(output, /^HTTP OK - 200 http:\S+ in \d\.\d{3} s \| time=[\d.]+s;60 size=16B$/)
  })

  it("says how much of a long page it searches", async () => {
    const searched = { url: at("/long"), text: "needle", pattern: "needle" }
    assert.match(
      (await probed("http", searched)).output,
      /^HTTP CRITICAL - \S+ lacks "needle" in its first MiB, \S+ does not match \/needle\/ in its first MiB \|/,
    )
  })

  it("says why it finds nothing in a page that is compressed or cut", async () => {
    assert.match((await probed("http", { url: at("/gzip"), text: "well" })).output, /lacks "well" \|/)
    assert.match(
      (await probed("http", { url: at("/cut"), text: "well" })).output,
      /\/cut: the connection was closed within the answer$/,
    )
  })

  it("is unknown at its deadline, and leaves nothing behind", async () => {
    const { status, exitCode, output } = await probed(
      "http",
      { url: at("/mute"), wait: "30s" },
      { timeoutMillis: 200 },
    )
    assert.deepStrictEqual([status, exitCode, output], ["unknown", 124, "timed out after 0.2 s"])
  })

  it.each(["/", "/none", "/mute"])("never shows the credentials and the query of %s", async (path) => {
    const url = at(`${path}?token=s3cret`).replace("//", "//monitor:hunter2@")
    const { output } = await probed("http", { url, text: "none of it", wait: "1s" })
    assert.include(output, at(path))
    assert.notMatch(output, /monitor|hunter2|s3cret/)
  })
})

describe("the tcp probe", () => {
  it("connects, sends and waits for the expected text", async () => {
    const [host, port] = ["127.0.0.1", ports.greeting]
    assert.strictEqual((await probed("tcp", { host, port })).status, "ok")
    assert.strictEqual((await probed("tcp", { host, port, send: "HELO\n", expect: "HELO" })).status, "ok")
    assert.strictEqual((await probed("tcp", { host, port, send: "x", expect: "y" })).status, "critical")
    assert.strictEqual((await probed("tcp", { host, port: ports.slow, expect: "HELO" })).status, "ok")
    const { status, output } = await probed("tcp", { host, port: ports.mute, expect: "y", wait: "1s" })
    assert.deepStrictEqual(
      [status, output],
      ["critical", `TCP CRITICAL - ${host}:${ports.mute}: no answer within 1 s`],
    )
  })
})

describe.skipIf(withoutOpenssl !== undefined)(`the tls probe${unlessOpenssl}`, () => {
  it("counts the days of a certificate, and says why it is not trusted", async () => {
    const target = { host: "127.0.0.1", port: ports.tls, name: "localhost" }
    const trusted = await probed("tls", { ...target, verify: false })
    assert.strictEqual(trusted.status, "ok", trusted.output)
    assert.match(
      trusted.output,
      /certificate valid for (29|30) days, to \d{4}-\d\d-\d\d \| days=(29|30)[.\d]*d;10:;3:$/,
    )
    assert.strictEqual(
      (await probed("tls", { ...target, verify: false, critical: "60:" })).status,
      "critical",
    )
    const refused = await probed("tls", target)
    assert.strictEqual(refused.status, "critical")
    assert.include(refused.output, "self signed cert")
  })

  it("is critical where a certificate above the server's expired, or its name is another", async () => {
    const path = (name: string) => join(folder, name)
    const read = (name: string) => readFileSync(path(name), "utf8")
    const openssl = (args: string) =>
      execFileSync(CERTIFIER, args.split(" "), { stdio: "ignore", cwd: folder })
    const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout"
    openssl(`req -x509 -days 30 -subj /CN=root ${key} root.key -out root.pem`)
    writeFileSync(path("authority"), "basicConstraints=CA:TRUE")
    writeFileSync(path("server"), "subjectAltName=DNS:localhost")
    const issue = (name: string, by: string, kind: string, days: number) => {
      openssl(`req -new -subj /CN=${name} ${key} ${name}.key -out ${name}.request`)
      openssl(
        `x509 -req -in ${name}.request -CA ${by}.pem -CAkey ${by}.key -set_serial 2 -days ${days} -extfile ${kind} -out ${name}.pem`,
      )
    }
    issue("between", "root", "authority", -1)
    issue("below", "between", "server", 30)
    issue("expired", "root", "server", -1)
    const serve = async (name: string, chain: string) =>
      await servers.listen(createTls({ key: read(`${name}.key`), cert: chain }))
    const [below, expired] = [
      await serve("below", read("below.pem") + read("between.pem")),
      await serve("expired", read("expired.pem")),
    ]
    const before = getCACertificates("default")
    setDefaultCACertificates([...before, read("root.pem")])
    const target = { host: "127.0.0.1", name: "localhost" }
    const outdated = await probed("tls", { ...target, port: below })
    assert.match(
      outdated.output,
      /^TLS CRITICAL - 127\.0\.0\.1:\d+: certificate of between expired on [\d-]+ \| days=-/,
    )
    const misnamed = await probed("tls", { ...target, name: "other.example", port: below })
    assert.match(
      misnamed.output,
      /other\.example\. is not in the cert's altnames.*, .*certificate of between expired/,
    )
    // The figure says when the server's own certificate expires.
    const late = await probed("tls", { ...target, port: expired })
    assert.match(late.output, /^TLS CRITICAL - 127\.0\.0\.1:\d+: certificate expired on [\d-]+ \| days=-\d+/)
    const both = await probed("tls", { ...target, name: "other.example", port: expired })
    assert.match(both.output, /is not in the cert's altnames.*, .*certificate expired on/)
    setDefaultCACertificates(before)
  })

  it("says where no TLS is spoken", async () => {
    const { status } = await probed("tls", { host: "127.0.0.1", port: ports.greeting, wait: "2s" })
    assert.strictEqual(status, "critical")
  })

  it("belongs to the http probe too", async () => {
    const { output } = await probed("http", { url: `https://127.0.0.1:${ports.tls}/`, wait: "1s" })
    assert.include(output, "self-signed certificate")
  })
})

describe("the probes of the host", () => {
  it("measure disks, memory, load and processes", async () => {
    const disk = await probed("disk", { mounts: ["/"], warning: "0:", critical: "0:" })
    assert.match(disk.output, /^DISK OK - \/ [\d.]+% free \([\d.]+ GiB\) \| '\/ free'=[\d.]+%;0:;0:/)
    assert.strictEqual((await probed("disk", { mounts: ["/"], critical: "101:" })).status, "critical")
    assert.strictEqual((await probed("disk", { mounts: ["/no/such"] })).status, "critical")
    assert.match((await probed("memory", {})).output, /^MEMORY \w+ - [\d.]+% available/)
    assert.strictEqual((await probed("load", { warning: 1e6, critical: 1e6 })).status, "ok")
    assert.strictEqual((await probed("load", { critical: "@0:1000000" })).status, "critical")
    // A range that no load leaves: that minute does not count.
    assert.strictEqual((await probed("load", { critical: "~:,1000000,1000000" })).status, "ok")
    assert.strictEqual((await probed("process", { name: "no such program" })).status, "critical")
    assert.strictEqual((await probed("process", { critical: "1:" })).status, "ok")
    const own = await probed("process", { pattern: "^\\S*(node|vitest)\\b" })
    assert.strictEqual(own.status, "ok", own.output)
  })

  it("are critical where nothing is mounted at a path of mounts", async () => {
    const backup = join(folder, "backup")
    mkdirSync(backup)
    const { output, status } = await probed("disk", { mounts: [backup], critical: "0:", warning: "0:" })
    assert.deepStrictEqual(
      [status, output],
      ["critical", `DISK CRITICAL - ${backup} cannot be examined: nothing is mounted there`],
    )
    // The end of a mounted path, and a link to it, are the mount.
    symlinkSync("/", join(folder, "root"))
    for (const path of ["/proc/", join(folder, "root")]) {
      const found = await probed("disk", { mounts: [path], critical: "0:", warning: "0:" })
      assert.notInclude(found.output, "nothing is mounted")
    }
  })

  it("count no process that has ended and waits for its parent", async () => {
    const program = join(folder, "a) Z once")
    copyFileSync("/bin/sleep", program)
    chmodSync(program, 0o755)
    // The shell becomes a program that never asks about its child.
    const parent = spawn("/bin/sh", ["-c", `"$0" 0.2 & echo begun; exec sleep 60`, program])
    await once(parent.stdout, "data")
    const name = { name: "a) Z once" }
    const child = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, "utf8").trim()
    const stateOf = () => /.*\) (\w)/s.exec(readFileSync(`/proc/${child}/stat`, "utf8"))?.[1]
    while (stateOf() !== "Z") {
      assert.strictEqual((await probed("process", { pattern: "sleep 60" })).status, "ok")
    }
    assert.include((await probed("process", name)).output, "0 processes")
    parent.kill()
  })

  /** Stands for a program, whose output it prints. */
  const standingFor = async <A>(name: string, output: string, work: () => Promise<A>): Promise<A> => {
    const path = process.env["PATH"]
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s' '${output}'\n`, { mode: 0o755 })
    process.env["PATH"] = folder
    return await work().finally(() => (process.env["PATH"] = path))
  }

  it.each([
    // systemctl show of systemd 252 (Debian 12) while ExecReload= runs, and of 260 while RefreshOnReload= does.
    ["reloading", "reload", {}, "SYSTEMD OK - a.service active | units=0;;0"],
    ["refreshing", "refresh", {}, "SYSTEMD OK - a.service active | units=0;;0"],
    [
      "reloading",
      "reload",
      { states: "failed" },
      "SYSTEMD CRITICAL - a.service is reloading (reload) | units=1;;0",
    ],
    [
      "deactivating",
      "stop-sigterm",
      {},
      "SYSTEMD CRITICAL - a.service is deactivating (stop-sigterm) | units=1;;0",
    ],
    [
      "activating",
      "auto-restart",
      {},
      "SYSTEMD CRITICAL - a.service is activating (auto-restart) | units=1;;0",
    ],
  ])(
    "take a unit that is %s as systemctl is-active does: %s, %j",
    async (active, sub, settings, expected) => {
      const shown = `Id=a.service\nLoadState=loaded\nActiveState=${active}\nSubState=${sub}\n`
      const ask = async (units: ReadonlyArray<string>) => await probed("systemd", { units, ...settings })
      const { output } = await standingFor("systemctl", shown, () => ask(["a.service"]))
      assert.strictEqual(output, expected)
      const short = await standingFor("systemctl", shown, () => ask(["a.service", "b.service"]))
      assert.strictEqual(short.output, "SYSTEMD UNKNOWN - systemctl answers for 1 of 2 units")
    },
  )

  const TASKSET = "taskset"
  const obstacle = cpus().length < 2 ? "there is one processor" : lacking("taskset")
  const unless = obstacle === undefined ? "" : ` (skipped: ${obstacle})`
  it.skipIf(obstacle !== undefined)(
    `divide the load by all processors, also where the agent may use one${unless}`,
    () => {
      writeFileSync(join(folder, "load.yaml"), "server: http://a\nchecks: { load: { load: {} } }\n")
      const agent = [process.execPath, AGENT, "try", "load", "--json", "--config", join(folder, "load.yaml")]
      const { stdout } = spawnSync(TASKSET, ["-c", "0", ...agent, "--state", join(folder, "none")], {
        encoding: "utf8",
      })
      // The words are of each processor where nothing is crossed; the figures always are.
      const [{ performance_data: data = "" } = {}] = [JSON.parse(stdout) as { performance_data?: string }]
      const fifteen = Number(/load15=([\d.]+)/.exec(data)?.[1])
      assert.isBelow(Math.abs(fifteen - (loadavg()[2] ?? 0) / cpus().length), 0.1 * fifteen + 0.05)
    },
  )

  it("are unknown where systemctl ignores the question", async () => {
    // systemctl of systemd 252 in a chroot, which exits with 0.
    const ignoring = "echo Running in chroot, ignoring command list-units >&2"
    const path = process.env["PATH"]
    writeFileSync(join(folder, "systemctl"), `#!/bin/sh\n${ignoring}\n`, { mode: 0o755 })
    process.env["PATH"] = folder
    const { output } = await probed("systemd", {}).finally(() => (process.env["PATH"] = path))
    assert.match(output, /^SYSTEMD UNKNOWN - systemctl: Running in chroot, ignoring/)
  })

  it("find a process by a name beyond the 15 letters that the kernel keeps", async () => {
    const script = join(folder, "backup-everything.sh")
    writeFileSync(script, "#!/bin/sh\necho begun\nread line\n", { mode: 0o755 })
    const child = spawn(script)
    await once(child.stdout, "data")
    for (const [name, count] of [
      ["backup-everything.sh", 1],
      ["backup-everythi", 1],
      ["backup-everything.py", 0],
    ] as const)
      assert.match((await probed("process", { name })).output, new RegExp(`- ${count} process`))
    child.kill()
  })

  const ISOLATOR = "unshare"
  const mayMount = spawnSync(ISOLATOR, ["--mount", "true"]).status === 0
  const whyNotHidden =
    process.geteuid?.() !== 0
      ? "only root mounts"
      : mayMount
        ? lacking("setpriv")
        : "mounts cannot be made here"
  it.skipIf(whyNotHidden !== undefined)(
    `are unknown where the processes of others are hidden${whyNotHidden === undefined ? "" : ` (skipped: ${whyNotHidden})`}`,
    () => {
      chmodSync(folder, 0o755)
      const config = join(folder, "hidden.yaml")
      writeFileSync(config, "server: http://a\nchecks: { few: { process: { critical: 100000 } } }\n")
      const agent = `${process.execPath} ${AGENT} try few --config ${config} --state ${join(folder, "none")}`
      for (const option of ["hidepid=1", "hidepid=2"]) {
        const script = `mount -t proc -o ${option} proc /proc; setpriv --reuid=65534 --regid=65534 --clear-groups ${agent}`
        const { stdout } = spawnSync(ISOLATOR, ["--mount", "sh", "-c", script], { encoding: "utf8" })
        const words = /output +PROCESS UNKNOWN - \/proc hides the processes of other users \(hidepid\)/
        assert.match(stdout, words, option)
      }
    },
  )

  it("are unknown where the host has no systemd", async () => {
    const { output, status } = await probed("systemd", { units: "no-such-unit.service" })
    assert.include(["unknown", "critical"], status)
    assert.match(output, /^SYSTEMD (UNKNOWN - .*systemctl|CRITICAL - no-such-unit\.service is not-found)/)
  })
})

describe("settings that can never work", () => {
  it.each<[ProbeName, object, RegExp]>([
    ["tcp", { host: "shop.example:443", port: 443 }, /^host must be a host name or an address$/],
    ["tcp", { host: "https://shop.example", port: 443 }, /^host must be a host name/],
    ["tls", { host: "a b" }, /^host must be a host name/],
    ["tls", { host: "shop.example", name: "a..b" }, /^name must be a host name/],
    ["dns", { name: "https://shop.example" }, /^name must be a name such as shop\.example$/],
    ["dns", { name: "a b" }, /^name must be a name/],
    ["dns", { name: "a..b" }, /^name must be a name/],
    [
      "http",
      { url: "http://u:100%@shop.example/" },
      /^url must have a percent-encoded user name and password/,
    ],
    ["http", { url: "http://%ff:p@shop.example/" }, /^url must have a percent-encoded user name/],
    ["http", { url: "http://256.1.1.1/" }, /^url must be an address/],
    [
      "http",
      { url: "http://a/", method: "HEAD", text: "b" },
      /^text searches a page, and HEAD asks for none: use/,
    ],
    ["http", { url: "http://a/", method: "HEAD", pattern: "b" }, /^pattern searches a page, and HEAD/],
    ["http", { url: "ftp://shop.example/" }, /^url must be an address/],
    [
      "tls",
      { host: "a", days: { warning: "2:" }, critical: "1:" },
      /^days stands in warning or critical too/,
    ],
    ["systemd", { units: "a b.service" }, /^units must be the name of a unit/],
  ])("of %s are refused: %j", (name, settings, problem) => {
    assert.throws(() => configured(name, settings), problem)
  })

  it.each<[ProbeName, object]>([
    ["tcp", { host: "münchen.example", port: 443 }],
    ["tls", { host: "例え。テスト.", name: "my_host" }],
    ["dns", { name: "_sip._tcp.münchen.example" }],
    ["dns", { name: "0/25.2.0.192.in-addr.arpa", type: "PTR" }],
    ["dns", { name: ".", type: "NS" }],
    ["http", { url: "http://u:100%25@münchen.example/" }],
    ["systemd", { units: ["-.mount", "-.slice", "dev-disk-by\\x2duuid-1.swap", "getty@tty1.service", "a"] }],
  ])("are not those of %s with %j", (name, settings) => {
    assert.doesNotThrow(() => configured(name, settings))
  })
})
