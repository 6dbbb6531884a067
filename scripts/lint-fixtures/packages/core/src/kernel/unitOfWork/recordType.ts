// allowed
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { type KeyedName, type KeyedRows } from "../../lists/StoredTables.ts"

export type Allowed = AgentRecord | KeyedRows[KeyedName]
