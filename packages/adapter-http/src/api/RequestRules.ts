import { HttpApiMiddleware } from "effect/http-api"
import { PayloadTooLarge, Validation } from "./ApiErrors.ts"

/** The rule for parameters: those of path and query fit their schemas, or the request is refused (docs/rules.md#order-of-checks). */
export class ValidParameters extends HttpApiMiddleware.Service<ValidParameters>()(
  "@tocsin/adapter-http/api/ValidParameters",
  { error: Validation.wire },
) {}

/** The rule for endpoints without a request body: one that comes all the same is ignored up to 1 MiB (docs/rules.md#queries). */
export class IgnoredBody extends HttpApiMiddleware.Service<IgnoredBody>()(
  "@tocsin/adapter-http/api/IgnoredBody",
  {
    error: PayloadTooLarge.wire,
  },
) {}
