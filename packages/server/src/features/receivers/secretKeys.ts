import { receiver_secrets } from "@tocsin/core/features/receivers/ReceiverSecretsRecord"
import { push_key, push_subscription } from "@tocsin/core/heart/model/SubscriptionRecord"
import type { CopySource } from "@tocsin/core/kernel/ports/Storage"
import { watch } from "@tocsin/core/features/watches/WatchRecord"
import { Effect, Result, Stream } from "effect"
import process from "node:process"
import { presentSecretCipher, SECRETS_KEY_FILE } from "../../keptSecret.ts"
import { commandSettings } from "../../settings/checkedSettings.ts"
import type { CopyEnd } from "tocsin/internal/storages/places"

const KEY_ID = Object.keys(receiver_secrets.columns).indexOf("key_id")
const HEADERS = Object.keys(watch.columns).indexOf("headers")

/** The key of a watch's header fields, as the row has them. */
const keyOfHeaders = (stored: unknown): ReadonlyArray<string> =>
  typeof stored === "string" ? [String(Object(JSON.parse(stored)).key_id)] : []

/** The keys of browsers, and of the key by which they know the server. */
const keysOfBrowsers = (rows: CopySource["rows"]) =>
  Effect.map(
    Effect.forEach([push_subscription, push_key], (table) =>
      Effect.map(Stream.runCollect(rows(table)), (found) =>
        found.flat().map((row) => String(row[Object.keys(table.columns).indexOf("key_id")])),
      ),
    ),
    (ids) => ids.flat(),
  )

/** Identifies the keys of the stored secrets in a storage; one of an earlier schema has none. */
export const secretKeysOf = ({ withSource }: CopyEnd): Effect.Effect<ReadonlyArray<string>> =>
  withSource(({ rows }) =>
    Effect.zipWith(
      Stream.runCollect(rows(receiver_secrets)),
      Stream.runCollect(rows(watch)),
      (secrets, watches) => [
        ...secrets.flat().map((row) => String(row[KEY_ID])),
        ...watches.flat().flatMap((row) => keyOfHeaders(row[HEADERS])),
      ],
    ).pipe(Effect.zipWith(keysOfBrowsers(rows), (ids, others) => [...ids, ...others])),
  ).pipe(
    Effect.map((ids) => Array.from(new Set(ids)).toSorted()),
    Effect.orElseSucceed(() => []),
  )

/** A sentence on the keys without which stored secrets cannot be read, and where they are; empty if there are none. */
export const secretKeysText = (ids: ReadonlyArray<string>): string => {
  if (ids.length === 0) return ""
  const settings = Result.getOrUndefined(commandSettings(process.env))
  const present: ReadonlyArray<string | undefined> = (settings && presentSecretCipher(settings)?.keyIds) ?? []
  const place =
    settings?.SERVICE_SECRETS_KEY === undefined
      ? `${settings?.SERVICE_DATA_DIR}/${SECRETS_KEY_FILE}`
      : "SERVICE_SECRETS_KEY"
  const places = ids.map(
    (id) => `${id} (${present.includes(id) ? `in ${place}` : "which this shell does not have"})`,
  )
  return `its stored secrets need the key ${places.join(" and ")}: keep that elsewhere, and give it to the server as SERVICE_SECRETS_KEY\n`
}
