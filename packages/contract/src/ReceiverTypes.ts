/** The keys of one type of receiver; a key that ends in `_` is a secret, given as `…_file` or `…_env`. */
export interface TypeKeys {
  readonly kind: "messenger" | "alert_router"
  readonly needs: ReadonlyArray<string>
  readonly takes: ReadonlyArray<string>
}

/** The configuration of each type (docs/notifications.md#types). */
export const receiverTypes = {
  email: { kind: "messenger", needs: ["url_", "from", "to"], takes: ["cc", "tls"] },
  ntfy: { kind: "messenger", needs: ["url_"], takes: ["token_"] },
  discord: { kind: "messenger", needs: ["url_"], takes: [] },
  teams: { kind: "messenger", needs: ["url_"], takes: [] },
  google_chat: { kind: "messenger", needs: ["url_"], takes: [] },
  mattermost: { kind: "messenger", needs: ["url_"], takes: [] },
  rocket_chat: { kind: "messenger", needs: ["url_"], takes: [] },
  zulip: { kind: "messenger", needs: ["url_", "user", "token_", "stream", "topic"], takes: [] },
  matrix: { kind: "messenger", needs: ["url_", "room", "token_"], takes: [] },
  gotify: { kind: "messenger", needs: ["url_", "token_"], takes: [] },
  pushover: { kind: "messenger", needs: ["token_", "user_"], takes: ["url_"] },
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

/** Recipients of one message, those in copy included. */
export const MOST_RECIPIENTS = 100
