import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Language, localeOf, voiceOf } from "@tocsin/contract/languages/Language"
import { loadWords, wordsOf } from "@tocsin/contract/languages/Languages"
import { spokenText, twiml } from "@tocsin/core/features/phones/callText"
import { pushMessage, type PushSubject } from "@tocsin/core/features/push/pushMessage"
import { HEARTBEAT } from "@tocsin/core/heart/model/MemberRecord"
import { linksOf, subjectOf } from "@tocsin/core/heart/notifications/incidentText"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { septetsOf } from "@tocsin/core/heart/notifications/phoneLetters"
import { Duration, Effect } from "effect"
import { slackMedium, telegramMedium } from "../../src/messenger/messenger.ts"
import { services } from "../../src/services/services.ts"
import { aboutNotification, aboutSeveral, type ChatMessage, textOf } from "../../src/text/ChatMessage.ts"
import { htmlOfMails } from "../messages.ts"
import { at, detailed, firing, resolved } from "../notifications.ts"
import { heardIn } from "../services/TelephoneService.ts"

await loadWords(Language.literals)

const OTHERS = Language.literals.filter((lang) => lang !== "en")

/** Of people and programs without a word of three letters. */
const NAMES = {
  opener_agent_id: AgentId.make("w1"),
  opener_check_id: CheckId.make("d2"),
  agent_id: AgentId.make("w1"),
  check_id: CheckId.make("d2"),
  incident_key: IncidentKey.make("w1/d2"),
}
const named = <T extends DeliveryAttempt>(
  one: T,
  changes: Partial<DeliveryAttempt> = {},
): DeliveryAttempt => ({
  ...one,
  summary: "97 %",
  tz: "Europe/Berlin",
  ...changes,
  incident: { ...one.incident, ...changes.incident, ...NAMES },
})

const later = at("2026-01-31T08:40:00Z")
const details = detailed.details && {
  ...detailed.details,
  check: { agent_id: NAMES.opener_agent_id, check_id: NAMES.opener_check_id },
  labels: { k: "1" },
  output: "98 %\n3 %",
  source: "https://p.example/1",
  last_status: "ok" as const,
  since: later,
}
const links = {
  incident: "https://t.example/#/1",
  acknowledge: { url: "https://t.example/a/1", for: Duration.hours(8) },
}
const acknowledgement = { by: "d1", note: undefined, severity: "critical", at: later, until: later } as const
const why: ReadonlyArray<Partial<DeliveryAttempt>> = [
  { cause: "worsened", reason: { was: "warning" } },
  { cause: "escalation", reason: { since: Number(firing.incident.opened_at) }, age_starts_at: later },
  { cause: "escalation", reason: { beside: ["a1", "b2"] } },
  { cause: "reminder", age_starts_at: at("2026-02-02T10:40:00Z") },
  { cause: "handover", reason: { rota: "p1", since: Number(later) } },
  { cause: "ack_ran_out", reason: { by: "d1" } },
]
const resolutions: ReadonlyArray<DeliveryAttempt["incident"]["resolution"]> = [
  { reason: "recovered", now: "1 %" },
  { reason: "reported", status: "warning" },
  { reason: "deleted", by: "d1" },
  { reason: "deleted", by: "d1", of: "agent" },
  { reason: "resolved", by: "d1" },
  { reason: "withdrawn" },
  { reason: "withdrawn", of: "check" },
  { reason: "moved", to: NAMES.incident_key },
]
const over = { ...firing.incident, resolved_at: later }
const silent = { ...firing.incident, opener_check_id: HEARTBEAT }
const all: ReadonlyArray<DeliveryAttempt> = [
  named(firing),
  named(firing, { details, links, acknowledgement, runbook: { url: "https://r.example" } }),
  named(firing, { severity: "warning", details, incident: { ...firing.incident, members: 5 } }),
  named(firing, { severity: "unknown", incident: over, title: "1" }),
  { ...named(firing, { title: "1" }), incident: { ...silent, ...NAMES, opener_check_id: HEARTBEAT } },
  ...why.map((changes) => named(firing, changes)),
  ...resolutions.map((resolution) => named(resolved, { incident: { ...resolved.incident, resolution } })),
]

const inLanguage = (lang: Language, notifications: ReadonlyArray<DeliveryAttempt>) =>
  notifications.map((one) => ({ ...one, lang }))

/** A test, each notification, and digests of them. */
const messagesOf = (lang: Language): ReadonlyArray<ChatMessage> => {
  const said = inLanguage(lang, all)
  const firings = said.filter(({ event_type }) => event_type === "firing")
  const ends = said.filter(({ event_type }) => event_type === "resolved")
  return [
    { about: "test", id: "1", lang },
    ...said.map(aboutNotification),
    ...[firings, firings.filter(({ incident }) => incident.resolved_at === undefined), ends].map(
      aboutSeveral,
    ),
    aboutSeveral(Array.from({ length: 25 }, () => firings[0] ?? firing)),
  ]
}

/** Words of three letters and more, outside of addresses and IDs. */
const wordsIn = (text: string): ReadonlyArray<string> =>
  Array.from(
    text.replaceAll(/https?:[^\s"'<>]+|[0-9a-f]{8}-[0-9a-f-]{27}/g, "").matchAll(/\p{L}{3,}/gu),
    ([word]) => word.toLowerCase(),
  )
const textsIn = (words: object): ReadonlyArray<string> =>
  Object.values(words).flatMap((value) =>
    typeof value === "string" ? [value.replaceAll(/\{\w+\}/g, "")] : textsIn(value),
  )
const vocabulary = (lang: Language) => new Set(wordsIn(textsIn(wordsOf(lang)).join(" ")))

const english = vocabulary("en")
/** A unit of other languages too, and a name. */
const COMMON = new Set(["min", "tocsin"])

const assertWithoutEnglish = (lang: Language, text: string) => {
  const own = vocabulary(lang)
  const left = wordsIn(text).filter((word) => english.has(word) && !own.has(word) && !COMMON.has(word))
  assert.deepStrictEqual(left, [], text)
}

const READ = Object.entries(services).filter(([type]) => type !== "pagerduty" && type !== "opsgenie")
const MEDIA: ReadonlyArray<readonly [type: string, write: (message: ChatMessage) => string]> = [
  ...READ.map(
    ([type, service]) => [type, (one: ChatMessage) => service.textOf?.(one) ?? textOf(one, service)] as const,
  ),
  ["slack", (one) => textOf(one, slackMedium)],
  ["telegram", (one) => textOf(one, telegramMedium)],
]

/** Facts below the lines of a digest need room, of which another language leaves less. */
const linesOf = (text: string): number => text.split("\n").filter((line) => !line.startsWith("↳")).length

describe.each(OTHERS)("messages in %s", (lang) => {
  it.each(MEDIA)("have no English word, and the lines of English ones: %s", (_, write) => {
    const inEnglish = messagesOf("en")
    for (const [n, message] of messagesOf(lang).entries()) {
      const text = write(message)
      assertWithoutEnglish(lang, text)
      assert.notMatch(text, /[{}]/, "a name was not filled")
      assert.strictEqual(linesOf(text), linesOf(write(inEnglish[n] ?? message)), text)
    }
  })

  it("have links and subjects in it", () => {
    for (const one of inLanguage(lang, all))
      assertWithoutEnglish(lang, [subjectOf(one), ...linksOf(one).map(({ title }) => title)].join("\n"))
  })

  it("fit a message to a phone as cheaply as English ones", () => {
    for (const message of messagesOf(lang)) {
      const text = services.sms.textOf?.(message) ?? assert.fail()
      if (lang === "ja" || lang === "zh") assert.isAtMost(text.length, 201)
      else assert.isDefined(septetsOf(text), text)
    }
  })

  it("say why they come in a whole line on a phone", () => {
    const opened = firing.incident.opened_at
    const changes: ReadonlyArray<Partial<DeliveryAttempt>> = [
      ...(["warning", "unknown"] as const).map((was) => ({ cause: "worsened", reason: { was } }) as const),
      ...[86_340, 90_000].flatMap((seconds) => {
        const age_starts_at = Instant.plus(opened, Duration.seconds(seconds))
        return [
          { cause: "escalation", reason: { since: Number(opened) }, age_starts_at },
          { cause: "reminder", age_starts_at },
        ] as const
      }),
    ]
    for (const change of changes) {
      const [line = ""] =
        services.sms.textOf?.(aboutNotification({ ...named(firing, change), lang }))?.split("\n") ?? []
      assert.notInclude(line, "...")
    }
  })

  it("are said by its voice, unless another one is stated", () => {
    const heard = (language?: string) =>
      heardIn(twiml({ text: spokenText([], { lang }), lang, language, action: "", count: 3 }))
    const { languages, text } = heard()
    assert.deepStrictEqual(languages, [voiceOf(lang)])
    assertWithoutEnglish(lang, text)
    // Each of its sentences, whatever it is put together of, ends as its language's do.
    const said = spokenText(inLanguage(lang, all.slice(0, 2)))
    const isFullWidth = lang === "ja" || lang === "zh"
    assert.strictEqual(/\.( |$)/.test(said), !isFullWidth, said)
    assert.deepStrictEqual(heard("de-AT").languages, ["de-AT"])
  })

  it("are notifications of browsers, with all words and buttons", () => {
    const [first = firing] = inLanguage(lang, all)
    const acknowledge = { token: "1", for: Duration.hours(1) }
    const subjects: ReadonlyArray<PushSubject> = [
      { about: "test", lang },
      { about: "notification", notification: first, acknowledge },
      { about: "digest", notifications: inLanguage(lang, all.slice(0, 3)) },
    ]
    for (const subject of subjects) {
      const { actions, body, failed = "", title } = JSON.parse(pushMessage(subject, "1").text)
      const labels = actions.map((one: { readonly title: string }) => one.title)
      assertWithoutEnglish(lang, [title, body, failed, ...labels].join("\n"))
      assert.notStrictEqual(body, "")
    }
  })

  it.effect("are mails that name it, with an address that leads where it says", () =>
    Effect.gen(function* () {
      const [html = ""] = yield* htmlOfMails(({ send }) =>
        send({ ...named(firing, { details, links }), lang }),
      )
      assert.include(html, `<html lang="${localeOf(lang)}"`)
      assert.include(html, '<a href="https://p.example/1">')
      assertWithoutEnglish(lang, html.replaceAll(/<[^>]*>/g, " "))
    }),
  )
})

it("a message has the forms, times and lengths of its language", () => {
  const write = (lang: Language, one: DeliveryAttempt) =>
    textOf(aboutNotification({ ...one, lang }), telegramMedium)
  const german = write("de", all[2] ?? firing)
  assert.include(
    german,
    "WARNUNG: w1/d2\n97 %\nSeit 31. Jan. 2026, 09:30:00 MEZ\n5 Prüfungen sind nicht in Ordnung",
  )
  assert.include(write("de", all[1] ?? firing), "Für 8 Std. bestätigen: https://t.example/a/1")
  assert.include(write("pl", all[2] ?? firing), "5 kontroli z problemem")
  assert.include(write("fr", all[5] ?? firing), "Aggravé (avant\u00a0: avertissement)")
  const sms = services.sms.textOf?.(aboutNotification({ ...(all[5] ?? firing), lang: "fr" }))
  assert.strictEqual(sms, "Aggravé (avant : avertissement)\nCRITIQUE : w1/d2: 97 %".replace("d2:", "d2 :"))
})
