import { Effect, Result } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { attention, type Findings, ok } from "../../commands/doctor/Finding.ts"

/** Whether people can sign in, as far as the issuer's metadata say. */
export const examineIssuer = Effect.fnUntraced(function* ({
  SERVICE_OIDC_ISSUER: issuer,
  SERVICE_PUBLIC_URL: publicUrl,
}: Settings): Effect.fn.Return<Findings> {
  if (issuer === undefined) return []
  const { discover } = yield* Effect.promise(() => import("./issuer.ts"))
  return Result.match(yield* discover(issuer), {
    onFailure: (problem) => [attention("sign-in", problem)],
    onSuccess: () => [ok("sign-in", `people sign in by ${issuer}, which returns them to ${publicUrl}/`)],
  })
})
