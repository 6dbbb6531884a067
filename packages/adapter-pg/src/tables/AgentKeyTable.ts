import { keyedTables } from "./keyedTables.ts"

/**
 * Keys of agents, and blocked keys, which are the blacklist. The lock of an agent guards its own keys. It guards
 * neither blocked keys nor a key of another agent that a request presents, so keys are locked too.
 */
export const keyTable = keyedTables.agent_key

/** Locks blocked keys, by the ids of their blacklist rows. */
export const lockBlacklist = `SELECT ${keyTable.columns} FROM agent_key AS k
  WHERE k.blacklist_id = ANY($1) AND k.state = 'blocked' ORDER BY k.key_hash FOR UPDATE`
