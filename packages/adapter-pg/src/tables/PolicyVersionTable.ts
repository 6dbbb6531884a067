import { keyedTables } from "./keyedTables.ts"

/** Policies that were applied. */
export const policyVersionTable = keyedTables.policy_version

const { alias, columns } = policyVersionTable

/** Reads the versions after `$1`, the newest first. */
export const findPolicyVersions = `SELECT ${columns} FROM policy_version AS ${alias}
  WHERE ${alias}.version > $1 ORDER BY ${alias}.version DESC LIMIT $2`
