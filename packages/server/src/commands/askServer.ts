import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { Effect, Redacted, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { type Calls, TocsinClient } from "tocsin/effect"
import type { Settings } from "../settings/Settings.ts"

/** An operator's token: of the settings, or the one that the server keeps beside the embedded database. */
const tokenOf = ({ DATABASE_URL, SERVICE_AUTH_TOKEN, SERVICE_DATA_DIR }: Settings) => {
  if (SERVICE_AUTH_TOKEN !== undefined || DATABASE_URL !== undefined) return SERVICE_AUTH_TOKEN?.[0]
  const kept = Result.try(() => readFileSync(join(SERVICE_DATA_DIR, "ui-token"), "utf8").trim())
  return Result.isSuccess(kept) ? Redacted.make(kept.success) : undefined
}

/** Whether a Tocsin listens there: another program must not get the token. */
const isTocsin = (address: string): Effect.Effect<boolean> =>
  Effect.tryPromise(async (signal) => {
    const response = await fetch(`${address}/openapi.json`, { signal })
    const { info } = Object(await response.json())
    return Object(info).title === "Tocsin"
  }).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => false),
  )

/** The answer of the running server to a call, or its refusal; nothing if no server answers. */
export const askServer = Effect.fnUntraced(function* <A>(
  baseUrl: string,
  settings: Settings,
  call: (client: Calls) => Effect.Effect<A, { readonly code: string; readonly message: string }>,
): Effect.fn.Return<A | undefined, ValidationError> {
  const token = tokenOf(settings)
  if (token === undefined || !(yield* isTocsin(baseUrl))) return undefined
  return yield* TocsinClient.make({ baseUrl, token, timeout: "75s" }).pipe(
    Effect.flatMap(call),
    Effect.provide(FetchHttpClient.layer),
    Effect.catch(({ code, message }) =>
      code === "validation" ? Effect.fail(new ValidationError({ message })) : Effect.succeed(undefined),
    ),
  )
})
