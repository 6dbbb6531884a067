// allowed
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"

export const allowed = Effect.succeed([Storage, SqlClient, randomUUID])
