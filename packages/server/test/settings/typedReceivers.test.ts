import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { compileGiven, compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { examineReceivers } from "@tocsin/server/commands/doctor/examineNotifiers"
import { loadPolicy } from "@tocsin/server/policy/loadPolicy"
import { policyNotifiers } from "@tocsin/server/rules"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Queue, Result } from "effect"
import { startMailServer } from "../../../adapter-notify/test/email/MailServer.ts"
import { firing } from "../../../adapter-notify/test/notifications.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-mails-"))
afterAll(() => rmSync(folder, { recursive: true }))

const MAILS = { SERVICE_EMAIL_FROM: "tocsin@example.org", SERVICE_EMAIL_TO: "ops@example.org, b@example.org" }

const settingsOf = (environment: Readonly<Record<string, string>>) =>
  Result.getOrThrow(checkedSettings(environment))

/** The settings of a policy with one receiver, `mails`. */
const ofPolicy = (url: string, receiver: object = {}) => {
  const [file, secret] = [join(folder, "policy.yaml"), join(folder, "url")]
  writeFileSync(secret, url)
  const mails = { kind: "messenger", type: "email", from: "T <t@example.org>", to: ["ops@example.org"] }
  writeFileSync(file, JSON.stringify({ receivers: { mails: { ...mails, url_file: secret, ...receiver } } }))
  return settingsOf({ SERVICE_POLICY_FILE: file })
}

describe("receivers of types", () => {
  it.effect("of a policy send mails, and the doctor tests them", () =>
    Effect.gen(function* () {
      const { mails, port } = yield* startMailServer()
      const settings = ofPolicy(`smtp://127.0.0.1:${port}`, { tls: "off" })
      const { receivers } = yield* loadPolicy(settings)
      const receiver = receivers.get("mails") ?? assert.fail("no receiver")
      assert.deepStrictEqual(yield* receiver.send(firing), { outcome: "delivered" })
      assert.deepStrictEqual((yield* Queue.take(mails)).recipients, ["ops@example.org"])
      assert.deepStrictEqual(
        (yield* examineReceivers(settings, true)).findings.map(({ check, level }) => `${check}: ${level}`),
        ["policy: ok", "receiver mails: ok"],
      )
      assert.include((yield* Queue.take(mails)).raw, "Subject: TEST: ")
    }).pipe(Effect.provide(RandomIds.layer)),
  )

  it.effect("of the settings are named by their type, and are messengers", () =>
    Effect.gen(function* () {
      const settings = settingsOf({ ...MAILS, SERVICE_SMTP_URL: "smtp://u:planted@127.0.0.1:1" })
      const { receivers } = yield* loadPolicy(settings)
      assert.deepStrictEqual(Array.from(receivers.keys()), ["debug", "email"])
      const { notifierKinds, notifiers } = policyNotifiers(settings)
      const policy = compilePolicy({}, notifiers, notifierKinds)
      assert.deepStrictEqual(policy.receivers.get("email"), { kind: "messenger", definition: undefined })
      const findings = yield* examineReceivers(settings, true)
      assert.include(JSON.stringify(findings), "smtp://127.0.0.1:1 did not accept the test message")
      assert.notInclude(JSON.stringify(findings), "planted")
    }).pipe(Effect.provide(RandomIds.layer)),
  )

  it("leave their names to the notifiers of modules, where the settings do not use them", () => {
    const gotify = { name: "gotify", send: () => {} }
    const kindOf = (environment: Readonly<Record<string, string>>, name: string) => {
      const extensions = { notifiers: [["./gotify.mjs", { ...gotify, name }] as const] }
      const given = policyNotifiers({ ...settingsOf(environment), extensions })
      return compileGiven({}, given).receivers.get(name)?.kind
    }
    assert.deepStrictEqual([kindOf({}, "gotify"), kindOf({}, "ntfy")], ["gotify", "ntfy"])
    assert.strictEqual(kindOf({ SERVICE_TEAMS_URL: "https://teams.example.org/hook" }, "teams"), "messenger")
  })

  it.effect("and of other types in the settings are named by them, each of its kind", () =>
    Effect.gen(function* () {
      const settings = settingsOf({
        SERVICE_NTFY_URL: "https://ntfy.example.org/ops",
        SERVICE_DISCORD_URL: "https://discord.example.org/hook",
        SERVICE_TEAMS_URL: "https://teams.example.org/hook",
        SERVICE_PAGERDUTY_KEY: "key",
        SERVICE_NOTIFIERS: "ntfy,discord,teams,pagerduty",
      })
      const { receivers } = yield* loadPolicy(settings)
      assert.deepStrictEqual(
        Array.from(receivers, ([name, { kind }]) => `${name}: ${kind}`),
        ["ntfy: messenger", "discord: messenger", "teams: messenger", "pagerduty: alert_router"],
      )
      const findings = yield* examineReceivers(settings, false)
      assert.include(JSON.stringify(findings), "sends to https://ntfy.example.org;")
      assert.include(JSON.stringify(findings), "sends to PagerDuty;")
    }).pipe(Effect.provide(RandomIds.layer)),
  )

  it.effect("call no address that the settings refuse", () =>
    Effect.gen(function* () {
      const environment = { ...MAILS, SERVICE_DENY_PRIVATE_TARGETS: "true" }
      const refused = checkedSettings({ ...environment, SERVICE_SMTP_URL: "smtp://10.0.0.1" })
      assert.include(String(Result.isFailure(refused) && refused.failure.message), "nor a private one")
      const named = settingsOf({ ...environment, SERVICE_SMTP_URL: "smtp://localhost:1" })
      const receiver = (yield* loadPolicy(named)).receivers.get("email") ?? assert.fail("no receiver")
      assert.include(
        JSON.stringify(yield* receiver.send(firing)),
        "Tocsin does not call the receiver's address",
      )
    }).pipe(Effect.provide(RandomIds.layer)),
  )

  it.effect("without TLS get the doctor's attention, unless the server is this machine", () =>
    Effect.gen(function* () {
      const levels = (url: string) =>
        Effect.map(
          examineReceivers(ofPolicy(url, { tls: "off" }), false),
          ({ findings }) => findings[1]?.level,
        )
      assert.strictEqual(yield* levels("smtp://mail.example.org"), "attention")
      assert.strictEqual(yield* levels("smtp://localhost"), "ok")
    }),
  )

  it.effect("share the mail server of the policy, or of the settings", () =>
    Effect.gen(function* () {
      const [ofFile, ofShell] = [yield* startMailServer(), yield* startMailServer()]
      const [file, secret] = [join(folder, "shared.yaml"), join(folder, "shared-url")]
      writeFileSync(secret, `smtp://127.0.0.1:${ofFile.port}`)
      const mails = { kind: "messenger", type: "email", to: ["ops@example.org"] }
      const environment = {
        SERVICE_POLICY_FILE: file,
        SERVICE_SMTP_URL: `smtp://127.0.0.1:${ofShell.port}?tls=off`,
        SERVICE_EMAIL_FROM: "Shell <shell@example.org>",
      }
      const senderOf = Effect.fnUntraced(function* (policy: object, { mails: sent }: typeof ofFile) {
        writeFileSync(file, JSON.stringify({ ...policy, receivers: { mails } }))
        const { receivers } = yield* loadPolicy(settingsOf(environment))
        const receiver = receivers.get("mails") ?? assert.fail("no receiver")
        assert.deepStrictEqual(yield* receiver.send(firing), { outcome: "delivered" })
        return /^From: (.*)$/mu.exec((yield* Queue.take(sent)).raw)?.[1]?.trim()
      })
      assert.strictEqual(yield* senderOf({}, ofShell), "Shell <shell@example.org>")
      const mail = { url_file: secret, from: "File <file@example.org>", tls: "off" }
      assert.strictEqual(yield* senderOf({ mail }, ofFile), "File <file@example.org>")
      const { SERVICE_POLICY_FILE } = environment
      writeFileSync(file, JSON.stringify({ receivers: { mails } }))
      const refused = yield* Effect.flip(loadPolicy(settingsOf({ SERVICE_POLICY_FILE })))
      const issues = refused._tag === "BadPolicy" ? refused.issues : assert.fail(refused.message)
      assert.deepStrictEqual(
        issues.map(({ path }) => path),
        ["receivers.mails"],
      )
    }).pipe(Effect.provide(RandomIds.layer)),
  )

  it("of mails need a server and a sender, and make no receiver without recipients", () => {
    const server = { SERVICE_SMTP_URL: "smtp://mail.example.org", SERVICE_EMAIL_FROM: "t@example.org" }
    assert.deepStrictEqual(policyNotifiers(settingsOf(server)).notifiers, ["debug"])
    const none = checkedSettings({ ...server, SERVICE_NOTIFIERS: "email" })
    assert.include(String(Result.isFailure(none) && none.failure.problems), "set SERVICE_EMAIL_TO")
    const to = checkedSettings({ SERVICE_EMAIL_TO: "ops@example.org" })
    assert.deepStrictEqual(Result.isFailure(to) && to.failure.problems, [
      "SERVICE_EMAIL_TO needs SERVICE_SMTP_URL and SERVICE_EMAIL_FROM: set both, or unset it",
    ])
    const alone = checkedSettings({ SERVICE_SMTP_URL: "smtp://mail.example.org" })
    assert.deepStrictEqual(Result.isFailure(alone) && alone.failure.problems, [
      "SERVICE_EMAIL_FROM and SERVICE_SMTP_URL must be set together",
    ])
  })
})
