import { assert, describe, it } from "@effect/vitest"
import { spokenText } from "@tocsin/core/features/phones/callText"
import { plain } from "@tocsin/core/heart/notifications/cutText"
import { digestText } from "@tocsin/core/heart/notifications/digestText"
import { incidentText } from "@tocsin/core/heart/notifications/incidentText"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { whyText } from "@tocsin/core/heart/notifications/whyText"
import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { aboutNotification, aboutSeveral } from "../../src/text/ChatMessage.ts"
import { services } from "../../src/services/services.ts"
import { smsText } from "../../src/services/sms.ts"
import { incidentMessage } from "../../src/webhook/webhook.ts"
import { at, firing, resolved } from "../notifications.ts"
import { fakes, serviceKeysOf } from "../services/fakes.ts"

const { opened_at } = firing.incident
const after = (minutes: number) => Instant.plus(opened_at, Duration.minutes(minutes))
const since = (text: string) => Number(at(text))

const said = (changes: Partial<DeliveryAttempt>): DeliveryAttempt => ({ ...firing, ...changes })
const worsened = said({ cause: "worsened", reason: { was: "warning" } })
const escalation = said({
  cause: "escalation",
  reason: { since: Number(opened_at) },
  age_starts_at: Instant.plus(after(15), Duration.seconds(4)),
})
const beside = said({ cause: "escalation", reason: { beside: ["ann", "bob"] } })
const reminder = said({ cause: "reminder", age_starts_at: after(125) })
const handover = said({
  cause: "handover",
  reason: { rota: "primary", since: since("2026-11-09T08:00:00Z") },
  tz: "Europe/Berlin",
})
const ranOut = said({ cause: "ack_ran_out", reason: { by: "dora" } })

const CASES: ReadonlyArray<readonly [DeliveryAttempt, string, string, string]> = [
  [
    worsened,
    "Worse than before: was warning",
    "Worse than before: was warning",
    "Worse than before: was warning",
  ],
  [
    escalation,
    "Nobody acknowledged for 15 min",
    "Nobody acknowledged for 15 min",
    "Nobody acknowledged for 15 minutes",
  ],
  [beside, "Could not reach ann, bob", "Could not reach ann, bob", "Could not reach ann, bob"],
  [
    reminder,
    "Reminder: open for 2 h 5 min",
    "Reminder: open for 2 h 5 min",
    "Reminder: open for 2 hours 5 minutes",
  ],
  [
    handover,
    "On call for primary since 2026-11-09 09:00 CET",
    "On call for primary since 09:00",
    "On call for primary since 09:00 CET on November 9",
  ],
  [
    ranOut,
    "Acknowledgement by dora ran out",
    "Acknowledgement by dora ran out",
    "Acknowledgement by dora ran out",
  ],
]

describe("why a message comes", () => {
  it.each(CASES.map(([one, ...lines]) => [one.cause, one, ...lines] as const))(
    "%s: in a text, in a short one, and by a voice",
    (_, notification, written, brief, spoken) => {
      assert.strictEqual(whyText(notification), written)
      assert.strictEqual(whyText(notification, "brief"), brief)
      assert.strictEqual(whyText(notification, "spoken"), spoken)
      assert.strictEqual(incidentText(notification, { limit: 3_000, escape: plain }).split("\n")[0], written)
      const { data } = incidentMessage(notification)
      assert.strictEqual(data.why, written)
      assert.isTrue(data.text.startsWith(`${written}\nCRITICAL: web-1/disk\n`))
      assert.isTrue(spokenText([notification]).startsWith(`Tocsin: ${spoken}. critical. web-1/disk.`))
      const text = services.sms.textOf?.(aboutNotification(notification))
      assert.strictEqual(text, `${brief}\nCRITICAL: web-1/disk: /var is 97 % full`)
    },
  )

  it("is not said where an incident opens or resolves, nor of what an earlier version wrote", () => {
    for (const one of [firing, resolved, said({ cause: "worsened" }), said({ cause: "escalation" })])
      assert.isUndefined(whyText(one))
    assert.notProperty(incidentMessage(firing).data, "why")
  })

  it("is said in seconds where a minute has not passed, or a clock was set back", () => {
    const lasting = (seconds: number) =>
      whyText({ ...reminder, age_starts_at: Instant.plus(opened_at, Duration.seconds(seconds)) })
    assert.strictEqual(lasting(30), "Reminder: open for 30 s")
    assert.strictEqual(
      whyText({ ...reminder, age_starts_at: Instant.minus(opened_at, Duration.hours(1)) }),
      "Reminder: open for 1 s",
    )
    assert.strictEqual(lasting(86_400 + 125), "Reminder: open for 1 d")
  })

  it.each(["ntfy", "gotify", "apprise", "teams"] as const)("follows the title of %s", (type) => {
    const lines = incidentText(worsened, services[type]).split("\n")
    assert.deepStrictEqual(lines.slice(0, 2), ["CRITICAL: web-1/disk", "Worse than before: was warning"])
  })

  it.each(["pagerduty", "opsgenie"] as const)("is among the details of %s, not in its summary", (type) => {
    const service = services[type]
    const { body } = service.request(
      {
        id: worsened.id,
        text: incidentText(worsened, service),
        tone: "critical",
        incident: worsened.incident,
        count: 1,
        tags: [],
        links: [],
        why: whyText(worsened),
      },
      serviceKeysOf(fakes[type]),
    )
    const { details, message, payload } = Object(body)
    assert.strictEqual((details ?? payload.custom_details).why, "Worse than before: was warning")
    assert.strictEqual(message ?? payload.summary, "CRITICAL: web-1/disk: /var is 97 % full")
  })

  it("begins a digest where all of it have the same", () => {
    const medium = { limit: 3_000, escape: plain }
    assert.deepStrictEqual(digestText([ranOut, ranOut], medium).split("\n").slice(0, 2), [
      "Acknowledgement by dora ran out",
      "2 incidents are firing, critical: 2",
    ])
    for (const other of [worsened, firing])
      assert.match(digestText([ranOut, other], medium), /^2 incidents are firing, /)
    assert.strictEqual(
      services.sms.textOf?.(aboutSeveral([handover, handover]))?.split("\n")[0],
      "On call for primary since 09:00",
    )
  })

  it("has at most 40 septets in a message to a phone, or 20 units", () => {
    const why = "Acknowledgement by somebody-with-a-long-name ran out"
    assert.strictEqual(
      smsText("CRITICAL", undefined, { why }),
      "Acknowledgement by somebody-with-a-lo...\nCRITICAL",
    )
    assert.strictEqual(smsText("ПОЖАР", undefined, { why }), "Acknowledgement b...\nПОЖАР")
    assert.strictEqual(smsText("CRITICAL", undefined, { why: "Was: warning" }), "Was: warning\nCRITICAL")
  })
})
