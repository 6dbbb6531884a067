import { assert, describe, it } from "@effect/vitest"
import { spokenText } from "@tocsin/core/features/phones/callText"
import { Language } from "@tocsin/contract/languages/Language"
import { loadWords } from "@tocsin/contract/languages/Languages"
import { IncidentKey } from "@tocsin/contract/formats/Identifiers"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { sms } from "../../src/services/sms.ts"
import { aboutNotification, aboutSeveral } from "../../src/text/ChatMessage.ts"
import { septetsOf } from "@tocsin/core/heart/notifications/phoneLetters"
import { at, firing, resolved } from "../notifications.ts"

await loadWords(Language.literals)

const messageOf = (...all: ReadonlyArray<DeliveryAttempt>): string => {
  const [first = firing] = all
  return sms.textOf?.(all.length > 1 ? aboutSeveral(all) : aboutNotification(first)) ?? assert.fail()
}

const called = (title: string, summary = "down") => ({ ...firing, title, summary })

describe("the name in a message to a phone", () => {
  it("has at most 40 characters, and the headline is cut before it", () => {
    const text = messageOf(called("x".repeat(100), "y".repeat(500)))
    assert.match(text, new RegExp(String.raw`^CRITICAL: x{37}\.\.\.: y+\.\.\.$`, "m"))
    assert.match(
      messageOf(called("🔥".repeat(41), "y".repeat(500))),
      /^CRITICAL: (?:🔥){37}\.\.\.: y+\.\.\.$/mu,
    )
    assert.include(messageOf(called("a".repeat(40)), called("b".repeat(41))), `${"b".repeat(37)}...`)
  })

  it("loses its marks only where the whole message is of cheap letters then, and keeps those that are", () => {
    assert.include(messageOf(called("Zálohování é")), "CRITICAL: Zalohovani é: down")
    assert.include(messageOf(called("Zálohování", "chyba č")), "CRITICAL: Zálohování: chyba č")
    assert.include(messageOf(called("Ночь á")), "CRITICAL: Ночь á: down")
    assert.isDefined(septetsOf(messageOf(called("Málaga"), called("Ťava"))))
  })

  it("stands without the id that it replaces", () => {
    const { id, opener_agent_id } = firing.incident
    const text = messageOf(called("Disk"))
    assert.notInclude(text, id)
    assert.notInclude(text, opener_agent_id)
  })
})

describe("an acknowledged incident that goes out all the same", () => {
  const times = { at: at("2026-01-31T08:35:00Z"), until: at("2026-01-31T09:35:00Z") }
  const acknowledgement = { by: "dora", note: undefined, severity: "critical" as const, ...times }
  const acknowledged = { ...firing, acknowledgement }

  it("says in an SMS who acknowledged it, behind the headline, also where that is cut", () => {
    const line = "Acknowledged by dora until 09:35"
    assert.match(messageOf({ ...acknowledged, summary: "down" }), new RegExp(String.raw`: down\n${line}$`))
    const link = "https://tocsin.example/a/TOKEN"
    const links = { incident: link, acknowledge: undefined }
    const cut = messageOf({ ...acknowledged, links, summary: "y".repeat(500) })
    assert.isTrue(cut.endsWith(`y...\n${line}\n${link}`))
  })

  it("says it in a call, by the zone of its reader", () => {
    const said = spokenText([{ ...acknowledged, tz: "Europe/Berlin", summary: "down" }])
    assert.include(said, "down. Acknowledged by dora until 10:35 CET.")
    const german = spokenText([{ ...acknowledged, tz: "Europe/Berlin", lang: "de" }])
    assert.include(german, "Bestätigt von dora bis 10:35 MEZ.")
    const later = { ...acknowledgement, until: at("2026-02-01T09:35:00Z") }
    const tomorrow = spokenText([{ ...firing, acknowledgement: later, tz: "Europe/Berlin", lang: "de" }])
    assert.include(tomorrow, "bis 1. Februar um 10:35 MEZ.")
  })
})

describe("a digest to a phone", () => {
  it("counts kinds only where some incidents have no line", () => {
    const two = [called("Shop"), { ...called("Mail"), severity: "warning" as const }]
    assert.strictEqual(messageOf(...two), "2 incidents are firing\nCRITICAL: Shop: down\nWARNING: Mail: down")
    const many = messageOf(...Array.from({ length: 21 }, (_, n) => called(`Shop ${n}`)))
    assert.match(many, /^21 incidents are firing, critical: 21\n/)
  })

  it("cuts no summary where all of them fit", () => {
    const long = "y".repeat(300)
    assert.include(messageOf(called("Shop"), called("Mail", long)), `CRITICAL: Mail: ${long}`)
  })

  it("counts kinds of ends, of which its lines say less", () => {
    const moved = {
      ...resolved.incident,
      resolution: { reason: "moved", to: IncidentKey.make("site") },
    } as const
    assert.strictEqual(
      messageOf(resolved, { ...resolved, incident: moved }),
      "2 incidents are closed, still not ok: 1, ok again: 1\nRESOLVED: web-1/disk: moved to site\nRESOLVED: web-1/disk: ok again after 12 min 10 s",
    )
  })

  it("ends with how many are left out, in letters that take the most room too", () => {
    const many = messageOf(...Array.from({ length: 9 }, (_, n) => called(`Ночное резервирование ${n}`)))
    assert.isAtMost(many.length, 201)
    assert.match(many, /\n\.\.\. and \d more$/)
  })
})

describe("an incident that has moved", () => {
  const links = { incident: "https://tocsin.example/i/abc", acknowledge: undefined }
  const movedTo = (to: string, lang: Language = "en"): DeliveryAttempt => {
    const resolution = { reason: "moved", to: IncidentKey.make(to) } as const
    return { ...resolved, lang, links, incident: { ...resolved.incident, resolution } }
  }

  it.each(Language.literals)("says what ended and where it is, whose name is short, in %s", (lang) => {
    for (const letter of ["k", "к"]) {
      const text = messageOf(movedTo(letter.repeat(200), lang))
      assert.include(text, "web-1/disk")
      assert.match(text, new RegExp(`(?<!${letter})${letter}{37}\\.\\.\\.(?!${letter})`))
      assert.include(text, links.incident)
      const room = septetsOf(text) === undefined ? 201 : 459
      assert.isAtMost(septetsOf(text) ?? text.length, room)
    }
  })

  it("loses marks of the name that would cost the room of the message", () => {
    assert.isDefined(septetsOf(messageOf(movedTo("zálohování"))))
    assert.include(messageOf(movedTo("ночь á")), "ночь á")
  })

  it("is said to be over where its firing comes late, and that it is not ok", () => {
    const late = { ...movedTo("site"), event_type: "firing" } as const
    assert.strictEqual(
      messageOf(late),
      `CRITICAL: web-1/disk (closed by now: moved to site): /var is 97 % full\nStill not ok: it is part of the incident site now\n${links.incident}`,
    )
  })
})
