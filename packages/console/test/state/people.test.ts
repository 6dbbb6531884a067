import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import type { HeldIncident, IncidentDetail } from "@tocsin/client"
import fc from "fast-check"
import { momentText, relativeText, spanText } from "../../src/format/times.ts"
import { explanationOf, openingsOf, timelineOf } from "../../src/state/incidentTimeline.ts"
import { nextKey } from "../../src/state/keys.ts"
import { markOf } from "../../src/state/notifiedMark.ts"
import {
  keyMatchers,
  matchersText,
  oneOfEachKey,
  parseMatchers,
  readEnd,
} from "../../src/features/silences/silenceActions.ts"
import { toggled, withRange } from "../../src/state/Route.ts"

const id = fc.stringMatching(/^[a-z0-9-]{1,12}$/)
const ids = fc.uniqueArray(id, { maxLength: 20 })

const MOMENT = "2026-06-01T00:00:00Z"
const OPEN = { state: "open", acknowledgement: null, held_by: [], resolution: null } as const

describe("texts that people read, type and select", () => {
  it("a relative time never names a moment on the wrong side of now", () => {
    fc.assert(
      fc.property(fc.integer({ min: -4e9, max: 4e9 }), (millis) => {
        const now = Date.parse("2026-06-01T00:00:00Z")
        const text = relativeText(new Date(now + millis).toISOString(), now)
        assert.match(text, millis <= -1_000 ? / ago$/ : millis >= 1_000 ? /^in / : /^now$/)
        assert.notMatch(text, /\b0[smhd]/)
      }),
    )
  })

  it("a span has at most two neighbouring units", () => {
    fc.assert(
      fc.property(fc.nat(4_000_000_000), (millis) => {
        assert.match(spanText(millis), /^(?:\d+d(?: \d+h)?|\d+h(?: \d+m)?|\d+m(?: \d+s)?|\d+s)$/)
      }),
    )
  })

  it("matchers are read as they are written", () => {
    const matcher = fc.record({
      field: fc.constantFrom("agent_id", "check_id", "severity", "label:env", "label:a.b"),
      op: fc.constantFrom("=" as const, "!=" as const, "glob" as const),
      value: fc.stringMatching(/^[a-zA-Z0-9*?._=~-]{1,20}$/),
    })
    fc.assert(
      fc.property(fc.array(matcher, { maxLength: 5 }), (matchers) => {
        assert.deepStrictEqual(parseMatchers(matchersText(matchers)), { matchers, fault: undefined })
      }),
    )
    assert.include(parseMatchers("\nagent = db-1").fault ?? "", "“agent = db-1” must begin with agent_id")
    for (const op of ["==", "=~", "!==", "!=~", "!~"])
      for (const text of [`label:team ${op} db`, `label:team${op}db`])
        assert.include(parseMatchers(text).fault ?? "", "must be a field, an operator", text)
  })

  it("the matchers of an incident are its key as it is, until they are edited", () => {
    // A key may have outer spaces and any line separator but those of C0.
    for (const key of ["pad ", " pad", "line\u2028end", "a = b"]) {
      const given = keyMatchers(key)
      assert.deepStrictEqual(parseMatchers(matchersText(given), given), { matchers: given, fault: undefined })
      const edited = `${matchersText(given)}\nseverity = critical`
      assert.strictEqual(parseMatchers(edited, given).matchers[0]?.value, key.trim())
    }
  })

  it("incidents of one key are silenced once", () => {
    const twins = ["a", "b", "a"].map((incident_key, id) => ({ id, incident_key }))
    assert.deepStrictEqual(
      oneOfEachKey(twins).map(({ incident_key }) => incident_key),
      ["a", "b"],
    )
  })

  it("a silence until a time of day ends at the next one", () => {
    fc.assert(
      fc.property(fc.nat(23), fc.nat(59), fc.nat(3_000_000_000), (hours, minutes, millis) => {
        const begin = Date.parse("2026-02-01T00:00:00Z") + millis
        const end = readEnd(`${hours}:${String(minutes).padStart(2, "0")}`, begin)?.at ?? 0
        assert.deepStrictEqual([new Date(end).getHours(), new Date(end).getMinutes()], [hours, minutes])
        assert.isTrue(end > begin && end <= begin + 86_400_000)
      }),
    )
    assert.deepStrictEqual(readEnd("2h", 0), { ends: { for: "2h" }, at: 7_200_000 })
    for (const text of ["24:00", "tonight", "8", "0h"]) assert.isUndefined(readEnd(text, 0))
  })

  it("a silence until a time that the clock change skips today ends at that time tomorrow", () => {
    const zone = process.env["TZ"]
    process.env["TZ"] = "Europe/Berlin"
    try {
      const end = readEnd("02:30", Date.parse("2026-03-29T03:45:00+02:00"))
      assert.deepStrictEqual(end?.ends, { ends_at: "2026-03-30T00:30:00.000Z" })
    } finally {
      if (zone === undefined) delete process.env["TZ"]
      else process.env["TZ"] = zone
    }
  })

  it("openings count within the hour before one, with it, and of its key alone", () => {
    const at = (minutes: number, incident_key = "web-1/disk") => ({
      incident_key,
      opened_at: new Date(Date.parse("2026-06-01T12:00:00Z") + minutes * 60_000).toISOString(),
    })
    const others = [at(30), at(0), at(-1), at(-60), at(-61), at(-2, "web-1/load")]
    assert.strictEqual(openingsOf(at(0), others), 3)
  })

  it("selecting twice changes nothing, and a range holds both ends and all between", () => {
    fc.assert(
      fc.property(ids, fc.nat(), fc.nat(), (all, a, b) => {
        if (all.length === 0) return
        const from = all[a % all.length] ?? ""
        const to = all[b % all.length] ?? ""
        assert.deepStrictEqual(toggled(toggled([], from), from), [])
        const range = withRange([], all, from, to)
        assert.strictEqual(range.length, Math.abs(all.indexOf(from) - all.indexOf(to)) + 1)
        assert.includeMembers([...range], [from, to])
      }),
    )
  })

  it("a row names all receivers that were notified, after their number, or else says why not", () => {
    const receiver = fc.record({
      receiver: fc.constantFrom("email", "messenger", "oncall", "pager"),
      state: fc.constantFrom(...(["pending", "sending", "sent", "retry", "failed", "discarded"] as const)),
      held_by: fc.constantFrom<Array<string>>([], ["ack"]),
    })
    const some = fc.uniqueArray(receiver, { selector: (each) => each.receiver })
    fc.assert(
      fc.property(some, (receivers) => {
        const mark = markOf({ ...OPEN, receivers }, 0)
        const mine = receivers.filter(({ state }) => state !== "discarded")
        assert.strictEqual(mark?.text === "nobody notified", mine.length === 0)
        const sent = mine.filter(({ state }) => state === "sent").map((each) => each.receiver)
        for (const name of sent) assert.include(mark?.title, name)
        if (mark?.kind !== "sent") return
        const names = sent.length === 1 ? sent.join("") : `${sent.length}: ${sent.join(", ")}`
        assert.strictEqual(mark.text, `notified ${names}`)
      }),
    )
    assert.isUndefined(markOf(OPEN, 0))
    const acknowledgement = { by: "ann", at: MOMENT, until: MOMENT, severity: "critical" } as const
    assert.strictEqual(markOf({ ...OPEN, acknowledgement, receivers: [] }, 0)?.text, "ann has it")
    const email = { receiver: "email", state: "sent", held_by: [] } as const
    const out = markOf(
      { ...OPEN, receivers: [email, { receiver: "pager", state: "pending", held_by: [] }] },
      0,
      new Map([
        ["pager", "its secrets are missing"],
        ["email", "its file is gone"],
      ]),
    )
    assert.deepInclude(out, { kind: "failed", text: "pager could not be reached: its secrets are missing" })
    assert.strictEqual(out?.title, "pager could not be reached: its secrets are missing; notified email")
    const held = markOf({ ...OPEN, held_by: ["silence:1"], receivers: [email] }, 0)
    assert.include(held?.title, "notified email")
  })

  it("a row of an incident that ended otherwise than by a recovery says so, unless its delivery failed", () => {
    const email = { receiver: "email", state: "sent", held_by: [] } as const
    const ended = (resolution: HeldIncident["resolution"], receivers: HeldIncident["receivers"] = [email]) =>
      markOf({ ...OPEN, state: "resolved", receivers, resolution }, 0)?.text
    assert.strictEqual(ended({ reason: "recovered", text: "ok again after 5 min" }), "notified email")
    assert.strictEqual(ended(null), "notified email")
    assert.strictEqual(ended({ reason: "deleted", by: "ann", text: "deleted by ann" }), "deleted by ann")
    const withdrawn = { reason: "withdrawn", text: "no longer checked" } as const
    assert.strictEqual(ended(withdrawn), "no longer checked")
    assert.strictEqual(
      ended(withdrawn, [{ ...email, held_by: ["ack"], state: "pending" }]),
      "no longer checked",
    )
    assert.strictEqual(ended(withdrawn, [{ ...email, state: "failed" }]), "not delivered email")
    assert.strictEqual(ended(withdrawn, []), "nobody notified")
  })

  it("a key after g goes to a page or does nothing, and no key acts twice", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("g", "i", "a", "x", "z", "/", "constructor")), (keys) => {
        let afterG = false
        for (const key of keys) {
          const next = nextKey(afterG, key)
          if (afterG) assert.isTrue(next.does === undefined || next.does.command === "go")
          else assert.isTrue(next.does?.command !== "go")
          afterG = next.afterG
        }
      }),
    )
  })
})

describe("the explanation of an incident", () => {
  const at = "2026-01-31T10:00:00.000Z"
  const [soon, late] = ["2026-01-31T10:15:00.000Z", "2026-01-31T12:00:00.000Z"]
  const now = Date.parse(at)
  const timeOf = (moment: string) => momentText(Date.parse(moment), now)
  const member = {
    agent_id: "web-1",
    check_id: "disk",
    severity: "critical",
    summary: null,
    labels: {},
    title: null,
  }
  const detail: IncidentDetail = {
    incident: {
      id: "01a1f84d-4efb-7559-999e-636ca4ce6bd6",
      incident_key: "web-1/disk",
      state: "open",
      severity: "critical",
      opened_at: at,
      resolved_at: null,
      title: null,
      resolution: null,
    },
    members: [{ ...member, severity: "critical", joined_at: at, left_at: null }],
    timeline: [],
    timeline_left_out: 0,
    silences_left_out: 0,
    acknowledgement: null,
    log: [],
    held_by: [],
    runbook: null,
    notified: [],
    next: [],
    silences: [],
    deliveries: [],
  }
  const delivery = {
    id: "01a1f84d-4efb-7559-999e-636ca4ce6bd7",
    notifier: "debug",
    receiver: "chat",
    state: "sent",
    incident_id: detail.incident.id,
    event_type: "firing",
    attempts: 1,
    next_attempt_at: null,
    last_error: null,
    updated_at: at,
    cause: "opened",
    held_by: [],
    held_until: null,
    incident_key: "web-1/disk",
    title: null,
    summary: null,
    why: "its reason",
  } as const
  const sentences = (changes: Partial<IncidentDetail>) =>
    explanationOf({ ...detail, ...changes }, false, now).slice(1)

  it("states who was notified, who comes next and when, and what holds it", () => {
    const notified = [{ receiver: "chat", cause: "opened", severity: "critical", at }] as const
    const held = { receiver: "mail", cause: "ack_ran_out", due_at: null } as const
    const next = [
      {
        ...held,
        holds: [
          { hold: "quiet", until: late },
          { hold: "notifications_off", until: null },
        ],
      },
      { receiver: "pager", cause: "escalation", due_at: soon, holds: [] },
      { receiver: "sms", cause: "opened", due_at: null, holds: [] },
      { receiver: "ann", cause: "handover", due_at: late, holds: [] },
    ] as const
    assert.deepStrictEqual(sentences({ deliveries: [delivery], notified, next }), [
      `Notified: chat: ${timeOf(at)}, opened, critical.`,
      `Next: mail: acknowledgement expired, held: quiet hours until ${timeOf(late)}, held: its checks notify nobody.`,
      `Next: pager: ${timeOf(soon)}, escalation.`,
      "Next: sms: now, opened.",
      `Next: ann: ${timeOf(late)}, handed over.`,
    ])
  })

  it("says of an incident about a whole agent why it is open, and how it resolved", () => {
    const first = (end: string, changes: Partial<IncidentDetail["incident"]>) => {
      const incident = { ...detail.incident, incident_key: `web-1/${end}`, ...changes }
      const members = detail.members.map((one) => ({ ...one, check_id: end }))
      return explanationOf({ ...detail, incident, members }, false, now)[0]
    }
    const resolved = { state: "resolved", resolved_at: at } as const
    assert.strictEqual(first("@heartbeat", {}), "Open because web-1 is silent.")
    assert.strictEqual(first("@twice", {}), "Open because two hosts use the key of web-1.")
    const resolution = { reason: "recovered", text: "ok again after 5 min" } as const
    assert.strictEqual(first("@twice", { ...resolved, resolution }), "Resolved: ok again after 5 min.")
    assert.match(first("@place", {}) ?? "", /^Open because most watches of web-1 failed together/)
    // An earlier version resolved it.
    for (const end of ["@heartbeat", "disk", "@overdue"])
      assert.strictEqual(first(end, resolved), "Resolved.")
  })

  it("has the silences in its timeline, also after it resolved", () => {
    const silence = (name: string, ends_at: string, covers_all = true) =>
      ({
        id: name,
        state: "expired",
        matchers: [],
        starts_at: at,
        created_at: at,
        ends_at,
        comment: name,
        created_by: "alice",
        covers_all,
      }) as const
    const audit = [
      {
        id: "01a1f84d-4efb-7559-999e-636ca4ce6bd8",
        at: soon,
        actor: "bob",
        via: "api",
        action: "silence.expired",
        subjects: [{ kind: "silence", id: "disks" }],
        parameters: {},
        request_id: null,
      },
    ] as const
    const silences = [silence("disks", soon), silence("hosts", soon, false), silence("all", late)]
    const incident = { ...detail.incident, state: "resolved", resolved_at: soon } as const
    const textsOf = (changes: Partial<IncidentDetail>, moment: string) =>
      timelineOf({ ...detail, silences, ...changes }, audit, Date.parse(moment))
        .filter(({ kind }) => kind === "action")
        .map(({ by, text }) => [by, text].join(" "))
        .toSorted()
    // In some zones, a midnight is between them.
    const beginsAt = (now: string) => {
      const until = (end: string) => momentText(Date.parse(end), Date.parse(now))
      return [
        `alice silenced a part of it until ${until(soon)}: hosts`,
        `alice silenced it until ${until(late)}: all`,
        "alice silenced it: disks",
      ]
    }
    const ends = [" the silence ended", "bob ended the silence"]
    assert.deepStrictEqual(textsOf({ incident }, late), [...beginsAt(late), ...ends].toSorted())
    assert.deepStrictEqual(textsOf({}, at), beginsAt(at).toSorted())
    assert.deepStrictEqual(textsOf({}, late), [...beginsAt(late), ...ends, " the silence ended"].toSorted())
  })

  it("says of a receiver that no server can use why it could not be reached, in both places", () => {
    const pending = { ...delivery, state: "pending" } as const
    const faults = new Map([["chat", "its secrets are missing"]])
    const unreached = { ...detail, deliveries: [pending] }
    assert.deepStrictEqual(explanationOf(unreached, false, now, faults).slice(1), [
      "chat could not be reached: its secrets are missing.",
    ])
    const texts = timelineOf(unreached, [], now, faults).map(({ text }) => text)
    assert.include(texts, "chat (opened) could not be reached: its secrets are missing")
    const sent = timelineOf({ ...detail, deliveries: [delivery] }, [], now, faults).map(({ text }) => text)
    assert.include(sent, "notified chat (opened)")
  })

  it("says why a receiver was not notified only if it is not to come", () => {
    const pending = { ...delivery, state: "pending" } as const
    const next = [{ receiver: "chat", cause: "opened", due_at: null, holds: [] }] as const
    assert.deepStrictEqual(sentences({ deliveries: [pending], next }), ["Next: chat: now, opened."])
    assert.deepStrictEqual(sentences({ deliveries: [pending] }), ["chat was not notified: its reason."])
    assert.match(sentences({})[0] ?? "", /^Nobody was notified/)
    assert.deepStrictEqual(sentences({ next }), ["Next: chat: now, opened."])
  })
})
