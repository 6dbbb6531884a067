import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { AgentId, isCheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { firstOutput, lastOutput } from "@tocsin/contract/formats/outputText"
import * as fc from "fast-check"
import { ping, push } from "../../../src/features/integrations/pings.ts"
import {
  checkIdOf,
  type SenderRequest,
  type TranslationContext,
} from "../../../src/features/integrations/Report.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const request = (path: string, given: Partial<SenderRequest> = {}): SenderRequest => ({
  method: "GET",
  path: path === "" ? [] : path.split("/"),
  query: [],
  body: "",
  ...given,
})

const context: TranslationContext = {
  name: AgentId.make("cron"),
  options: {},
  now: Instant.fromMillis(0),
  sha256,
}

/** The signal of a ping, or why it is refused. */
const read = (path: string, options: IntegrationOptions = {}, given: Partial<SenderRequest> = {}) => {
  const reading = ping.translate(request(path, given), { ...context, options })
  if ("refused" in reading) return reading.refused
  const [report = assert.fail("no report")] = reading.reports
  return report.signal === "result"
    ? `${report.check_id} ${report.status} ${report.exit_code}`
    : report.signal
}

// Also characters that an encoding, a cut or an ID has trouble with.
const name = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom("ä", "/", "?", "%", " ", "\u0000", "\ud83d", "😀", "a"),
    maxLength: 200,
  }),
)

describe("the ID of a check that a sender names", () => {
  it("is always an ID, and the name itself where that is one", () => {
    fc.assert(
      fc.property(name, (text) => {
        const id = checkIdOf(text, sha256)
        assert.isTrue(isCheckId(id), id)
        if (isCheckId(text)) assert.strictEqual(id, text)
      }),
    )
  })

  it("is another one for another name", () => {
    fc.assert(
      fc.property(name, name, (first, second) => {
        fc.pre(first.toWellFormed() !== second.toWellFormed())
        assert.notStrictEqual(checkIdOf(first, sha256), checkIdOf(second, sha256))
      }),
    )
    assert.notStrictEqual(checkIdOf("a b", sha256), checkIdOf("a_b", sha256))
  })
})

describe("a text that becomes an output", () => {
  it.each([
    ["end", lastOutput, /^\.\.\.\[truncated (?<lost>\d+) bytes\]\n(?<kept>[^]*)$/, "endsWith"],
    ["beginning", firstOutput, /^(?<kept>[^]*)\n\.\.\.\[truncated (?<lost>\d+) bytes\]$/, "startsWith"],
  ] as const)(
    "keeps its %s, whole characters, and the count of what is lost",
    (_, shorten, parts, isPart) => {
      const piece = fc.string({ unit: fc.constantFrom("a", "ä", "€", "😀"), minLength: 1, maxLength: 3 })
      fc.assert(
        fc.property(piece, fc.integer({ min: 1, max: 20_000 }), (text, times) => {
          const whole = text.repeat(times)
          const { output = "", output_truncated } = shorten(whole)
          const bytes = Buffer.byteLength(whole)
          assert.strictEqual(output_truncated, bytes > 8_192)
          if (!output_truncated) return assert.strictEqual(output, whole)
          const { lost = "", kept = "" } = parts.exec(output)?.groups ?? {}
          assert.isTrue(whole[isPart](kept) && kept.isWellFormed())
          assert.strictEqual(Number(lost) + Buffer.byteLength(kept), bytes)
          // No further character would fit.
          assert.isAtMost(Buffer.byteLength(output), 8_192)
          assert.isAbove(Buffer.byteLength(output), 8_192 - 8)
        }),
      )
    },
  )

  it("has no NUL and no half character", () => {
    for (const shorten of [lastOutput, firstOutput]) {
      assert.deepStrictEqual(shorten("a\u0000b\ud83d"), { output: "a b\ufffd", output_truncated: false })
      assert.deepStrictEqual(shorten(""), { output_truncated: false })
    }
  })
})

describe("a ping", () => {
  it.each([
    ["backup", "backup ok 0"],
    ["backup/fail", "backup critical 1"],
    ["backup/0", "backup ok 0"],
    ["backup/1", "backup critical 1"],
    ["backup/255", "backup critical 255"],
    ["backup/256", "not_found"],
    ["backup/01", "not_found"],
    ["backup/-1", "not_found"],
    ["backup/start", "start"],
    ["backup/log", "log"],
    ["backup/fail/1", "not_found"],
    ["256", "256 ok 0"],
    ["", "not_found"],
    ["start", "not_found"],
    ["log", "not_found"],
    ["fail", "not_found"],
    ["0", "not_found"],
    ["255", "not_found"],
  ])("of %s reports %s", (path, expected) => {
    assert.strictEqual(read(path), expected)
  })

  // Queries as Cronitor, Sentry, Dead Man's Snitch and borgmatic 1.7.7 (ping_url with a query) send them, and as people guess them.
  it.each([
    // A path behind the query.
    ["?create=1/fail", "backup critical 1"],
    ["?create=1/start", "start"],
    ["?create=1/log/", "log"],
    ["?every=1d/fail", "backup critical 1", { every: "1d" }],
    ["?every=1d/3", "backup critical 3", { every: "1d" }],
    ["?every=1d/0", "backup ok 0", { every: "1d" }],
    ["?every=1d/fail&rid=6f9619ff-8b86-4011-b42d-00c04fc964ff", "backup critical 1", { every: "1d" }],
    ["?rid=6f9619ff-8b86-4011-b42d-00c04fc964ff/fail", "backup critical 1"],
    ["?cron=0 3 * * *&tz=Europe/Berlin/7", "backup critical 7", { cron: "0 3 * * *", tz: "Europe/Berlin" }],
    ["?tz=UTC&cron=0 3 * * */fail", "backup critical 1", { cron: "0 3 * * *", tz: "UTC" }],
    ["?tz=UTC&cron=0 3 * * */1", "backup critical 1", { cron: "0 3 * * *", tz: "UTC" }],
    ["?tz=UTC&cron=0 3 * * */2", "backup ok 0 cron ends in a step", { cron: "0 3 * * */2", tz: "UTC" }],
    ["?cron=0 3 * * 7&tz=UTC", "backup ok 0 cron has the weekday 7", { cron: "0 3 * * 7", tz: "UTC" }],
    ["?cron=*/5 * * * *&tz=UTC", "backup ok 0", { cron: "*/5 * * * *", tz: "UTC" }],
    ["?/fail", "backup critical 1"],
    ["?evry=1d/fail", "backup critical 1 the parameter evry is ignored"],
    ["?host=web/1", "backup ok 0 the parameter host is ignored"],
    ["/0?every=1d/fail", "backup critical 1", { every: "1d" }],
    // A second query, and addresses that were copied from a page.
    ["?create=1;status=fail", "backup critical 1"],
    ["?create=1?fail", "backup critical 1"],
    ["?every=1d?status=fail", "backup critical 1", { every: "1d" }],
    ["?every=1d&amp;status=fail", "backup critical 1", { every: "1d" }],
    // Words under names that state how a run ended.
    ["?status=down", "backup critical 1"],
    ["?status=Down", "backup critical 1"],
    ["?state=fail", "backup critical 1"],
    ["?state=complete", "backup ok 0"],
    ["?state=run", "start"],
    ["?status=in_progress", "start"],
    ["?result=failure", "backup critical 1"],
    ["?outcome=not-ok", "backup critical 1"],
    ["?status=warning", "backup warning 1"],
    ["?status=unknown", "backup unknown 3"],
    ["?exit_code=3", "backup critical 3"],
    ["?exitCode=0", "backup ok 0"],
    ["?exit=256", "backup critical 1"],
    ["?code=-1073741819", "backup critical 251"],
    ["?rc=4", "backup critical 4"],
    ["?s=1", "backup critical 1"],
    ["?success=false", "backup critical 1"],
    ["?success=true", "backup ok 0"],
    ["?ok=0", "backup critical 1"],
    ["?failed=1", "backup critical 1"],
    ["?failed=0", "backup ok 0"],
    ["?error=disk full", "backup critical 1"],
    ["?fail", "backup critical 1"],
    ["?start", "start"],
    ["?3", "backup critical 3"],
    ["?status=", "backup ok 0"],
    // The ends of runs as systemd, Jenkins, GitHub, Kubernetes, Velero, Azure and Windows call them (November 2026).
    ...["exit-code", "signal", "core-dump", "oom-kill", "start-limit-hit", "watchdog"].map(
      (word): [string, string] => [`?result=${word}`, "backup critical 1"],
    ),
    ...["startup_failure", "OOMKilled", "CrashLoopBackOff", "PartiallyFailed", "stopped", "interrupted"].map(
      (word): [string, string] => [`?status=${word}`, "backup critical 1"],
    ),
    ...["UNSTABLE", "SucceededWithIssues", "completed_with_warnings", "partial", "action_required"].map(
      (word): [string, string] => [`?conclusion=${word}`, "backup warning 1"],
    ),
    ["?exit_status=TERM", "backup critical 1"],
    // These mean other things as the end of a path.
    ...[
      "SIGKILL",
      "resources",
      "watchdog",
      "signal",
      "pipe",
      "quit",
      "offline",
      "stale",
      "partial",
      "stopped",
    ].map((word): [string, string] => [`/${word}`, "not_found"]),
    // Proxmox, ECS, Kubernetes and systemd say these of every end, or of a clean one, and the exit status beside them.
    ["?status=stopped&exitstatus=OK", "backup ok 0"],
    ["?lastStatus=x&status=STOPPED&exit_code=0", "backup ok 0 the parameter lastStatus is ignored"],
    ["?state=terminated&exit_code=0", "backup ok 0"],
    ["?state=terminated&exit_code=3", "backup critical 3"],
    ["?state=terminated&exit_code=3&warning=3", "backup warning 3"],
    ["?exit_code=0&state=terminated", "backup ok 0"],
    ["/0?state=terminated", "backup ok 0"],
    ...["HUP", "INT", "TERM", "PIPE", "SIGTERM"].map((signal): [string, string] => [
      `?result=success&exit_status=${signal}`,
      "backup ok 0",
    ]),
    ["?result=signal&exit_status=TERM", "backup critical 1"],
    ["?result=timeout&exit_status=TERM", "backup critical 1"],
    ["?result=success&exit_status=KILL", "backup critical 1"],
    ["?result=success&error=terminated", "backup critical 1"],
    ["?result=frobbed&exit_status=TERM", "backup critical 1 the parameter result does not say"],
    ["/start?state=stopped", "backup critical 1"],
    ["/log?state=stopped", "backup critical 1"],
    ["?exit_code=0x80070005", "backup critical 5"],
    ["?exit_code=0x0", "backup ok 0"],
    ["?type=watchdog", "backup ok 0 the parameter type is ignored"],
    ["?host=pipe", "backup ok 0 the parameter host is ignored"],
    ["?path=/run/pipe", "backup ok 0 the parameter path is ignored"],
    ["?watchdog", "backup ok 0 the parameter watchdog is ignored"],
    ["?status=❌", "invalid the parameter status does not say how the run ended"],
    ["?status=skipped", "invalid the parameter status does not say how the run ended"],
    // A word that is not known is refused by its name.
    ["?status=frobbed", "invalid the parameter status does not say how the run ended"],
    ["?exit_code=", "invalid the parameter exit_code does not say how the run ended"],
    ["?ok=maybe", "invalid the parameter ok does not say how the run ended"],
    ["/fail?status=frobbed", "backup critical 1 the parameter status does not say how the run ended"],
    // Words that are bad, wherever they stand.
    ["/0?status=fail", "backup critical 1"],
    ["/start?status=fail", "backup critical 1"],
    ["?create=fail", "backup critical 1"],
    ["?job=failed", "backup critical 1"],
    ["?job=nightly", "backup ok 0 the parameter job is ignored"],
    ["?every=1d&severity=critical", "backup ok 0", { every: "1d", severity: "critical" }],
    ["/failed", "backup critical 1"],
    ["/complete", "backup ok 0"],
    ["/run", "start"],
    // As npm's cronitor 2.6.1 sends them (May 2026).
    ["?state=run&series=6f96&stamp=1795907900.736&host=web-1", "start the parameter series is ignored"],
    [
      "?state=fail&message=disk full&series=6f96&stamp=1795907900.7",
      "backup critical 1 the parameter message",
    ],
    // Exit statuses that are warnings.
    ["/1?warning=1,3", "backup warning 1"],
    ["/2?warning=1,3", "backup critical 2"],
    ["/0?warning=1,3", "backup ok 0"],
    ["/fail?warning=1", "backup critical 1"],
    ["?warning=1/1", "backup warning 1"],
    ["?warning=1&exit_code=1", "backup warning 1"],
    // A variable that is not set, and a list as people write it.
    ["/0?warning=", "backup ok 0"],
    ["/1?warning=", "backup critical 1"],
    ["/3?warning=1,%203", "backup warning 3"],
    ["/1?warning=1-3", "backup critical 1 warning must be exit statuses"],
    ["/0?warning=0", "invalid warning must be exit statuses"],
  ])("of backup%s reports %s", (address, expected, terms: Record<string, string> = {}) => {
    const [path = "", ...text] = address.split("?")
    const query = text.length === 0 ? [] : Array.from(new URLSearchParams(text.join("?")))
    const reading = ping.translate(request(`backup${path}`, { query }), context)
    const { refusals, reports } = "refused" in reading ? { refusals: [reading], reports: [] } : reading
    if (expected === "not_found") {
      assert.isTrue("refused" in reading && reading.refused === "not_found")
      return
    }
    const [report] = reports
    const said = refusals.map(({ message }) => message).join("\n")
    const read =
      report === undefined
        ? "invalid"
        : report.signal === "result"
          ? `${report.check_id} ${report.status} ${report.exit_code}`
          : report.signal
    assert.isTrue(`${read} ${said}`.trim().startsWith(expected), `${read} ${said}`)
    if (!/[a-z]{3} /.test(expected.replace(/^backup \w+ \d+|^start|^log|^invalid/u, "")))
      assert.strictEqual(said, "")
    if (report !== undefined) assert.deepStrictEqual(report.expects, { by: "terms", terms })
  })

  it.each([
    ["", "job ok 0"],
    ["fail", "job critical 1"],
    ["7", "job critical 7"],
    ["start", "start"],
    ["backup", "not_found"],
    ["fail/1", "not_found"],
  ])("of %s to an integration of one check reports %s", (path, expected) => {
    // The name is an ID.
    const options = { check: "job" } as IntegrationOptions
    assert.strictEqual(read(path, options), expected)
  })

  it("declares times in a zone whose plus sign its address does not encode", () => {
    const query = [["cron", "0 3 * * *"] as const, ["tz", "Etc/GMT 5"] as const]
    const reading = ping.translate(request("backup/0", { query }), context)
    const { expects } = ("reports" in reading ? reading.reports[0] : undefined) ?? {}
    assert.deepStrictEqual(expects, { by: "terms", terms: { cron: "0 3 * * *", tz: "Etc/GMT+5" } })
  })

  it.each([
    [[["rid", "1"]], "the rid is ignored: use a UUID"],
    [
      [["evry", "1d"]],
      "the parameter evry is ignored: use every, after, cron, tz, grace, severity, incident, rid, create, status, exit_code, warning",
    ],
    [[["é\n".repeat(99), ""]], /^the parameter \?{40} is ignored: use every/],
    [
      [
        ["create", "1"],
        ["rid", ""],
      ],
      undefined,
    ],
  ] as const)("with %j counts, and says what was ignored", (query, expected) => {
    for (const path of ["a", "a/fail", "a/start", "a/log"]) {
      const reading = ping.translate(request(path, { query }), context)
      if ("refused" in reading) return assert.fail(reading.message)
      assert.strictEqual(reading.reports[0]?.rid, "")
      const [said] = reading.refusals
      if (expected === undefined) assert.isUndefined(said)
      else {
        assert.strictEqual(said?.refused, "ignored")
        if (typeof expected === "string") assert.strictEqual(said?.message, expected)
        else assert.match(said?.message ?? "", expected)
      }
    }
  })

  it("of a body whose beginning is not there counts that in its marker", () => {
    const body = `${"x".repeat(65_528)}\nreason\n`
    for (const path of ["job/fail", "job/0"]) {
      const reading = ping.translate(request(path, { body, droppedBytes: 1_000 }), context)
      const [report] = "refused" in reading ? [] : reading.reports
      if (report?.signal !== "result") return assert.fail("no result")
      const [, lost, kept = ""] = /\.\.\.\[truncated (\d+) bytes\]\n([^]*)$/.exec(report.output ?? "") ?? []
      assert.isTrue(body.endsWith(kept))
      assert.strictEqual(Number(lost) + kept.length, body.length + 1_000)
      if (path === "job/fail") assert.strictEqual(headlineOf(report.output), "failed: reason")
    }
  })

  it.each([
    ["job/fail", "copying\nno space left\n", "failed: no space left"],
    [
      "job/11",
      `begin\n${"progress\n".repeat(2_000)}\u001b[31mno space left\u001b[0m\n\n`,
      "exit 11: no space left",
    ],
    ["job/1", "x".repeat(20_000), `exit 1: ${"x".repeat(504)}`],
    ["job/0", "copying\ndone", "copying"],
    ["job/7", "", "exit status 7"],
  ])("of %s begins with how it failed: %.20j", (path, body, expected) => {
    const reading = ping.translate(request(path, { body }), context)
    const [report] = "refused" in reading ? [] : reading.reports
    if (report?.signal !== "result") return assert.fail("no result")
    const { output = report.otherwise, output_truncated } = report
    assert.strictEqual(headlineOf(output), expected)
    assert.strictEqual(output_truncated, body.length > 8_192)
    assert.isAtMost(Buffer.byteLength(output ?? ""), 8_192)
    if (!output_truncated) return
    const [, lost, kept = ""] = /^.*\n\.\.\.\[truncated (\d+) bytes\]\n([^]*)$/.exec(output ?? "") ?? []
    assert.isTrue(body.endsWith(kept))
    assert.strictEqual(Number(lost) + kept.length, body.length)
  })
})

describe("a push", () => {
  const readPush = (query: Readonly<Record<string, string>>, path = "web") =>
    readPairs(Object.entries(query), path)
  const readPairs = (query: SenderRequest["query"], path = "web") => {
    const reading = push.translate(request(path, { query }), context)
    if ("refused" in reading) return reading.refused
    const [report = assert.fail("no report")] = reading.reports
    return report.signal === "result"
      ? [report.status, report.duration_ms, report.output ?? report.otherwise]
      : report.signal
  }

  it("is ok unless its status is another word than up", () => {
    assert.deepStrictEqual(readPush({}), ["ok", 0, undefined])
    assert.deepStrictEqual(readPush({ status: "up", msg: "OK", ping: "31.6" }), ["ok", 32, "OK"])
    assert.deepStrictEqual(readPush({ status: "up", ping: "0.3" }), ["ok", 1, undefined])
    assert.deepStrictEqual(readPush({ status: "down", ping: "" }), ["critical", 0, 'status "down"'])
    assert.deepStrictEqual(readPush({ status: "", msg: "" }), ["ok", 0, undefined])
    assert.deepStrictEqual(readPush({ status: "down", msg: "no route" }), ["critical", 0, "no route"])
    const [, , long] = readPush({ status: "down", msg: `no route\n${"x".repeat(9_000)}` })
    assert.match(String(long), /^no route\nx+\n\.\.\.\[truncated \d+ bytes\]$/)
    assert.deepStrictEqual(readPush({}, "api/push/web"), ["ok", 0, undefined])
  })

  it("to an integration of one check has no name", () => {
    // The name is an ID.
    const options = { check: "job" } as IntegrationOptions
    const reading = push.translate(request("", { query: [["status", "down"]] }), { ...context, options })
    const reports = "refused" in reading ? [] : reading.reports
    assert.deepStrictEqual(
      reports.map((report) => "status" in report && `${report.check_id} ${report.status}`),
      ["job critical"],
    )
    const named = push.translate(request("web"), { ...context, options })
    assert.strictEqual("refused" in named && named.refused, "not_found")
  })

  it.each(["-1", "1e3", ".45", "12,5", "86400001", "rainy", "N/A", "NaN", "1?x"])(
    "with a ping of %s counts, and only an ok is answered as invalid",
    (given) => {
      assert.deepStrictEqual(readPush({ status: "down", ping: given }), ["critical", 0, 'status "down"'])
      assert.deepStrictEqual(readPush({ ping: given, msg: "OK" }), ["ok", 0, "OK"])
      for (const [status, refused] of [
        ["down", "ignored"],
        ["up", "invalid"],
      ] as const) {
        const query = Object.entries({ status, ping: given })
        const reading = push.translate(request("web", { query }), context)
        assert.deepStrictEqual("refused" in reading || reading.refusals.map((each) => each.refused), [
          refused,
        ])
      }
    },
  )

  it.each([
    [
      ["status", "up"],
      ["msg", "OK"],
      ["status", "down"],
      ["msg", "disk"],
    ],
    [
      ["status", "down"],
      ["status", "up"],
      ["msg", "disk"],
    ],
    [
      ["status", "down"],
      ["msg", "disk"],
      ["status", "down"],
      ["msg", "disk"],
    ],
  ] as const)("with repeated parameters is bad if one of its statuses is: %j", (...query) => {
    assert.deepStrictEqual(readPairs(query), ["critical", 0, "disk"])
  })

  it.each([
    [{ state: "down" }, ["critical", 0, 'state "down"']],
    [{ status: "up", result: "fail", msg: "no route" }, ["critical", 0, "no route"]],
    [{ exit_code: "3" }, ["critical", 0, "exit status 3"]],
    [{ success: "false" }, ["critical", 0, 'success "false"']],
    [{ ping: "12/fail" }, ["critical", 12, "exit status 1"]],
    [{ ping: "down" }, ["critical", 0, 'ping "down"']],
    [{ msg: "see /var/log/fail" }, ["ok", 0, "see /var/log/fail"]],
    [{ msg: "fail" }, ["ok", 0, "fail"]],
    [{ stauts: "down" }, ["critical", 0, 'stauts "down"']],
    [{ state: "odd" }, "invalid"],
    [{ start: "" }, "invalid"],
  ])("with a known bad word under another name is not ok: %j", (query, expected) => {
    assert.deepStrictEqual<unknown>(readPush(query), expected)
  })

  it("says which parameter it does not have", () => {
    const reading = push.translate(request("web", { query: [["stauts", "up"]] }), context)
    assert.deepStrictEqual("refused" in reading || reading.refusals, [
      { refused: "ignored", message: "the parameter stauts is ignored: use status, msg, ping" },
    ])
  })

  it.each(["", "web/x", "api/push"])("names a check: not %s", (path) => {
    assert.strictEqual(readPush({}, path), "not_found")
  })
})
