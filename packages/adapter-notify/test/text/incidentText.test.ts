import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Severity } from "@tocsin/contract/formats/Status"
import { headlineOf } from "@tocsin/contract/formats/headline"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Schema } from "effect"
import * as fc from "fast-check"
import { slackMedium, telegramMedium } from "../../src/messenger/messenger.ts"
import { spokenText } from "@tocsin/core/features/phones/callText"
import { cutText, type TextMedium } from "@tocsin/core/heart/notifications/cutText"
import { digestText } from "@tocsin/core/heart/notifications/digestText"
import { subjectOf, incidentText } from "@tocsin/core/heart/notifications/incidentText"
import { lastOutput } from "@tocsin/contract/formats/outputText"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { detailsOf, firing, resolved, shared, silence, SOURCE } from "../notifications.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

const plain: TextMedium = { limit: 10_000, escape: (text) => text }
const text = (notification: DeliveryAttempt) => incidentText(notification, plain)

describe("the text of a notification", () => {
  it("says how bad, where, what, since when, and the id", () => {
    assert.strictEqual(
      text(firing),
      [
        "CRITICAL: web-1/disk",
        "/var is 97 % full",
        "Since 2026-01-31 08:30:00 UTC",
        "Incident: 0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f01",
      ].join("\n"),
    )
  })

  it("says how long it was when it is over", () => {
    assert.strictEqual(
      text(resolved),
      [
        "RESOLVED: web-1/disk",
        "ok again after 12 min 10 s",
        "Now: 41 % full",
        "Was: /var is 97 % full",
        "From 2026-01-31 08:30:00 UTC to 2026-01-31 08:42:10 UTC (12 min 10 s)",
        "Incident: 0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f01",
      ].join("\n"),
    )
  })

  it("says who takes care of it where it goes out all the same", () => {
    const until = Instant.fromMillis(Date.parse("2026-01-31T10:30:00Z"))
    const at = firing.incident.opened_at
    const acknowledgement = { by: "link:phone", note: undefined, at, until, severity: "critical" as const }
    assert.deepStrictEqual(
      text({ ...firing, acknowledgement })
        .split("\n")
        .slice(1, 3),
      ["/var is 97 % full", "Acknowledged by link:phone until 2026-01-31 10:30:00 UTC"],
    )
  })

  it.each([
    [{ reason: "recovered" }, "ok again after 12 min 10 s", undefined],
    [
      { reason: "reported", status: "warning" },
      "reported warning after 12 min 10 s",
      "Still not ok: no longer late, but warning now",
    ],
    [
      { reason: "reported", status: "critical", now: "DISK CRITICAL - full" },
      "reported critical after 12 min 10 s",
      "Still not ok: no longer late, but critical now\nNow: full",
    ],
    [{ reason: "deleted", by: "ann" }, "deleted by ann", "It had not recovered"],
    [{ reason: "deleted", by: "ann", of: "agent" }, "agent deleted by ann", "It had not recovered"],
    [{ reason: "resolved", by: "ann" }, "resolved by ann", "By hand: no result says that it is ok"],
    [{ reason: "withdrawn" }, "no longer expected", "It had not recovered"],
    [
      { reason: "withdrawn", of: "check" },
      "no longer checked",
      "It had not recovered: the check is no longer in the configuration of its agent",
    ],
    [
      { reason: "moved", to: IncidentKey.make("site") },
      "moved to site",
      "Still not ok: it is part of the incident site now",
    ],
  ] as const)("says how it ended, and whether it recovered: %o", (resolution, line, state) => {
    const ended = { ...resolved, incident: { ...resolved.incident, resolution } }
    const lines = [
      "RESOLVED: web-1/disk",
      line,
      ...(state === undefined ? [] : [state]),
      "Was: /var is 97 % full\n",
    ]
    assert.include(text(ended), lines.join("\n"))
    assert.strictEqual(subjectOf(ended), `RESOLVED: web-1/disk: ${line}`)
  })

  it("says the check and since when below the lines of a digest of ten, where there is room", () => {
    const titled = { ...firing, title: "Shop's disk" }
    const deleted = { ...resolved.incident, resolution: { reason: "deleted", by: "ann" } as const }
    assert.deepStrictEqual(digestText([titled, shared], plain).split("\n").slice(1), [
      "CRITICAL: Shop's disk: /var is 97 % full",
      "↳ Check: web-1/disk · Since 2026-01-31 08:30:00 UTC",
      "WARNING: storage <rack 4> & others: /var is 97 % full",
      "↳ Since 2026-01-31 08:30:00 UTC · 5 checks are not ok",
    ])
    assert.deepStrictEqual(
      digestText([resolved, { ...resolved, title: "Shop's disk", incident: deleted }], plain)
        .split("\n")
        .slice(1),
      [
        "RESOLVED: Shop's disk: deleted by ann",
        "↳ It had not recovered · Check: web-1/disk",
        "RESOLVED: web-1/disk: ok again after 12 min 10 s",
      ],
    )
    assert.notInclude(digestText([titled, shared], { ...plain, limit: 200 }), "↳")
    assert.notInclude(
      digestText(
        Array.from({ length: 11 }, () => titled),
        plain,
      ),
      "↳",
    )
    assert.notInclude(digestText([titled, shared], { ...plain, hasNoLinks: true }), "↳")
  })

  it("says what it was where an earlier version resolved it", () => {
    const ended = { ...resolved, incident: { ...resolved.incident, resolution: undefined } }
    assert.include(text(ended), "RESOLVED: web-1/disk\nWas: /var is 97 % full\n")
  })

  it("says the severity once", () => {
    const said = { ...firing, summary: "DISK CRITICAL - /var is 97 % full" }
    assert.include(text(said), "CRITICAL: web-1/disk\n/var is 97 % full\n")
    assert.strictEqual(subjectOf(said), "CRITICAL: web-1/disk: /var is 97 % full")
    assert.include(text({ ...said, severity: "warning" }), "\nDISK CRITICAL - /var is 97 % full\n")
  })

  it("names the key and counts the checks where there are several", () => {
    assert.strictEqual(
      text(shared),
      [
        "WARNING: storage <rack 4> & others",
        "/var is 97 % full",
        "Since 2026-01-31 08:30:00 UTC",
        "5 checks are not ok",
        "Incident: 0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f01",
      ].join("\n"),
    )
  })

  it("counts late checks as late", () => {
    const incident = { ...shared.incident, incident_key: IncidentKey.make("web-1/@overdue") }
    assert.include(text({ ...shared, incident }), "\n5 checks are late\n")
  })

  it("has one title for the life of a shared incident, and names its check while it has one", () => {
    const incident = { ...firing.incident, incident_key: IncidentKey.make("storage") }
    const several = { ...incident, agent_id: undefined, check_id: undefined, members: 2 }
    const other = { ...incident, agent_id: AgentId.make("web-2") }
    const titles = [incident, several, other].map((one) => text({ ...firing, incident: one }).split("\n")[0])
    assert.deepStrictEqual(titles, ["CRITICAL: storage", "CRITICAL: storage", "CRITICAL: storage"])
    const over = text({
      ...resolved,
      incident: { ...resolved.incident, incident_key: incident.incident_key },
    })
    assert.include(over, "RESOLVED: storage\n")
    assert.include(text({ ...firing, incident: other }), "\nCheck: web-2/disk\n")
    assert.notInclude(text({ ...firing, incident: several }), "Check:")
  })

  it("names the check where its own key is too long to show", () => {
    const incident = { ...firing.incident, incident_key: IncidentKey.make(`sha256:${"0a".repeat(32)}`) }
    assert.include(text({ ...firing, incident }), "CRITICAL: web-1/disk\n")
  })

  it("names only the agent if that is silent", () => {
    assert.include(text(silence), "CRITICAL: web-1\nno contact with web-1\n")
    assert.notInclude(text(silence), "@heartbeat")
  })

  it("omits unknown facts", () => {
    assert.strictEqual(text({ ...firing, summary: undefined }).split("\n").length, 3)
    assert.strictEqual(text({ ...firing, summary: " \t" }).split("\n").length, 3)
  })

  it("says so where a firing comes late, after the resolution", () => {
    const late: DeliveryAttempt = { ...resolved, event_type: "firing" }
    assert.deepStrictEqual(text(late).split("\n").slice(0, 3), [
      "CRITICAL: web-1/disk (resolved by now)",
      "/var is 97 % full",
      "From 2026-01-31 08:30:00 UTC to 2026-01-31 08:42:10 UTC (12 min 10 s)",
    ])
    assert.strictEqual(subjectOf(late), "CRITICAL: web-1/disk (resolved by now): /var is 97 % full")
  })

  it("says how its incident ended where a firing comes late, and that was no recovery", () => {
    const gone = { ...resolved.incident, resolution: { reason: "deleted", by: "ann" } } as const
    const late = { ...firing, incident: gone }
    assert.deepStrictEqual(text(late).split("\n").slice(0, 4), [
      "CRITICAL: web-1/disk (closed by now: deleted by ann)",
      "/var is 97 % full",
      "It had not recovered",
      "From 2026-01-31 08:30:00 UTC to 2026-01-31 08:42:10 UTC (12 min 10 s)",
    ])
    assert.strictEqual(
      subjectOf(late),
      "CRITICAL: web-1/disk (closed by now: deleted by ann): /var is 97 % full",
    )
    assert.deepStrictEqual(digestText([late, firing], telegramMedium).split("\n").slice(3), [
      "CRITICAL: web-1/disk (closed by now: deleted by ann): /var is 97 % full",
      "↳ It had not recovered · From 2026-01-31 08:30:00 UTC to 2026-01-31 08:42:10 UTC (12 min 10 s)",
    ])
    assert.strictEqual(
      spokenText([late]),
      "Tocsin: critical, but closed by now. web-1/disk. /var is 97 % full. deleted by ann. It had not recovered.",
    )
  })

  it.each([
    ["0.4 s", 400_000n, "(0 s)"],
    ["59 s", 59_000_000n, "(59 s)"],
    ["2 min", 120_000_000n, "(2 min)"],
    ["2 h 5 min 9 s", 7_509_000_000n, "(2 h 5 min)"],
    ["3 d 20 s", 259_220_000_000n, "(3 d)"],
    ["a clock that was set back", -5_000_000n, "(0 s)"],
  ])("shows a span in two units: %s", (_name, micros, shown) => {
    const resolved_at = Instant.fromMicros(firing.incident.opened_at + micros)
    assert.include(text({ ...resolved, incident: { ...resolved.incident, resolved_at } }), shown)
  })

  it("keeps to its lines whatever a check printed", () => {
    const summary = "a\u0000b\u001b[31mc\u2028d\u0085e\u202ef\ud800g"
    assert.strictEqual(text({ ...firing, summary }).split(/[\n\u2028\u0085]/)[1], "a bc d e f\ufffdg")
  })
})

describe("fitted to Slack", () => {
  it("is escaped", () => {
    const escaped = incidentText({ ...shared, summary: "<!channel> a & b" }, slackMedium)
    assert.include(escaped, "WARNING: storage &lt;rack 4&gt; &amp; others\n&lt;!channel&gt; a &amp; b\n")
    assert.notMatch(escaped, /[<>]|&(?!amp;|lt;|gt;)/)
  })

  it("is cut where the check said too much, never within an escape", () => {
    const incident = { ...shared.incident, incident_key: IncidentKey.make("&".repeat(256)) }
    const cut = incidentText({ ...shared, summary: "&".repeat(512), incident }, slackMedium)
    assert.isAtMost(cut.length, 3_000)
    assert.isAbove(cut.length, 2_990)
    assert.match(cut, /\n(?:&amp;)+…\nSince /)
    assert.match(cut, /\nIncident: 0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f01$/)
  })
})

describe("a text beyond the limit", () => {
  it.each([
    ["Slack", slackMedium, 3_000],
    ["Telegram", telegramMedium, 4_096],
  ] as const)("is cut to what %s takes", (_name, medium, limit) => {
    const shown = incidentText({ ...firing, summary: "x".repeat(9_000) }, medium)
    assert.strictEqual(shown.length, limit)
    assert.match(shown, /\nx+…\nSince /)
  })
})

// Code units of every kind: escapes, pairs and halves of them, joiners, marks, controls,
// directions.
const oddText = (maxLength: number) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "&",
          "<",
          ">",
          "\ud83d",
          "\ude00",
          "😀",
          "👩‍👩‍👧",
          "e\u0301",
          "\u200d",
          "\u202e",
          "\0",
          "\n",
          "\r\n",
          "\u2029",
        ),
        fc.string({ unit: anyCharacter, minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      ),
      { maxLength },
    )
    .map((parts) => parts.join(""))

const incidentKey = fc
  .oneof(
    oddText(256),
    fc.constantFrom("&", "<", "😀").map((character) => character.repeat(256)),
  )
  .filter(Schema.is(IncidentKey))

const anyNotification: fc.Arbitrary<DeliveryAttempt> = fc
  .record({
    base: fc.constantFrom(firing, resolved, shared),
    summary: fc.option(
      fc.oneof(
        oddText(600),
        fc.constantFrom("&", "😀", "\ud83d").map((character) => character.repeat(600)),
      ),
      { nil: undefined },
    ),
    key: fc.option(incidentKey, { nil: undefined }),
    name: fc.constantFrom("a", "x".repeat(128)),
    members: fc.nat(),
  })
  .map(({ base, summary, key, name, members }) => ({
    ...base,
    summary: headlineOf(summary),
    incident: {
      ...base.incident,
      members,
      ...(key !== undefined && { incident_key: key }),
      ...(base.incident.agent_id !== undefined && {
        agent_id: AgentId.make(name),
        check_id: CheckId.make(name),
      }),
    },
  }))

const anyDetails: fc.Arbitrary<DeliveryAttempt["details"]> = fc
  .record({
    labels: fc.dictionary(fc.constantFrom("a", "b", "c"), oddText(60)),
    output: oddText(1_500),
    isJob: fc.boolean(),
    source: fc.constantFrom(undefined, SOURCE, "https://prom/<@all>*&", "x".repeat(1_000)),
    status: fc.constantFrom("ok" as const, "critical" as const),
  })
  .map(({ isJob, labels, output, source, status }) => {
    const said = isJob ? (lastOutput(output, { end: "exit 1" }).output ?? "") : output
    return { ...detailsOf(said, labels, status), source }
  })

describe("any text", () => {
  const media: ReadonlyArray<readonly [string, TextMedium]> = [
    ["Slack", slackMedium],
    ["Telegram", telegramMedium],
    ["a small screen", { limit: 1_700, escape: telegramMedium.escape }],
  ]
  it.each(media)("fits %s and is whole in every character", (_name, medium) => {
    fc.assert(
      fc.property(anyNotification, (notification) => {
        const shown = incidentText(notification, medium)
        assert.isAtMost(shown.length, medium.limit)
        assert.strictEqual(new TextDecoder().decode(new TextEncoder().encode(shown)), shown)
        assert.notMatch(shown, /(?!\n)\p{Cc}/u)
        assert.isTrue(shown.endsWith(`\nIncident: ${notification.incident.id}`))
        // A resolved has two of the check: what it says now, and what it said.
        assert.isAtMost(shown.split("\n").length, notification.event_type === "resolved" ? 7 : 6)
        if (medium === slackMedium) assert.notMatch(shown, /[<>]|&(?!amp;|lt;|gt;)/)
      }),
    )
  })

  it.each(media)("for %s keeps its own lines before details, which say what they are", (_name, medium) => {
    fc.assert(
      fc.property(anyNotification, anyDetails, (notification, details) => {
        const own = incidentText(notification, medium)
        const shown = incidentText({ ...notification, details }, medium)
        assert.isAtMost(shown.length, medium.limit)
        assert.isTrue(shown.startsWith(own))
        assert.notMatch(shown, /(?!\n)\p{Cc}/u)
        const [blank = "", ...lines] = shown.slice(own.length + 1).split("\n")
        assert.strictEqual(blank, "")
        const quote = medium.quote ?? "> "
        for (const line of lines)
          assert.isTrue(
            line.startsWith(quote) ||
              /^(?:Labels|Source|Last result|Took|web-1\/disk): |^The check took /.test(line),
            line,
          )
        // An output comes last.
        const first = lines.findIndex((line) => line.startsWith(quote))
        if (first !== -1) assert.isTrue(lines.slice(first).every((line) => line.startsWith(quote)))
        if (medium === slackMedium)
          assert.notMatch(shown.replace(/^Source: .*$/m, ""), /[<>]|&(?!amp;|lt;|gt;)/)
      }),
      { numRuns: propertyRuns(60) },
    )
  })
})

const cut = (text: string, limit: number, escape = (part: string) => part) => cutText(text, { limit, escape })

describe("a text that is cut", () => {
  it("is whole where it fits", () => {
    assert.strictEqual(cut("abc", 3), "abc")
    assert.strictEqual(cut("", 0), "")
  })

  it("ends in an ellipsis, which counts", () => {
    assert.strictEqual(cut("abcd", 3), "ab…")
    assert.strictEqual(cut("abcd", 1), "…")
    assert.strictEqual(cut("abcd", 0), "")
    assert.strictEqual(cut("abcd", -5), "")
  })

  it("keeps pairs of surrogates together", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4, 5, 6].map((limit) => cut("😀😀😀", limit)),
      ["…", "…", "😀…", "😀…", "😀😀…", "😀😀😀"],
    )
  })

  it("keeps escapes together", () => {
    const escape = (text: string) => text.replaceAll("&", "&amp;")
    assert.strictEqual(cut("a&b&c", 13, escape), "a&amp;b&amp;c")
    assert.strictEqual(cut("a&b&c", 12, escape), "a&amp;b…")
    assert.strictEqual(cut("a&b&c", 6, escape), "a…")
  })
})

const many = (count: number, severity: Severity = "warning", summary = "low") =>
  Array.from({ length: count }, () => ({ ...firing, severity, summary }))

describe("a digest", () => {
  it("has the count, then a line for each notification, the most severe first", () => {
    assert.strictEqual(
      digestText([...many(1), shared, firing], telegramMedium),
      [
        "3 incidents are firing, critical: 1, warning: 2",
        "CRITICAL: web-1/disk: /var is 97 % full",
        "↳ Since 2026-01-31 08:30:00 UTC",
        "WARNING: web-1/disk: low",
        "↳ Since 2026-01-31 08:30:00 UTC",
        "WARNING: storage <rack 4> & others: /var is 97 % full",
        "↳ Since 2026-01-31 08:30:00 UTC · 5 checks are not ok",
      ].join("\n"),
    )
    assert.strictEqual(
      digestText([resolved, resolved], slackMedium).split("\n")[1],
      "RESOLVED: web-1/disk: ok again after 12 min 10 s",
    )
  })

  it("says which of the firing incidents have resolved, after those that are open", () => {
    const ended = { ...firing, incident: resolved.incident }
    assert.strictEqual(
      digestText([ended, ...many(1), shared], telegramMedium),
      [
        "3 incidents fired, warning: 2, resolved by now: 1",
        "WARNING: web-1/disk: low",
        "↳ Since 2026-01-31 08:30:00 UTC",
        "WARNING: storage <rack 4> & others: /var is 97 % full",
        "↳ Since 2026-01-31 08:30:00 UTC · 5 checks are not ok",
        "CRITICAL: web-1/disk (resolved by now): /var is 97 % full",
        "↳ From 2026-01-31 08:30:00 UTC to 2026-01-31 08:42:10 UTC (12 min 10 s)",
      ].join("\n"),
    )
    const gone = { ...ended.incident, resolution: { reason: "withdrawn" } } as const
    const [head] = digestText([{ ...ended, incident: gone }, ended, firing], plain).split("\n")
    assert.strictEqual(head, "3 incidents fired, critical: 1, closed by now: 2")
    assert.match(spokenText([ended, firing]), /^Tocsin: 2 incidents fired\. resolved by now: 1\. critical\./)
  })

  it("counts kinds only in room that no line needs, but where some incidents have no line", () => {
    const three = many(3, "warning", "x".repeat(60))
    const whole = "3 incidents are firing, warning: 3"
    const room = digestText(three, { ...plain, hasNoLinks: true })
    assert.strictEqual(room.split("\n")[0], whole)
    const tight = digestText(three, { ...plain, hasNoLinks: true, limit: room.length - 1 })
    assert.strictEqual(tight, room.replace(", warning: 3", ""))
    assert.strictEqual(digestText(three, { ...plain, hasNoLinks: true, limit: room.length }), room)
    const unlisted = { ...plain, hasNoLinks: true, limit: 70, form: "brief" } as const
    assert.match(digestText(three, unlisted), /^3 incidents are firing, warning: 3\n.*\n… and 2 more$/)
  })

  it("of resolutions, has those first that are no recovery", () => {
    const gone = { ...resolved.incident, resolution: { reason: "withdrawn", of: "check" } } as const
    assert.deepStrictEqual(
      digestText([resolved, { ...resolved, severity: "warning", incident: gone }], telegramMedium).split(
        "\n",
      ),
      [
        "2 incidents are closed, no recovery seen: 1, ok again: 1",
        "RESOLVED: web-1/disk: no longer checked",
        "↳ It had not recovered: the check is no longer in the configuration of its agent",
        "RESOLVED: web-1/disk: ok again after 12 min 10 s",
      ],
    )
  })

  it("of resolutions, says how many of each end there are, those that are still not ok first", () => {
    const ended = (resolution: DeliveryAttempt["incident"]["resolution"]): DeliveryAttempt => ({
      ...resolved,
      incident: { ...resolved.incident, resolution },
    })
    const ends = [
      resolved,
      ended({ reason: "resolved", by: "ben" }),
      ended(undefined),
      ended({ reason: "deleted", by: "ann" }),
      ended({ reason: "moved", to: IncidentKey.make("site") }),
      ended({ reason: "reported", status: "critical" }),
    ]
    const [title, ...lines] = digestText(ends, { ...plain, hasNoLinks: true }).split("\n")
    assert.strictEqual(title, "6 incidents are closed, still not ok: 2, no recovery seen: 3, ok again: 1")
    assert.deepStrictEqual(
      lines.map((line) => line.replace("RESOLVED: web-1/disk", "")),
      [
        ": moved to site",
        ": reported critical after 12 min 10 s",
        ": resolved by ben",
        ": /var is 97 % full",
        ": deleted by ann",
        ": ok again after 12 min 10 s",
      ],
    )
    assert.strictEqual(
      spokenText(ends),
      "Tocsin: 6 incidents are closed. still not ok: 2. no recovery seen: 3. ok again: 1. " +
        "web-1/disk. moved to site. Still not ok: it is part of the incident site now. " +
        "web-1/disk. reported critical after 12 minutes 10 seconds. Still not ok: no longer late, but critical now. " +
        "web-1/disk. resolved by ben. By hand: no result says that it is ok.",
    )
    const [all] = digestText([resolved, ended(undefined)], plain).split("\n")
    assert.strictEqual(all, "2 incidents are resolved")
  })

  it("has at most 20 lines beside the count, and counts the others", () => {
    for (const [count, lines, last] of [
      [20, 20, "WARNING: web-1/disk: low"],
      [21, 20, "… and 2 more"],
      [100, 20, "… and 81 more"],
    ] as const) {
      const [head, ...rest] = digestText(many(count), slackMedium).split("\n")
      assert.deepStrictEqual(
        [head, rest.length, rest.at(-1)],
        [`${count} incidents are firing, warning: ${count}`, lines, last],
      )
    }
  })

  it("has at its first ten lines the link that acknowledges, else the incident's, where it has room", () => {
    const acknowledge = { url: "https://t.example/a/1", for: Duration.hours(1) }
    const incident = "https://t.example/#/incidents/1"
    const firings = many(15).map((one, n) => ({
      ...one,
      links: { incident, acknowledge: n < 5 ? acknowledge : undefined },
    }))
    const endsIn = (medium: TextMedium) =>
      digestText(firings, medium)
        .split("\n")
        .slice(1)
        .map((line) => /https:.*$/.exec(line)?.[0] ?? "")
    assert.deepStrictEqual(endsIn(telegramMedium), [
      ...Array.from({ length: 5 }, () => acknowledge.url),
      ...Array.from({ length: 5 }, () => incident),
      ...Array.from({ length: 5 }, () => ""),
    ])
    const titles = digestText(firings, { ...plain, hasNoLinks: true }).length
    const some = endsIn({ ...plain, limit: titles + 3 * (acknowledge.url.length + 1) })
    assert.lengthOf(some, 15)
    assert.isAtLeast(some.filter((end) => end !== "").length, 1)
    assert.isBelow(some.filter((end) => end !== "").length, 10)
    assert.deepStrictEqual(new Set(endsIn({ ...telegramMedium, hasNoLinks: true })), new Set([""]))
  })

  it.each([280, 500, 1_024, 2_000, 4_096])(
    "of %i characters cuts no place, so that no lines read alike",
    (limit) => {
      const incidents = Array.from({ length: 40 }, (_, index) => ({
        ...firing,
        summary: "low on space",
        incident: {
          ...shared.incident,
          incident_key: IncidentKey.make(`${"production eu-central-1 & ".repeat(7)}rack ${index} of hall 3`),
        },
      }))
      for (const medium of [
        { ...slackMedium, limit },
        { ...telegramMedium, limit },
      ]) {
        const text = digestText(incidents, medium)
        assert.isAtMost(text.length, limit)
        const [head, ...rest] = text.split("\n")
        // The count alone where a name needs the room.
        assert.match(head ?? "", /^40 incidents are firing(?:, critical: 40)?$/)
        const lines = rest.slice(0, -1)
        assert.strictEqual(rest.at(-1), `… and ${40 - lines.length} more`)
        assert.strictEqual(new Set(lines).size, lines.length)
        for (const [index, line] of lines.entries()) assert.include(line, `rack ${index} of hall 3`)
      }
    },
  )

  it("fits its medium, escapes included, and keeps every line whole", () => {
    for (const medium of [slackMedium, telegramMedium]) {
      const text = digestText(many(100, "critical", "<@all>\n".repeat(400)), medium)
      assert.isAtMost(text.length, medium.limit)
      assert.strictEqual(text.split("\n").length, 21)
    }
    assert.notMatch(digestText(many(3, "warning", "<@all>"), slackMedium), /<|(^|\W)@\w/m)
  })
})
