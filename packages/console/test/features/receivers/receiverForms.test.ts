import { assert, describe, it } from "@effect/vitest"
import { policySchema } from "@tocsin/adapter-http/handlers/policyUseCases"
import { keyForms, receiverTypes, untypedKeys } from "@tocsin/contract/receivers/ReceiverTypes"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Result } from "effect"
import { ApiFailure } from "../../../src/api/ApiFailure.ts"
import { faultOf, missingIn } from "../../../src/view/formFault.ts"
import {
  entryOf,
  fieldsOf,
  FORM_TYPES,
  type FormType,
  inWordsOfForm,
  placesOf,
  propertiesOf,
  typeNameOf,
  valuesOf,
} from "../../../src/features/receivers/receiverForms.ts"

const schema = policySchema()
const forms = Object.entries(FORM_TYPES)

const partsOf = (form: FormType, former?: Record<string, unknown>) => ({
  form,
  former,
  isFixed: false,
  properties: propertiesOf(schema, form.kind),
})

/** The keys that a form asks for: several of its fields make an address with credentials. */
const keysOf = (form: FormType): ReadonlyArray<string> => [
  ...new Set(Object.keys(fieldsOf(partsOf(form))).map((name) => name.replace(/\..*/, ""))),
]

/** Keys that every receiver of a kind takes. */
const COMMON = new Set(["quiet", "tz", "lang", "acknowledge", "concurrency", "details", "resolved", "shadow"])

/** A text for each field: its example, which people write like that. */
const exampleTexts = (form: FormType): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fieldsOf(partsOf(form))).flatMap(([name, { example, initial, isRare, options }]) => {
      const written = typeof example === "function" ? example({}) : example
      const text = initial || (written ?? options?.at(-1)?.[0] ?? "secret")
      return COMMON.has(name) || (isRare && name === "call") ? [] : [[name, text]]
    }),
  )

/** The texts without those of secrets. */
const kept = (texts: Record<string, string>, form: FormType): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts).filter(
      ([name]) => !form.needs.concat(form.takes).includes(`${name.replace(/\..*/, "")}_`),
    ),
  )

describe("the forms of receivers", () => {
  it.each(forms)("%s: has exactly the keys of the table", (_, form) => {
    const { needs, takes } = form.type === undefined ? form : receiverTypes[form.type]
    const keys = [...needs, ...takes].map((key) => key.replace(/_$/, ""))
    assert.sameMembers(
      keysOf(form).filter((key) => !COMMON.has(key)),
      keys,
    )
  })

  it("are one for each row of the table, and all that a kind takes without a type", () => {
    const types = forms.flatMap(([, { type }]) => type ?? [])
    assert.sameMembers(types, Object.keys(receiverTypes))
    for (const kind of ["messenger", "alert_router"] as const) {
      const untyped = forms.filter(([, form]) => form.kind === kind && form.type === undefined)
      assert.sameMembers([...new Set(untyped.flatMap(([, { needs }]) => needs))], [...untypedKeys[kind]])
    }
  })

  it.each(forms)("%s: says what each of its keys is, by the schema", (_, form) => {
    for (const [name, { hint }] of Object.entries(fieldsOf(partsOf(form))))
      if (!name.includes(".") && !["to", "cc"].includes(name)) assert.isNotEmpty(hint ?? "", name)
  })

  it("say what is by default in the words of the choice", () => {
    const asked = (title: string, name: string) => {
      const form = FORM_TYPES[title]
      assert(form !== undefined)
      const { hint, options } = fieldsOf(partsOf(form))[name] ?? {}
      return [options?.[0]?.[1], hint]
    }
    const resolutions = "Whether it gets resolutions, and firings are retried after them."
    assert.deepStrictEqual(asked("E-mail", "resolved"), ["yes, by default", resolutions])
    assert.deepStrictEqual(asked("Telephone: it rings", "resolved"), ["no, by default", resolutions])
    assert.deepStrictEqual(asked("Telephone: it rings", "shadow")[0], "no, by default")
    assert.deepStrictEqual(asked("E-mail", "tls"), ["by default", "required by default."])
    assert.deepStrictEqual(asked("E-mail", "lang")[0], "by default")
  })

  it("say advice about TLS as their field does", () => {
    const aside = "(without a policy, ?tls=off after the address)"
    assert.strictEqual(
      inWordsOfForm(`use port 465 (smtps://), or tls: off ${aside}.`),
      "use port 465 (smtps://), or choose TLS: off.",
    )
    assert.strictEqual(inWordsOfForm(`over TLS: remove tls: off ${aside}`), "over TLS: choose TLS: required")
  })

  it.each(forms)("%s: makes an entry that the server takes, and shows it again", (title, form) => {
    const texts = exampleTexts(form)
    const entry = entryOf({ ...partsOf(form), hasValues: false }, texts)
    const secrets = [...form.needs, ...form.takes].filter((key) => key.endsWith("_"))
    assert.sameMembers(
      Object.keys(valuesOf(form, texts)),
      secrets.map((key) => key.slice(0, -1)),
    )
    const receiver = { ...entry, ...placesOf(form, "one") }
    const read = readPolicy({ receivers: { one: receiver } }, [])
    assert.isTrue(Result.isSuccess(read), JSON.stringify([receiver, read]))
    assert.strictEqual(typeNameOf(entry), title)
    const again = fieldsOf(partsOf(form, { ...entry, digest: "kept" }))
    const shown = Object.fromEntries(Object.entries(again).map(([name, { initial = "" }]) => [name, initial]))
    const kept = entryOf({ ...partsOf(form, { ...entry, digest: "kept" }), hasValues: false }, shown)
    assert.deepStrictEqual(kept, { ...entry, digest: "kept" })
  })

  it.each(forms)("%s: names a blank field that the server needs", (_, form) => {
    const fields = fieldsOf(partsOf(form))
    const texts = exampleTexts(form)
    assert.isUndefined(missingIn(fields, texts))
    for (const key of form.needs) {
      const name = form.type === "email" && key === "url_" ? "url.host" : key.replace(/_$/, "")
      const label = fields[name]?.label ?? assert.fail(name)
      assert.deepStrictEqual(missingIn(fields, { ...texts, "url.user": "", [name]: "" }), {
        name,
        text: `${label} is missing.`,
      })
      // Secrets that the service has stay, unless others are written.
      if (key.endsWith("_"))
        assert.isUndefined(missingIn(fieldsOf(partsOf(form, {})), { ...kept(texts, form) }))
    }
  })

  it("show a refusal of the server at the field that it is about", () => {
    const refusal = (text: string) => new ApiFailure("validation", text, { status: 400 })
    const fields = fieldsOf(partsOf(FORM_TYPES["E-mail"] ?? assert.fail()))
    const refusals = [
      ["the policy is not valid: line 2: receivers.email.from is missing", "from", "From is missing"],
      ["line 2: receivers.email.to[0] must be an address", "to", "To must be an address"],
      [
        "the test was refused, this server cannot use it: receivers.email.secrets names secrets of which url leads to the server's own machine",
        "url.host",
        "Mail server leads to the server's own machine",
      ],
      ["the test was deferred, STARTTLS is not offered", "tls", "TLS is not offered"],
    ] as const
    for (const [message, name, text] of refusals)
      assert.deepStrictEqual(faultOf(fields, refusal(message)), { name, text })
    assert.deepStrictEqual(faultOf(fields, refusal("the server is busy")), { text: "the server is busy" })
  })

  it("of mails write what is between the parts of an address as the address needs it", () => {
    const form = FORM_TYPES["E-mail"] ?? assert.fail()
    const texts = {
      "url.host": "mail.example.org",
      "url.port": "465",
      "url.user": "a@b",
      "url.password": "p:/@",
    }
    assert.deepStrictEqual(valuesOf(form, texts), { url: "smtps://a%40b:p%3A%2F%40@mail.example.org:465" })
    assert.deepStrictEqual(valuesOf(form, { ...texts, "url.user": "", "url.port": "25" }), {
      url: "smtp://mail.example.org:25",
    })
    assert.deepStrictEqual(valuesOf(form, { ...texts, "url.host": "" }), {})
  })

  it("of mails send from the user, if that is an address and no other one is written", () => {
    const form = FORM_TYPES["E-mail"] ?? assert.fail()
    const { from } = fieldsOf(partsOf(form))
    const senderOf = (user: string, written = "") => [
      typeof from?.example === "function" && from.example({ "url.user": user }),
      entryOf({ ...partsOf(form), hasValues: true }, { "url.user": user, from: written })["from"],
    ]
    assert.deepStrictEqual(senderOf("ops@example.org"), ["ops@example.org", "ops@example.org"])
    assert.deepStrictEqual(senderOf("ops@example.org", "t@example.org")[1], "t@example.org")
    assert.deepStrictEqual(senderOf("ops"), ["tocsin@example.org", undefined])
  })

  it("drop the files of secrets that the service keeps from then on", () => {
    const form = FORM_TYPES["Discord"] ?? assert.fail()
    const former = { kind: "messenger", type: "discord", url_file: "discord", secrets: "discord" }
    assert.deepStrictEqual(entryOf({ ...partsOf(form, former), hasValues: false }, { url: "" }), former)
    const { url_file: _, ...others } = former
    assert.deepStrictEqual(
      entryOf({ ...partsOf(form, former), hasValues: true }, { url: "https://x" }),
      others,
    )
  })

  it("ask for quiet hours, keep their days, and take them away with the hours", () => {
    const form = FORM_TYPES["The server's log"] ?? assert.fail()
    const quiet = { hours: "22:00-06:00", tz: "UTC", below: "unknown", days: ["sat", "sun"] }
    const former = { kind: "debug", quiet }
    const fields = fieldsOf(partsOf(form, former))
    const asked = ["quiet.hours", "quiet.below", "quiet.tz"]
    assert.deepStrictEqual(
      asked.map((name) => [fields[name]?.label, fields[name]?.initial, fields[name]?.isRare]),
      [
        ["Quiet hours", "22:00-06:00", true],
        ["Quiet if milder than", "unknown", true],
        ["Zone of quiet hours", "UTC", true],
      ],
    )
    const texts = Object.fromEntries(
      Object.entries(fields).map(([name, { initial = "" }]) => [name, initial]),
    )
    const entryWith = (changes: Record<string, string>, before: Record<string, unknown> = former) =>
      entryOf({ ...partsOf(form, before), hasValues: false }, { ...texts, ...changes })
    assert.deepStrictEqual(entryWith({}), former)
    assert.deepStrictEqual(entryWith({ "quiet.hours": "" }), { kind: "debug" })
    assert.deepStrictEqual(entryWith({ "quiet.tz": "", "quiet.below": "critical" }, { kind: "debug" }), {
      kind: "debug",
      quiet: { hours: "22:00-06:00", below: "critical" },
    })
    assert.strictEqual(fieldsOf(partsOf(form))["quiet.below"]?.initial, "critical")
  })

  it("have each key whose form differs between types", () => {
    assert.isNotEmpty(keyForms)
    for (const [type, keys] of Object.entries(keyForms)) {
      const form = Object.values(FORM_TYPES).find((each) => each.type === type) ?? assert.fail()
      assert.includeMembers(keysOf(form) as Array<string>, Object.keys(keys))
    }
  })
})
