import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { email, type EmailOptions } from "../../src/email/email.ts"
import { at, detailsOf, firing, resolved, shared } from "../notifications.ts"
import { linked } from "../messages.ts"
import { TEST_ID, testIds } from "../testIds.ts"
import { answer, partsOf, startMailServer } from "./MailServer.ts"
import { lacking } from "../../../../scripts/programs.mjs"
import { testsFrom } from "@tocsin/testing/testsFrom"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const sending = (url: string, options: Partial<EmailOptions> = {}) =>
  Effect.provide(
    email({
      from: "Tocsin <tocsin@example.org>",
      to: ["ops@example.org"],
      tls: "off",
      timeout: Duration.seconds(15),
      denyPrivateTargets: false,
      ...options,
      url: Redacted.make(url),
    }),
    testIds,
  )

/** Header fields of a mail, unfolded, and its decoded parts. */
const read = (raw: string) => {
  const end = raw.indexOf("\r\n\r\n")
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n")
  const headers = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)])
  const value = (name: string) =>
    headers.filter(([key = ""]) => key.toLowerCase() === name.toLowerCase()).map(([, text]) => text)
  return { names: headers.map(([name = ""]) => name), value, body: raw.slice(end) }
}

/** The text of encoded words (RFC 2047). */
const decoded = (text: string): string =>
  text
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?(Q|B)\?(.*?)\?=/gi, (_all, form: string, words: string) => {
      const bytes =
        form.toUpperCase() === "B"
          ? Buffer.from(words, "base64")
          : Buffer.from(
              words
                .replaceAll("_", " ")
                .replaceAll(/=([0-9A-F]{2})/g, (_hex, digits: string) =>
                  String.fromCodePoint(Number.parseInt(digits, 16)),
                ),
              "latin1",
            )
      return bytes.toString("latin1")
    })
const utf8 = (text: string): string => Buffer.from(decoded(text), "latin1").toString("utf8")

const served = testsFrom(startMailServer(), it.effect)

describe("e-mail", () => {
  served("arrives with a text and an HTML part, as automatic mail", function* ({ mails, port }) {
    const notifier = yield* sending(`smtp://127.0.0.1:${port}`, { cc: ["lead@example.org"] })
    assert.strictEqual(notifier.kind, "messenger")
    assert.deepStrictEqual(yield* notifier.send(firing), { outcome: "delivered" })
    const { raw, recipients, sender } = yield* Queue.take(mails)
    assert.strictEqual(sender, "tocsin@example.org")
    assert.deepStrictEqual(recipients, ["ops@example.org", "lead@example.org"])
    const { value } = read(raw)
    assert.deepStrictEqual(value("From"), ["Tocsin <tocsin@example.org>"])
    assert.deepStrictEqual(value("Subject"), ["CRITICAL: web-1/disk: /var is 97 % full"])
    assert.deepStrictEqual(value("Auto-Submitted"), ["auto-generated"])
    assert.deepStrictEqual(value("X-Tocsin-Key"), ["web-1/disk"])
    assert.deepStrictEqual(value("X-Auto-Response-Suppress"), ["All"])
    assert.deepStrictEqual(value("List-Id"), ["Tocsin <tocsin.example.org>"])
    const [text, html] = partsOf(raw)
    assert.include(text, "/var is 97 % full\r\nSince 2026-01-31 08:30:00 UTC\r\n")
    assert.include(html, "<h1")
    assert.include(html, "/var is 97 % full")
    // Nothing that a program would load.
    assert.notMatch(html ?? "", /src=|href=|url\(|<link|<script|<img/i)
  })

  served("has the links of its notification in both parts, in one part as words", function* (opened) {
    const { mails, port } = opened
    const notifier = yield* sending(`smtp://127.0.0.1:${port}`)
    const incident = "https://tocsin.example/#/incidents/1"
    const acknowledge = { url: "https://tocsin.example/a/2", for: Duration.hours(1) }
    yield* notifier.send({ ...firing, links: { incident, acknowledge } })
    const [text, html] = partsOf((yield* Queue.take(mails)).raw)
    assert.include(text, `Incident: ${incident}\r\nAcknowledge for 1h: ${acknowledge.url}\r\n`)
    assert.include(html, `href="${acknowledge.url}">Acknowledge for 1h</a>`)
    assert.include(html, `href="${incident}">Incident</a>`)
  })

  served("says both times in one line, before its ID, and that of one of several apart", function* (opened) {
    const { mails, port } = opened
    const { send } = yield* sending(`smtp://127.0.0.1:${port}`)
    const linesOf = Effect.map(Queue.take(mails), ({ raw }) =>
      (partsOf(raw)[1] ?? "").replaceAll(/<[^>]+>/gu, "|").replaceAll(/\|+/gu, "|"),
    )
    const details = { ...detailsOf("", {}), since: at("2026-01-31T08:40:00Z") }
    yield* send({ ...firing, details })
    const times = "Critical since 2026-01-31 08:40:00 UTC, the check took 250 ms"
    assert.include(
      yield* linesOf,
      `|Since 2026-01-31 08:30:00 UTC · ${times}|Incident: ${firing.incident.id}|`,
    )
    yield* send({ ...firing, details, incident: { ...firing.incident, members: 3 } })
    assert.include(yield* linesOf, `|web-1/disk: ${times.replace("C", "c")}|`)
  })

  served("ends with the details in both parts, with more of the output than a chat", function* (opened) {
    const { mails, port } = opened
    const { send } = yield* sending(`smtp://127.0.0.1:${port}`)
    const details = detailsOf(`<b>${"line & more\n".repeat(600)}`, { mount: "/var", team: "shop" })
    yield* send({ ...linked, details })
    const [text = "", html = ""] = partsOf((yield* Queue.take(mails)).raw).map((part) =>
      part.replaceAll("\r\n", "\n"),
    )
    assert.match(
      text,
      /\n\nThe check took 250 ms\nLabels: mount=\/var, team=shop\nSource: https:\S+\n> <b>line & more\n> line/,
    )
    const quoted = text.split("\n").filter((line) => line.startsWith("> "))
    const shown = quoted.map((line) => line.slice(2)).join("\n")
    assert.strictEqual(Array.from(shown.trimEnd()).length, 4_000)
    assert.isAbove(html.indexOf("Labels: "), html.indexOf("Acknowledge for 1h"))
    assert.match(html, /<pre style="[^"]+">&lt;b&gt;line &amp; more\nline/)
    assert.include(
      html,
      `Source: <a href="https://prom.example.org/graph?g0.expr=up&amp;g0.tab=1">https://prom`,
    )
    yield* send({ ...firing, details: { ...details, source: "https://a.example/'\"><img src=x>" } })
    assert.notMatch(partsOf((yield* Queue.take(mails)).raw)[1] ?? "", /<img|<a href="https:\/\/a\./)
  })

  served(
    "is in one thread with the other mails of its incident, and a repeat has the same ID",
    function* ({ mails, port }) {
      const { send } = yield* sending(`smtp://127.0.0.1:${port}`)
      for (const one of [firing, firing, resolved]) yield* send(one)
      const received = yield* Queue.takeN(mails, 3)
      const headers = received.map(({ raw }) => read(raw).value)
      assert.deepStrictEqual(
        headers.map((value) => value("Message-ID")[0]),
        [firing, firing, resolved].map(({ id }) => `<${id}@example.org>`),
      )
      for (const value of headers) {
        const thread = [`<${firing.incident.id}@example.org>`]
        assert.deepStrictEqual([value("References"), value("In-Reply-To")], [thread, thread])
      }
      // One connection serves them all.
      assert.strictEqual(new Set(received.map(({ session }) => session)).size, 1)
    },
  )

  served("can be tried, and a digest has a line for each notification", function* ({ mails, port }) {
    const { sendDigest, test } = yield* sending(`smtp://127.0.0.1:${port}`)
    assert.deepStrictEqual(yield* test, { status: 250, result: { outcome: "delivered" } })
    const tried = read((yield* Queue.take(mails)).raw)
    assert.deepStrictEqual(tried.value("Message-ID"), [`<${TEST_ID}@example.org>`])
    assert.match(tried.value("Subject")[0] ?? "", /^TEST: /)
    if (sendDigest === undefined) assert.fail("takes no digests")
    yield* sendDigest([shared, firing])
    const { raw } = yield* Queue.take(mails)
    assert.deepStrictEqual(read(raw).value("Subject"), ["2 incidents are firing, critical: 1, warning: 1"])
    assert.match(
      partsOf(raw)[0] ?? "",
      /CRITICAL: web-1\/disk: \/var is 97 % full\r\n.*\r\nWARNING: storage <rack 4>/,
    )
    assert.include(partsOf(raw)[1], "4px solid #d13438", "the colour of the worst")
    const links = { incident: "https://t.example/?a=1&b=2", acknowledge: undefined }
    yield* sendDigest([shared, { ...firing, links }])
    const html = partsOf((yield* Queue.take(mails)).raw)[1] ?? ""
    assert.include(html, "<b>CRITICAL: web-1/disk</b>: /var is 97 % full")
    // Beyond ten, lines have nothing below them.
    yield* sendDigest(Array.from({ length: 12 }, () => firing))
    const long = partsOf((yield* Queue.take(mails)).raw)[1] ?? ""
    assert.strictEqual(long.match(/<b>CRITICAL: web-1\/disk<\/b>/g)?.length, 12)
    for (const shown of [html, long]) assert.notMatch(shown, /<p[^>]*><\/p>/)
    assert.include(html, 'href="https://t.example/?a=1&amp;b=2">Incident</a>')
    assert.notInclude(html, "<rack 4>")
  })

  served("has the colour of all is well where its check recovered alone", function* ({ mails, port }) {
    const { send } = yield* sending(`smtp://127.0.0.1:${port}`)
    yield* send(resolved)
    assert.include(partsOf((yield* Queue.take(mails)).raw)[1], "4px solid #2d8a4e")
    const incident = { ...resolved.incident, resolution: { reason: "deleted", by: "ann" } as const }
    yield* send({ ...resolved, incident })
    const html = partsOf((yield* Queue.take(mails)).raw)[1] ?? ""
    assert.include(html, 'font-weight:bold">It had not recovered</p>')
    assert.notInclude(html, "#2d8a4e")
  })

  served("keeps umlauts and emoji in the subject, the sender and the text", function* ({ mails, port }) {
    const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { from: "Störung 🔔 <t@example.org>" })
    const incident = {
      ...shared.incident,
      incident_key: "Kühlung 🧊" as typeof shared.incident.incident_key,
    }
    yield* send({ ...shared, incident, summary: "Wärme überschritten 🔥" })
    const { raw } = yield* Queue.take(mails)
    const { value } = read(raw)
    assert.strictEqual(utf8(value("Subject")[0] ?? ""), "WARNING: Kühlung 🧊: Wärme überschritten 🔥")
    assert.include(utf8(value("From")[0] ?? ""), "Störung 🔔")
    assert.include(partsOf(raw)[0], "Wärme überschritten 🔥")
  })

  const HOSTILE = [
    "x\r\nBcc: evil@example.org",
    "x\nSubject: other\n\nbody",
    "\u2028Bcc: evil@example.org",
    "<img src=https://evil.test/x.png><script>alert(1)</script>",
    "\u202Egnp.exe\u0000\u001b[31m",
    "=?UTF-8?Q?=0D=0ABcc:_evil@example.org?=",
    ".\r\n.\r\nMAIL FROM:<evil@example.org>",
    "a".repeat(10_000),
  ]
  it.effect.each(Array.from(HOSTILE.keys()))(
    "has no header, part or markup from an agent's text: number %d",
    (index) =>
      Effect.gen(function* () {
        const { mails, port } = yield* startMailServer()
        const { send } = yield* sending(`smtp://127.0.0.1:${port}`)
        const hostile = HOSTILE[index] ?? ""
        yield* send(firing)
        const names = read((yield* Queue.take(mails)).raw).names
        const incident = { ...shared.incident, incident_key: hostile as typeof shared.incident.incident_key }
        yield* send({ ...shared, incident, summary: hostile })
        const { raw, recipients } = yield* Queue.take(mails)
        assert.deepStrictEqual(recipients, ["ops@example.org"])
        assert.deepStrictEqual(read(raw).names, names)
        assert.lengthOf(partsOf(raw), 3)
        assert.notMatch(partsOf(raw)[1] ?? "", /<img|<script/)
        for (const character of "\u0000\u001b\u202e") assert.notInclude(partsOf(raw).join(), character)
      }),
  )

  it.effect.each([
    ['"Überwachung" <tocsin@münchen.example>', "Überwachung"],
    ["Überwachung <tocsin@münchen.example>", "Überwachung"],
    ['"Ops, \\"Tocsin\\" @ <home>" <tocsin@münchen.example>', 'Ops, "Tocsin" @ <home>'],
    ["tocsin@münchen.example", ""],
    ["tocsin@xn--mnchen-3ya.example", ""],
  ] as const)("from %s has one form of its domain, in ASCII, in every header", ([from, name]) =>
    Effect.gen(function* () {
      const { mails, port } = yield* startMailServer({ hideSMTPUTF8: true })
      const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { from, to: ["ops@bücher.example"] })
      assert.deepStrictEqual(yield* send(firing), { outcome: "delivered" })
      const { raw } = yield* Queue.take(mails)
      const { value } = read(raw)
      assert.match(raw.slice(0, raw.indexOf("\r\n\r\n")), /^[\0-\x7f]*$/u)
      const domain = "xn--mnchen-3ya.example"
      assert.deepStrictEqual(value("Message-ID"), [`<${firing.id}@${domain}>`])
      assert.deepStrictEqual(value("References"), [`<${firing.incident.id}@${domain}>`])
      assert.deepStrictEqual(value("List-Id"), [`Tocsin <tocsin.${domain}>`])
      assert.deepStrictEqual(value("To"), ["ops@xn--bcher-kva.example"])
      const [shown = ""] = value("From")
      assert.include(shown, `tocsin@${domain}`)
      assert.include(utf8(shown).replaceAll("\\", ""), name)
    }),
  )

  it.effect("leaves out who needs SMTPUTF8 where the server lacks it, and says why", () =>
    Effect.gen(function* () {
      const to = ["jürgen@bücher.example", "ops@example.org"]
      const foreign = "пользователь@example.org"
      const cc = [foreign]
      const lacking = yield* startMailServer({ hideSMTPUTF8: true })
      const { send } = yield* sending(`smtp://127.0.0.1:${lacking.port}`, { to, cc })
      const error =
        "The mail server cannot address jürgen@xn--bcher-kva.example, пользователь@example.org: it lacks SMTPUTF8."
      // The second mail takes a connection that is open.
      for (const one of [firing, resolved]) {
        assert.deepStrictEqual(yield* send(one), { outcome: "delivered", error })
        const { raw, recipients } = yield* Queue.take(lacking.mails)
        assert.deepStrictEqual(recipients, ["ops@example.org"])
        assert.deepStrictEqual([read(raw).value("To"), read(raw).value("Cc")], [["ops@example.org"], []])
      }
      const alone = yield* sending(`smtp://127.0.0.1:${lacking.port}`, { to: cc })
      assert.deepStrictEqual(yield* alone.send(firing), {
        outcome: "refused",
        error: "The mail server cannot address пользователь@example.org: it lacks SMTPUTF8.",
      })

      const able = yield* startMailServer({ hideSMTPUTF8: false })
      const notifier = yield* sending(`smtp://127.0.0.1:${able.port}`, { to, cc })
      assert.deepStrictEqual(yield* notifier.send(firing), { outcome: "delivered" })
      // A separate mail, since the next server may refuse the whole.
      const [plain, utf8Mail] = yield* Queue.takeAll(able.mails)
      assert.deepStrictEqual(plain?.recipients, ["ops@example.org"])
      assert.match(plain?.raw.slice(0, plain.raw.indexOf("\r\n\r\n")) ?? "", /^[\0-\x7f]*$/u)
      assert.deepStrictEqual(utf8Mail?.recipients, ["jürgen@bücher.example", foreign])
      assert.include(read(utf8Mail?.raw ?? "").value("Cc")[0] ?? "", foreign)
    }),
  )

  it.effect("counts as delivered if the server takes one recipient, and names those that it refused", () =>
    Effect.gen(function* () {
      const { mails, port } = yield* startMailServer({
        onRcptTo: ({ address }, _session, end) => end(address.startsWith("gone") ? answer(550) : null),
      })
      const { send } = yield* sending(`smtp://127.0.0.1:${port}`, {
        to: ["gone@example.org", "ops@example.org", "gone2@example.org"],
      })
      const error = "The mail server refused gone@example.org (550), gone2@example.org (550)."
      assert.deepStrictEqual(yield* send(firing), { outcome: "delivered", error })
      assert.deepStrictEqual((yield* Queue.take(mails)).recipients, ["ops@example.org"])
    }),
  )

  it.effect.each([
    ["all recipients", "refused", { onRcptTo: (_address, _session, end) => end(answer(550)) }],
    ["all recipients for now (greylisting)", "deferred", { onRcptTo: (_a, _s, end) => end(answer(451)) }],
    ["the sender", "refused", { onMailFrom: (_address, _session, end) => end(answer(553)) }],
    ["the connection for now", "deferred", { onConnect: (_session, end) => end(answer(421)) }],
    ["the connection", "refused", { onConnect: (_session, end) => end(answer(554)) }],
    [
      "the text for now",
      "deferred",
      { onData: (s, _s, end) => s.resume().on("end", () => end(answer(452))) },
    ],
    ["the text", "refused", { onData: (s, _session, end) => s.resume().on("end", () => end(answer(554))) }],
  ] as ReadonlyArray<[string, "deferred" | "refused", Parameters<typeof startMailServer>[0]]>)(
    "whose server refuses %s is %s, and the result is without the server's text",
    ([, outcome, options]) =>
      Effect.gen(function* () {
        const { port } = yield* startMailServer(options)
        const result = yield* (yield* sending(`smtp://127.0.0.1:${port}`)).send(firing)
        assert.strictEqual(result.outcome, outcome)
        assert.match(JSON.stringify(result), /The mail server answered [45]\d\d/)
        assert.notInclude(JSON.stringify(result), "from outside")
      }),
  )

  it.effect("is deferred when the connection closes in the text, and is not sent twice", () =>
    Effect.gen(function* () {
      const sockets: Array<Socket> = []
      let texts = 0
      const server = createServer((socket) => {
        sockets.push(socket)
        socket.on("error", () => {})
        socket.write("220 test\r\n")
        socket.on("data", (data) => {
          const line = String(data)
          if (line.startsWith("EHLO")) socket.write("250 test\r\n")
          else if (/^(MAIL|RCPT)/.test(line)) socket.write("250 ok\r\n")
          else if (line.startsWith("DATA")) {
            texts += 1
            socket.write("354 go\r\n")
          } else socket.destroy()
        })
      })
      yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
      yield* Effect.addFinalizer(() =>
        Effect.callback<void>((resume) => void server.close(() => resume(Effect.void))),
      )
      const { port } = server.address() as { port: number }
      const result = yield* (yield* sending(`smtp://127.0.0.1:${port}`)).send(firing)
      assert.deepStrictEqual(result, {
        outcome: "deferred",
        error: "The connection closed before the receiver answered.",
      })
      assert.strictEqual(texts, 1)
    }),
  )

  const MANY = ["a", "b", "c", "d", "e"].map((name) => `${name}@example.org`)
  it.effect("reaches one by each attempt where the server ends the connection at the second", () =>
    Effect.gen(function* () {
      const reached: Array<string> = []
      const server = createServer((socket) => {
        let named: Array<string> = []
        let text: string | undefined
        socket.on("error", () => {})
        socket.write("220 test\r\n")
        socket.on("data", (data) => {
          const line = String(data)
          if (line.startsWith("MAIL")) named = []
          if (line.startsWith("RCPT") && named.length > 0) return void socket.end("421 4.3.2 enough\r\n")
          if (line.startsWith("RCPT")) named.push(line.replace(/^.*<|>[^]*$/g, ""))
          if (text !== undefined) text += line
          else if (line.startsWith("DATA")) text = ""
          if (text !== "" && text?.endsWith("\r\n.\r\n") === false) return
          if (text !== undefined && text !== "") reached.push(...named)
          socket.write(text === "" ? "354 go\r\n" : "250 ok\r\n")
          if (text !== "") text = undefined
        })
      })
      yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
      yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
      const { port } = server.address() as { port: number }
      const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { to: MANY.slice(0, 2) })
      const recipients = [{ address: "a@example.org" }]
      assert.deepStrictEqual(yield* send(firing), {
        outcome: "deferred",
        error: "No mail yet for b@example.org. The mail server answered 421 4.3.2.",
        recipients,
      })
      assert.deepStrictEqual(yield* send({ ...firing, recipients }), { outcome: "delivered" })
      assert.deepStrictEqual(reached, ["a@example.org", "b@example.org"])
    }),
  )

  it.effect.each([
    ["550 5.7.1", { address: "a@example.org", refused: "550 5.7.1" }],
    ["451 4.7.1", undefined],
    ["421 4.3.2", undefined],
  ] as const)(
    "defers all others where the one after a second recipient's 421 is answered %s",
    ([code, first]) =>
      Effect.gen(function* () {
        const server = createServer((socket) => {
          let named = 0
          socket.on("error", () => {})
          socket.write("220 test\r\n")
          socket.on("data", (data) => {
            const line = String(data)
            if (line.startsWith("MAIL")) named = 0
            if (line.startsWith("RCPT") && ++named > 1) return void socket.end("421 4.3.2 enough\r\n")
            socket.write(line.startsWith("DATA") ? `${code} no\r\n` : "250 ok\r\n")
          })
        })
        yield* Effect.callback<void>(
          (resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)),
        )
        yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
        const { port } = server.address() as { port: number }
        const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { to: MANY.slice(0, 3) })
        const { error: _, ...result } = { error: undefined, ...(yield* send(firing)) }
        assert.deepStrictEqual(result, {
          outcome: "deferred",
          ...(first !== undefined && { recipients: [first] }),
        })
      }),
  )

  it.effect.each(["CONN", "EHLO", "MAIL", "DATA"])(
    "makes no second connection at once behind a 421 at %s",
    (command) =>
      Effect.gen(function* () {
        let connections = 0
        const server = createServer((socket) => {
          connections += 1
          socket.on("error", () => {})
          if (command === "CONN") return void socket.end("421 4.7.0 too many\r\n")
          socket.write("220 test\r\n")
          socket.on("data", (data) => {
            if (String(data).startsWith(command)) return void socket.end("421 4.7.0 too many\r\n")
            socket.write("250 ok\r\n")
          })
        })
        yield* Effect.callback<void>(
          (resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)),
        )
        yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
        const { port } = server.address() as { port: number }
        const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { to: MANY.slice(0, 3) })
        assert.strictEqual((yield* send(firing)).outcome, "deferred")
        assert.strictEqual(connections, 1)
      }),
  )

  it.effect.each(["never greets", "stops before the text"])(
    "is deferred after 45 s when the server %s",
    (how) =>
      Effect.gen(function* () {
        const arrived = Latch.makeUnsafe()
        const reach = () => void arrived.openUnsafe()
        const { port } = yield* startMailServer(
          how === "never greets" ? { onConnect: reach } : { onRcptTo: reach },
        )
        const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { mailTimeout: Duration.seconds(45) })
        const attempt = yield* Effect.forkChild(send(firing))
        yield* arrived.await
        yield* TestClock.adjust("44 seconds")
        assert.isUndefined(attempt.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* Fiber.join(attempt), {
          outcome: "deferred",
          error: "The mail server did not answer within 45s: check that it is up.",
        })
      }),
  )

  it.effect("waits for ten minutes while the server scans the text, and no more", () =>
    Effect.gen(function* () {
      const ends = yield* Queue.unbounded<() => void>()
      const { port } = yield* startMailServer({
        onData: (text, _session, end) => {
          text.resume().on("end", () => void Queue.offerUnsafe(ends, () => end()))
        },
      })
      const { outlastsLease, send } = yield* sending(`smtp://127.0.0.1:${port}`, {
        mailTimeout: Duration.seconds(45),
      })
      assert.isTrue(outlastsLease)
      const scanned = yield* Effect.forkChild(send(firing))
      const end = yield* Queue.take(ends)
      yield* TestClock.adjust("9 minutes")
      assert.isUndefined(scanned.pollUnsafe())
      end()
      assert.deepStrictEqual(yield* Fiber.join(scanned), { outcome: "delivered" })
      const silent = yield* Effect.forkChild(send(resolved))
      yield* Queue.take(ends)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* Fiber.join(silent), {
        outcome: "deferred",
        error: "The mail server did not say within 10m whether it took the mail: see its log.",
      })
    }),
  )

  it.effect.each([
    // Seen at Postfix 3.7.11, OpenSMTPD 6.8.0 and Exim 4.96 of Debian 12 in November 2026; of RFC 821; with a code of RFC 3463.
    ["452 4.5.3", 2],
    ["451 4.5.3", 2],
    ["452", 1],
    ["552", 2],
    ["550 5.5.3", 4],
  ] as const)(
    "takes as many transactions as a server wants that answers %s beyond %d recipients",
    ([codes, most]) =>
      Effect.gen(function* () {
        const { mails, port } = yield* startMailServer({
          onRcptTo: (_address, { envelope }, end) =>
            end(envelope.rcptTo.length < most ? null : answer(Number(codes.slice(0, 3)), codes.slice(4))),
        })
        const { send } = yield* sending(`smtp://127.0.0.1:${port}`, {
          to: MANY.slice(0, 4),
          cc: MANY.slice(4),
        })
        assert.deepStrictEqual(yield* send(firing), { outcome: "delivered" })
        const received = yield* Queue.takeAll(mails)
        assert.deepStrictEqual(
          received.flatMap(({ recipients }) => recipients),
          MANY,
        )
        for (const { raw } of received) assert.deepStrictEqual(read(raw).value("Cc"), ["e@example.org"])
      }),
  )

  it.effect("repeats for those alone whom the server deferred, whatever it answers the others", () =>
    Effect.gen(function* () {
      let isGrey = true
      const { mails, port } = yield* startMailServer({
        onRcptTo: ({ address }, _session, end) =>
          end(
            address.startsWith("b")
              ? answer(550, "5.1.1")
              : address.startsWith("c") && isGrey
                ? answer(450, "4.7.1")
                : null,
          ),
      })
      const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { to: MANY.slice(0, 3) })
      const recipients = [{ address: "a@example.org" }, { address: "b@example.org", refused: "550 5.1.1" }]
      assert.deepStrictEqual(yield* send(firing), {
        outcome: "deferred",
        error:
          "No mail yet for c@example.org (450 4.7.1). The mail server answered 450 4.7.1. The mail server refused b@example.org (550 5.1.1).",
        recipients,
      })
      isGrey = false
      assert.deepStrictEqual(yield* send({ ...firing, recipients }), {
        outcome: "delivered",
        error: "The mail server refused b@example.org (550 5.1.1).",
      })
      const received = yield* Queue.takeAll(mails)
      assert.deepStrictEqual(
        received.map((mail) => mail.recipients),
        [["a@example.org"], ["c@example.org"]],
      )
    }),
  )

  it.effect.each([
    [{}, "example.org"],
    [{ from: "tocsin@Bücher.example" }, "xn--bcher-kva.example"],
    [{ publicHost: (): string => "tocsin.example.net" }, "tocsin.example.net"],
    [{ publicHost: (): string => "tocsin.example.net", hello: "out.example.com" }, "out.example.com"],
  ] as const)("greets with a name that has a dot: %j", ([options, name]) =>
    Effect.gen(function* () {
      const names: Array<string> = []
      const { port } = yield* startMailServer({
        onMailFrom: (_address, { hostNameAppearsAs }, end) => {
          names.push(String(hostNameAppearsAs))
          end()
        },
      })
      yield* (yield* sending(`smtp://127.0.0.1:${port}`, options)).send(firing)
      assert.deepStrictEqual(names, [name])
    }),
  )

  it.effect("waits for a slow greeting", () =>
    Effect.gen(function* () {
      const greet = yield* Queue.unbounded<() => void>()
      const { mails, port } = yield* startMailServer({
        onConnect: (_session, end) => void Queue.offerUnsafe(greet, () => end()),
      })
      const { send } = yield* sending(`smtp://127.0.0.1:${port}`, { mailTimeout: Duration.seconds(45) })
      const attempt = yield* Effect.forkChild(send(firing))
      const go = yield* Queue.take(greet)
      yield* TestClock.adjust("40 seconds")
      go()
      assert.deepStrictEqual(yield* Fiber.join(attempt), { outcome: "delivered" })
      assert.isDefined(yield* Queue.take(mails))
    }),
  )

  it.effect("is deferred where no server listens", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.scoped(startMailServer())
      const result = yield* (yield* sending(`smtp://127.0.0.1:${port}`)).send(firing)
      assert.strictEqual(result.outcome, "deferred")
      assert.include(JSON.stringify(result), "refused the connection")
    }),
  )

  it.effect.each([
    ["http://mail.test", "must be a URL that begins with smtp:// or smtps://"],
    ["smtp:", "must be a URL that begins with smtp:// or smtps://"],
    ["smtp://169.254.169.254", "must not be a link-local or cloud metadata address"],
    ["smtp://u%ZZ:p@mail.test", "must have a percent-encoded user name and password (write % as %25)"],
  ] as const)("refuses the address %s", ([url, message]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(sending(url))).message, message)
    }),
  )
})

const CERTIFIER = "openssl"
const withoutOpenssl = lacking("openssl")

describe.skipIf(withoutOpenssl !== undefined)(`e-mail over TLS${skippedFor(withoutOpenssl)}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-mail-"))
  const before = getCACertificates("default")
  let tls = { key: "", cert: "" }
  beforeAll(() => {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    spawnSync(CERTIFIER, ["req", "-x509", ...kind, "-days", "2", "-keyout", key, "-out", cert, ...names])
    tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
    setDefaultCACertificates([...before, tls.cert])
  })
  afterAll(() => {
    setDefaultCACertificates(before)
    rmSync(folder, { recursive: true })
  })

  const required = { tls: undefined }
  const accounts: Parameters<typeof startMailServer>[0] = {
    authOptional: false,
    onAuth: ({ password, username }, _session, end) =>
      password === "p@ss w%rd" ? end(null, { user: username ?? "" }) : end(answer(535)),
  }

  it.effect.each(["smtp", "smtps"])("logs in over %s", (scheme) =>
    Effect.gen(function* () {
      const { mails, port } = yield* startMailServer({ ...tls, ...accounts, secure: scheme === "smtps" })
      const url = `${scheme}://mailer%40example.org:p%40ss%20w%25rd@localhost:${port}`
      assert.deepStrictEqual(yield* (yield* sending(url, required)).send(firing), { outcome: "delivered" })
      const { isSecure, user } = yield* Queue.take(mails)
      assert.deepStrictEqual({ isSecure, user }, { isSecure: true, user: "mailer@example.org" })
    }),
  )

  it.effect("logs in as a user whose name has a colon", () =>
    Effect.gen(function* () {
      const { mails, port } = yield* startMailServer({ ...tls, ...accounts })
      const url = `smtp://team%3Amailer:p%40ss%20w%25rd@localhost:${port}`
      assert.deepStrictEqual(yield* (yield* sending(url, required)).send(firing), { outcome: "delivered" })
      assert.strictEqual((yield* Queue.take(mails)).user, "team:mailer")
    }),
  )

  it.effect("is deferred with a wrong password, which no result shows", () =>
    Effect.gen(function* () {
      const { port } = yield* startMailServer({ ...tls, ...accounts })
      const result = yield* (yield* sending(`smtp://planted-user:planted@localhost:${port}`, required)).send(
        firing,
      )
      assert.deepStrictEqual(result, {
        outcome: "deferred",
        error:
          "The mail server answered 535: check the user and the password in the receiver's settings; many services want an app password.",
      })
    }),
  )

  served("sends nothing where the server does not offer STARTTLS", function* ({ mails, port }) {
    const result = yield* (yield* sending(`smtp://u:p@localhost:${port}`, required)).send(firing)
    assert.strictEqual(result.outcome, "deferred")
    assert.include(JSON.stringify(result), "STARTTLS")
    assert.include(JSON.stringify(result), "or tls: off")
    assert.strictEqual(yield* Queue.size(mails), 0)
  })

  served("sends without TLS where its address says so", function* ({ mails, port }) {
    const mailer = yield* sending(`smtp://localhost:${port}?tls=off`, required)
    assert.deepStrictEqual(yield* mailer.send(firing), { outcome: "delivered" })
    assert.strictEqual(yield* Queue.size(mails), 1)
    const exposed = yield* sending("smtp://mail.example.org?tls=off", required)
    assert.strictEqual(exposed.caution, "sends mails without TLS")
  })

  it.effect.each(["smtp", "smtps"])("sends nothing to a certificate of another name over %s", (scheme) =>
    Effect.gen(function* () {
      const { mails, port } = yield* startMailServer({ ...tls, secure: scheme === "smtps" })
      const result = yield* (yield* sending(`${scheme}://127.0.0.1:${port}`, required)).send(firing)
      assert.deepStrictEqual(result, {
        outcome: "deferred",
        error:
          "The certificate of the mail server is for another name: write a name that it states into the address, not an IP address.",
      })
      assert.strictEqual(yield* Queue.size(mails), 0)
    }),
  )
})
