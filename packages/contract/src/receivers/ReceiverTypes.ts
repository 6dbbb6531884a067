/** The keys of one type of receiver; a key that ends in `_` is a secret, given as `…_file` or `…_env`. */
export interface TypeKeys {
  readonly kind: "messenger" | "alert_router"
  readonly needs: ReadonlyArray<string>
  readonly takes: ReadonlyArray<string>
}

/** The configuration of each type (docs/notifications.md#types). */
export const receiverTypes = {
  email: { kind: "messenger", needs: ["url_", "from", "to"], takes: ["cc", "tls", "hello", "reports"] },
  call: {
    kind: "messenger",
    needs: ["account", "token_", "from", "to"],
    takes: ["user", "url_", "language"],
  },
  sms: { kind: "messenger", needs: ["account", "token_", "from", "to"], takes: ["user", "url_"] },
  signal: { kind: "messenger", needs: ["url_", "from", "to"], takes: [] },
  apprise: { kind: "messenger", needs: ["url_"], takes: ["tag"] },
  browser: { kind: "messenger", needs: ["operator"], takes: [] },
  ntfy: { kind: "messenger", needs: ["url_"], takes: ["token_", "call"] },
  discord: { kind: "messenger", needs: ["url_"], takes: [] },
  teams: { kind: "messenger", needs: ["url_"], takes: [] },
  google_chat: { kind: "messenger", needs: ["url_"], takes: [] },
  mattermost: { kind: "messenger", needs: ["url_"], takes: [] },
  rocket_chat: { kind: "messenger", needs: ["url_"], takes: [] },
  zulip: { kind: "messenger", needs: ["url_", "user", "token_", "stream", "topic"], takes: [] },
  matrix: { kind: "messenger", needs: ["url_", "room", "token_"], takes: [] },
  gotify: { kind: "messenger", needs: ["url_", "token_"], takes: [] },
  pushover: { kind: "messenger", needs: ["token_", "user_"], takes: ["url_", "emergency"] },
  pagerduty: { kind: "alert_router", needs: ["routing_key_"], takes: ["url_"] },
  opsgenie: { kind: "alert_router", needs: ["key_"], takes: ["url_"] },
} as const satisfies Readonly<Record<string, TypeKeys>>
export type ReceiverType = keyof typeof receiverTypes

export const untypedKeys = {
  messenger: ["url_", "telegram_token_", "telegram_chat"],
  alert_router: ["url_"],
} as const

export const typesOf = <Kind extends TypeKeys["kind"]>(kind: Kind) =>
  // Each key of the table is a type.
  (Object.keys(receiverTypes) as Array<ReceiverType>).filter(
    (
      type,
    ): type is {
      [T in ReceiverType]: (typeof receiverTypes)[T]["kind"] extends Kind ? T : never
    }[ReceiverType] => receiverTypes[type].kind === kind,
  )

const ADDRESS = String.raw`[^\s\p{C}@<>(),;:\\"[\]]+@[^\s\p{C}@<>(),;:\\"[\]]+`

/** The address of a mailbox, without a name. */
export const MAIL_ADDRESS = new RegExp(`^${ADDRESS}$`, "u")

/** A sender: an address, or a name, which may be quoted, and the address in angle brackets. */
export const MAIL_SENDER = new RegExp(
  String.raw`^(?:(?:(?<name>[^\p{C}<>@"]*)|"(?<quoted>(?:[^\p{C}"\\]|\\[^\p{C}])*)"\s*)<(?<inner>${ADDRESS})>|${ADDRESS})$`,
  "u",
)

export const MAIL_SENDER_RULE = "an address such as Tocsin <tocsin@example.org>"

/** Recipients of one message, those in copy included. */
export const MOST_RECIPIENTS = 100

/** A telephone number as E.164 has it. YAML reads one without quotes as an integer. */
const E164 = String.raw`\+[1-9]\d{6,14}`
export const PHONE_NUMBER = new RegExp(`^${E164}$`)

/** A part of an address or of credentials that needs no encoding. */
export const ACCOUNT_NAME = /^[A-Za-z0-9-]{1,64}$/

/** A number, a name of 1 to 11 characters, a short code or a messaging service. */
const SMS_SENDER = new RegExp(
  String.raw`^(?:${E164}|\d{3,8}|MG[0-9a-f]{32}|(?=[A-Za-z0-9 ]*[A-Za-z])[A-Za-z0-9 ]{1,11})$`,
)

/** A sender of any type. */
export const SENDER = new RegExp(`${MAIL_SENDER.source}|${SMS_SENDER.source}`, "u")
const SIGNAL_RECIPIENT = new RegExp(String.raw`^(?:${E164}|group\.[A-Za-z0-9+/=]{1,256})$`)

/** The form of a key's values; `expected` follows "must be". */
interface KeyForm {
  readonly form: RegExp
  readonly expected: string
}

const number: KeyForm = { form: PHONE_NUMBER, expected: 'a number in quotes, such as "+4915112345678"' }
const user: KeyForm = { form: ACCOUNT_NAME, expected: "an API key such as SK0123, of letters, digits and -" }

/** The forms of keys that differ between types. */
/** An operator, or a person who signs in, whose browsers are notified. */
const OPERATOR = /^(?!token-)(?:[a-z0-9][a-z0-9._-]{0,62}|oidc:[a-z0-9._-]{1,128})$/u

export const keyForms: Partial<Readonly<Record<ReceiverType, Readonly<Record<string, KeyForm>>>>> = {
  browser: {
    operator: {
      form: OPERATOR,
      expected: "the name of an operator, or oidc: and the name of a person; a shared token is nobody's",
    },
  },
  email: { from: { form: MAIL_SENDER, expected: MAIL_SENDER_RULE } },
  call: { from: number, to: number, user },
  sms: {
    from: {
      form: SMS_SENDER,
      expected:
        "a number in quotes, a name of at most 11 characters, a short code in quotes, or a messaging service",
    },
    to: number,
    user,
  },
  signal: {
    from: number,
    to: { form: SIGNAL_RECIPIENT, expected: 'a number in quotes, such as "+4915112345678", or group.…' },
  },
}
