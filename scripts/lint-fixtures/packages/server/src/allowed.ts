// allowed
import { memory } from "@tocsin/adapter-sqlite/SqliteStorage"
import { pg } from "@tocsin/adapter-pg/PgStorage"

export const allowed = [memory, pg]
