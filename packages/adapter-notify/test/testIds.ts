import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Layer } from "effect"

/** An id that tests of a webhook look for. */
export const TEST_ID = "0198a600-0000-7000-8000-000000000001"

/** {@link Ids} that always gives {@link TEST_ID}. */
export const testIds = Layer.succeed(Ids, Ids.of({ uuidV7: () => TEST_ID, secret: () => "-".repeat(43) }))
