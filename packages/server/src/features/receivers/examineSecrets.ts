import { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { StoredSecrets } from "@tocsin/core/lists/StoredSecrets"
import { Effect } from "effect"
import { plural } from "../../output/texts.ts"
import { attentionIf, type Findings, ok } from "../../commands/doctor/Finding.ts"

const countOf = (watches: number): string => (watches === 1 ? "1 watch" : `${watches} watches`)

/** Stored secrets that this shell's keys do not open, and whether the second key is still needed. */
export const examineSecrets = Effect.gen(function* () {
  const ofReceivers = yield* StoredSecrets.use(({ states }) => states)
  const ofWatches = yield* StoredSecrets.use(({ watchStates }) => watchStates)
  const cipher = yield* SecretCipher
  const [, second] = cipher?.keyIds ?? []
  const found = [
    ...ofReceivers.map(({ row, state }) => ({ state, name: row.name, key: row.key_id })),
    ...ofWatches.map(({ row, state }) => ({
      state,
      name: `the watch ${row.name}`,
      key: row.headers?.key_id,
    })),
  ]
  const namesOf = (wanted: string) =>
    found
      .filter(({ state }) => state === wanted)
      .map(({ key, name }) => (key === undefined ? name : `${name} (key ${key})`))
      .join(", ")
  const plain = namesOf("plain")
  const [unreadable, former] = [namesOf("unreadable"), namesOf("former")]
  const where = (applies: boolean, message: string): Findings => attentionIf(applies, "secrets", message)
  const findings = [
    ...where(
      plain !== "" && cipher === undefined,
      `header fields stand in clear in the database, of ${plain}: set SERVICE_SECRETS_KEY on every server`,
    ),
    ...where(
      plain !== "" && cipher !== undefined,
      `header fields stand in clear in the database, of ${plain}: stop servers of other versions, and start one that encrypts them`,
    ),
    ...where(
      unreadable !== "",
      `no key of this shell opens the stored secrets of ${unreadable}: set SERVICE_SECRETS_KEY to it, or store them again with tocsin secrets put; ignore this if the servers have the key elsewhere`,
    ),
    ...where(former !== "", `the second key opens ${former}: restart a server that has both keys`),
    ...where(
      second !== undefined && former === "",
      `no stored secret needs the second key of SERVICE_SECRETS_KEY (${second}): remove it, or write it first if it is the new one`,
    ),
  ]
  if (findings.length > 0 || found.length === 0) return findings satisfies Findings
  return [
    ok(
      "secrets",
      `${plural(ofReceivers.length, "receiver")} and ${countOf(ofWatches.length)} with stored secrets, which this shell's key opens`,
    ),
  ]
})
