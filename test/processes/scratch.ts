import { Context, Effect, Layer } from "effect"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { ScratchFolder } from "../storage/ScratchFolder.ts"

/** An empty folder until the scope ends, after the processes that were started in it. */
export const scratchFolder = Effect.map(
  Layer.build(Layer.fresh(ScratchFolder.layer)),
  (services) => Context.get(services, ScratchFolder).path,
)

/** An empty PostgreSQL database for as long. */
export const scratchPostgres = Effect.map(
  Effect.orDie(Layer.build(Layer.fresh(ScratchPostgres.layer))),
  Context.get(ScratchPostgres),
)
