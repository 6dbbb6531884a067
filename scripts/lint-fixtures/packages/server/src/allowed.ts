// allowed
import { memory } from "@tocsin/adapter-memory/MemoryStorage"
import { pg } from "@tocsin/adapter-pg/PgStorage"

export const allowed = [memory, pg]
