import { assert, describe, it } from "@effect/vitest"
import { policyNames } from "../../src/policy/policyNames.ts"
import type { Mail, Receiver } from "../../src/receivers/Receiver.ts"
import { atMail, completeReceivers } from "../../src/receivers/mailServer.ts"

const mails = { kind: "messenger", type: "email", to: ["ops@example.org"] } as const
const mail = { url_file: "smtp", from: "tocsin@example.org", tls: "off" } as const

/** A receiver beside a mail server, and the receiver that it becomes. */
const CASES: ReadonlyArray<readonly [string, Mail, Receiver, Receiver]> = [
  ["takes all of it", mail, mails, { ...mail, ...mails }],
  [
    "keeps its own sender",
    mail,
    { ...mails, from: "a@b.example" },
    { ...mail, ...mails, from: "a@b.example" },
  ],
  ["keeps its own tls", mail, { ...mails, tls: "required" }, { ...mail, ...mails, tls: "required" }],
  [
    "with its own address takes the sender and no tls",
    mail,
    { ...mails, url_env: "OWN" },
    { ...mails, url_env: "OWN", from: mail.from },
  ],
  [
    "with its own secrets takes no address",
    mail,
    { ...mails, secrets: "own" },
    { ...mails, secrets: "own", from: mail.from },
  ],
  [
    "takes stored secrets",
    { secrets: "smtp", from: mail.from },
    mails,
    { ...mails, secrets: "smtp", from: mail.from },
  ],
  [
    "of another type takes nothing",
    mail,
    { kind: "messenger", type: "ntfy" },
    { kind: "messenger", type: "ntfy" },
  ],
]

describe("a receiver beside a mail server", () => {
  it.each(CASES)("%s", (_, server, receiver, expected) => {
    assert.deepStrictEqual(completeReceivers({ mail: server, receivers: { a: receiver } }), { a: expected })
  })

  it("has the problems of that server once, at mail, and its own where they are", () => {
    const [unset, unread] = ["names a variable that is not set", "names a file that cannot be read"]
    const policy = {
      mail: { url_env: "MAIL_URL", from: "tocsin@example.org" },
      receivers: { a: mails, b: mails, c: { ...mails, url_file: "own" } },
    } as const
    const problems = [
      { message: unset, path: ["receivers", "a", "url_env"] },
      { message: unset, path: ["receivers", "b", "url_env"] },
      { message: unread, path: ["receivers", "c", "url_file"] },
    ]
    assert.deepStrictEqual(atMail(policy, problems), [
      { message: unset, path: ["mail", "url_env"] },
      { message: unread, path: ["receivers", "c", "url_file"] },
    ])
    assert.deepStrictEqual(atMail({ receivers: policy.receivers }, problems), problems)
  })

  it("stays as it is without one, and needs servers that know it", () => {
    assert.deepStrictEqual(completeReceivers({ receivers: { a: mails } }), { a: mails })
    assert.include(policyNames({ receivers: { a: mails } }), "mail")
    assert.notInclude(policyNames({ receivers: { a: { ...mails, url_env: "OWN" } } }), "mail")
  })
})

it("a receiver that people read has the language of the policy, unless it states one", () => {
  const receivers = {
    chat: { kind: "messenger", url_env: "U" },
    own: { kind: "messenger", url_env: "U", lang: "fr" },
    hook: { kind: "webhook", url_env: "U" },
  } as const
  const { chat, hook, own } = completeReceivers({ lang: "de", receivers })
  assert.deepStrictEqual(
    [chat, own, hook],
    [{ ...receivers.chat, lang: "de" }, receivers.own, receivers.hook],
  )
})
