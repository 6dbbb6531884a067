import { HttpApiMiddleware } from "effect/http-api"
import { PayloadTooLarge, Validation } from "./ApiErrors.ts"

/**
 * Refuses parameters of path and query that do not fit their schemas
 * (docs/rules.md#queries).
 */
export class ValidParameters extends HttpApiMiddleware.Service<ValidParameters>()(
  "@tocsin/adapter-http/api/ValidParameters",
  { error: Validation.wire },
) {}

/** Ignores the body of a request that needs none, up to 1 MiB (docs/rules.md#bodies). */
export class IgnoredBody extends HttpApiMiddleware.Service<IgnoredBody>()(
  "@tocsin/adapter-http/api/IgnoredBody",
  {
    error: PayloadTooLarge.wire,
  },
) {}
