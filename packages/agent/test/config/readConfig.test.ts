import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import { problemText } from "../../src/config/Reader.ts"
import { readConfig } from "../../src/config/readConfig.ts"

const reading = (
  main: string,
  others: Readonly<Record<string, string>> = {},
  beside: Readonly<Record<string, string>> = {},
) => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  const file = join(folder, "config.yaml")
  writeFileSync(file, main)
  mkdirSync(join(folder, "checks.d"))
  for (const [name, text] of Object.entries(others)) writeFileSync(join(folder, "checks.d", name), text)
  for (const [name, text] of Object.entries(beside)) writeFileSync(join(folder, name), text)
  const { config, problems } = readConfig(file)
  rmSync(folder, { recursive: true })
  return {
    config,
    problems: problems.map((one) => problemText(one).replace(`${folder}/`, "").replaceAll(`${folder}/`, "")),
  }
}

describe("a configuration", () => {
  it("needs one line", () => {
    const { config, problems } = reading("server: http://monitor:8080\n")
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(config?.servers, ["http://monitor:8080"])
  })

  it("has defaults, which a check overrides", () => {
    const { config } = reading(
      "server: [https://a.example, https://b.example/tocsin/]\ndefaults: { every: 5m, env: { A: '1', B: '2' } }\nchecks:\n  disk: { command: [check_disk], env: { B: '3' }, confirm: { bad: 3 } }\n",
      { "web.yaml": "checks:\n  job: { report_only: true, cron: '0 2 * * *', tz: Europe/Berlin }\n" },
    )
    assert.deepStrictEqual(config?.servers, ["https://a.example", "https://b.example/tocsin"])
    const disk = config?.checks.get("disk")
    assert.isTrue(disk?.kind === "run" && disk.everyMillis === 300_000 && disk.timeoutMillis === 30_000)
    assert.deepStrictEqual(disk?.kind === "run" && [...disk.env], [
      ["A", "1"],
      ["B", "3"],
    ])
    assert.deepStrictEqual(disk?.kind === "run" && disk.confirm, { bad: 3, good: 1, everyMillis: 10_000 })
    const job = config?.checks.get("job")
    assert.deepStrictEqual(job?.kind === "reported" && job.schedule, {
      cron: "0 2 * * *",
      tz: "Europe/Berlin",
    })
  })

  it("has 1 MiB at most, in bytes", () => {
    const { problems } = reading(`server: http://monitor:8080\n#${"é".repeat(524_288)}`)
    assert.deepStrictEqual(problems, ["config.yaml:1: is larger than 1 MiB"])
  })

  it("is refused with every problem, by file, line and path", () => {
    const { config, problems } = reading(
      [
        "server: ftp://monitor",
        "colour: red",
        "defaults:",
        "  every: 500ms",
        "checks:",
        "  both: { command: [a], shell: b }",
        "  none: {}",
        "  'with space': { shell: a }",
        "  job: { report_only: true, every: 1h, cron: '0 2 * * *', tz: Europe/Berlin }",
        "  tz: { report_only: true, cron: '0 2 * * *', tz: Middle/Earth }",
        "  tocsin-agent: { shell: a }",
        "  yes: { command: ls }",
      ].join("\n"),
      { "b.yaml": "checks:\n  both: { shell: c }\nserver: http://x\n", "ignored.txt": "?" },
    )
    assert.isUndefined(config)
    assert.deepStrictEqual(problems, [
      "checks.d/b.yaml:2: checks.both is defined in config.yaml too",
      "checks.d/b.yaml:3: server is unknown: use one of checks",
      "config.yaml:1: server must be an address such as https://monitor.example:8080, without a user, query or fragment",
      "config.yaml:2: colour is unknown: use one of server, ca_file, enrolment_token_file, agent_id, hostname, labels, max_parallel, metrics_port, place, defaults, checks",
      "config.yaml:4: defaults.every must be a duration such as 90s, 8h or 7d, from 1s to 31d",
      "config.yaml:6: checks.both must have only one of command, shell",
      "config.yaml:7: checks.none must have one of command, shell, http, tcp, tls, dns, ping, websocket, unix, disk, mount, file, log, memory, load, process, systemd, or report_only: true",
      "config.yaml:8: checks.with space must have a name of 1 to 128 letters, digits or the characters . _ : -",
      "config.yaml:9: checks.job must have either every or cron and tz",
      "config.yaml:10: checks.tz.tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
      "config.yaml:11: checks.tocsin-agent is the agent's own check: choose another name",
      'config.yaml:12: checks.yes.command must be a list of the program and its arguments, such as [check_load, -w, "5"]; shell takes a command line',
    ])
  })

  it("refuses what the server would refuse of every heartbeat or declaration", () => {
    assert.deepStrictEqual(
      reading(
        [
          "server: http://a",
          'hostname: "half \\ud83d"',
          "labels: { env: prod, auth: ldap }",
          "checks:",
          "  job: { report_only: true, cron: '0 2 * * *', tz: '+01:00' }",
          "  other: { report_only: true, cron: '0 2 * * *', tz: BST }",
        ].join("\n"),
      ).problems,
      [
        "config.yaml:2: hostname must not contain half of a character (a lone surrogate)",
        "config.yaml:3: labels.auth has a name that looks like a secret: remove the label or rename it",
        "config.yaml:5: checks.job.tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
        "config.yaml:6: checks.other.tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
      ],
    )
  })

  it("refuses a cron expression that the server would refuse, and names its check", () => {
    const job = (cron: string) => `{ report_only: true, cron: '${cron}', tz: Europe/Berlin }`
    assert.deepStrictEqual(
      reading(
        [
          "server: http://a",
          "checks:",
          `  hour: ${job("0 25 * * *")}`,
          `  short: ${job("0 3 * *")}`,
          `  hash: ${job("0 3 * * 1#1")}`,
          `  never: ${job("0 0 31 2 *")}`,
          `  good: ${job("*/5 9-17 1,15 JAN-mar mon-fri/2")}`,
        ].join("\n"),
      ).problems,
      [
        'config.yaml:3: checks.hour.cron is not a cron expression: "25" is not a value from 0 to 23',
        "config.yaml:4: checks.short.cron must have five fields: minute, hour, day, month, weekday",
        'config.yaml:5: checks.hash.cron is not a cron expression: "1#1" is not a value from 0 to 7',
        "config.yaml:6: checks.never.cron never fires: no date matches it",
      ],
    )
  })

  it("groups a check that reports only by its incident key", () => {
    const { config, problems } = reading(
      "server: http://a\nchecks:\n  job: { report_only: true, every: 1d, incident_key: backups }\n",
    )
    assert.deepStrictEqual([problems, config?.checks.get("job")?.incidentKey], [[], "backups"])
  })

  it("confirms no line of a log, which is in one result only", () => {
    const log = "{ file: /a, match: b }"
    const { config } = reading(
      `server: http://a\ndefaults: { confirm: { bad: 3, good: 2 } }\nchecks:\n  log: { log: ${log} }\n`,
    )
    const check = config?.checks.get("log")
    assert.deepStrictEqual(check?.kind === "run" && check.confirm, { bad: 1, good: 2, everyMillis: 10_000 })
    assert.deepStrictEqual(
      reading(`server: http://a\nchecks:\n  log: { log: ${log}, confirm: { bad: 2 } }\n`).problems,
      ["config.yaml:3: checks.log.confirm.bad must be 1 with log: each line is in one result only"],
    )
  })

  it("names the bad files of a probe, whose paths begin in its folder", () => {
    const web = (name: string) => `checks:\n  ${name}: { tls: { host: a, ca: ca.pem, cert: none.pem } }\n`
    const { problems } = reading(
      `server: http://a\n${web("one")}`,
      { "b.yaml": web("two") },
      { "ca.pem": "nothing" },
    )
    const faults = ["ca must be a file of PEM certificates", "cert cannot be read (ENOENT)"]
    assert.deepStrictEqual(problems, [
      ...faults.map((fault) => `checks.d/b.yaml:2: checks.two.tls.${fault}`),
      ...faults.map((fault) => `config.yaml:3: checks.one.tls.${fault}`),
    ])
  })

  it("trusts the certificates of a file beside it, and refuses a damaged one", () => {
    const [first = "", second = ""] = rootCertificates
    const trusting = (pem: string) => reading("server: https://a\nca_file: ca.pem\n", {}, { "ca.pem": pem })
    const whole = `# Ours\n${first}\n${second}\n`
    assert.deepStrictEqual([trusting(whole).problems, trusting(whole).config?.ca?.reveal()], [[], whole])
    assert.deepStrictEqual(trusting("nothing").problems, [
      "config.yaml:2: ca_file must be a file of PEM certificates",
    ])
    const damaged = ["config.yaml:2: ca_file has a damaged certificate (number 2): copy the file again"]
    assert.deepStrictEqual(trusting(whole.slice(0, -200)).problems, damaged)
    assert.deepStrictEqual(trusting(`${first}\n${second.replace("MII", "AAA")}\n${first}`).problems, damaged)
  })

  it("has probes, with thresholds in the notation of the plugins", () => {
    const { config } = reading(
      "server: http://a\nchecks:\n  web: { http: { url: 'https://a.example', warning: 1, days: { critical: '14:' } } }\n  disk: { disk: }\n",
    )
    assert.deepStrictEqual(
      [...(config?.checks.values() ?? [])].map((one) => one.kind === "run" && one.work.kind),
      ["probe", "probe"],
    )
    assert.deepStrictEqual(
      reading(
        [
          "server: http://a",
          "checks:",
          "  a: { http: { warning: fast } }",
          "  b: { tcp: { host: a, port: 70000, colour: red } }",
          "  c: { process: { pattern: '(' }, env: { A: '1' } }",
          "  d: { disk: { mounts: [relative] }, load: {} }",
          "  e: { load: { warning: '1,2' } }",
          "  f: { dns: { name: a.example, servers: [192.0.2.1, dns.example, '192.0.2.1:53', '[2001:db8::1]:53', 192.0.2.1:70000] } }",
        ].join("\n"),
      ).problems,
      [
        'config.yaml:3: checks.a.http.warning must be a range such as "10", "10:", "~:10", "10:20" or "@10:20"',
        "config.yaml:3: checks.a.http must have url",
        "config.yaml:4: checks.b.tcp.port must be an integer from 1 to 65535",
        "config.yaml:4: checks.b.tcp.colour is unknown: use one of host, port, tls, ca, cert, key, send, expect, wait, warning, critical, time",
        "config.yaml:5: checks.c.process.pattern must be a regular expression (Invalid regular expression: /(/mu: Unterminated group)",
        "config.yaml:5: checks.c.env has no meaning with a probe: remove it",
        "config.yaml:6: checks.d.disk.mounts[0] must be an absolute path",
        "config.yaml:6: checks.d must have only one of disk, load",
        'config.yaml:7: checks.e.load.warning must be one range or three, such as "10" or "15,10,5"',
        "config.yaml:8: checks.f.dns.servers[1] must be an address such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:5353",
        "config.yaml:8: checks.f.dns.servers[4] must be an address such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:5353",
      ],
    )
  })

  it("takes a key without entries for an empty map", () => {
    const { problems, config } = reading("server: http://a\nlabels:\ndefaults:\nchecks:\n  # disk: {}\n")
    assert.deepStrictEqual([problems, config?.checks.size], [[], 0])
    assert.deepStrictEqual(reading("server: http://a\nchecks:\n  disk:\n").problems, [
      "config.yaml:3: checks.disk must have one of command, shell, http, tcp, tls, dns, ping, websocket, unix, disk, mount, file, log, memory, load, process, systemd, or report_only: true",
    ])
    assert.deepStrictEqual(reading("server: http://a\nchecks:\n  root:\n    disk:\n").problems, [])
  })

  it("is refused with a key that is given twice, an alias, or two documents", () => {
    assert.deepStrictEqual(reading("server: http://a\nserver: http://b\n").problems, [
      "config.yaml:2: has the key server twice",
    ])
    assert.include(reading("server: &a http://a\nagent_id: *a\n").problems.join("\n"), "alias")
    assert.include(
      reading("server: http://a\n---\nserver: http://b\n").problems.join("\n"),
      "must be one document",
    )
    assert.deepStrictEqual(reading("labels: {}\n").problems, [
      "config.yaml:1: must have server: the address of the Tocsin server",
    ])
  })
})

describe("a host without a configuration", () => {
  // A confirmation would keep a check that begins badly from appearing.
  it("has three checks, each of which reports its first result", () => {
    const { config } = readConfig("/no/such/config.yaml", { servers: ["http://monitor.example"] })
    assert.deepStrictEqual(
      [...(config?.checks ?? [])].map(([id, check]) => [id, check.kind === "run" && check.confirm]),
      [
        ["disk", undefined],
        ["load", undefined],
        ["memory", undefined],
      ],
    )
  })
})
