import { SecretCipher } from "@tocsin/core/ports/SecretCipher"
import { Policies } from "@tocsin/core/usecases/Policies"
import { Effect } from "effect"
import { plural } from "../../output/texts.ts"
import { attention, type Findings, ok } from "./Finding.ts"

/** Stored secrets that this shell's keys do not open, and whether the second key is still needed. */
export const examineSecrets = Effect.gen(function* () {
  const found = yield* Policies.use(({ secrets }) => secrets.states)
  const [, second] = (yield* SecretCipher)?.keyIds ?? []
  const namesOf = (wanted: string) =>
    found
      .flatMap(({ row, state }) => (state === wanted ? [`${row.name} (key ${row.key_id})`] : []))
      .join(", ")
  const [unreadable, former] = [namesOf("unreadable"), namesOf("former")]
  const findings = [
    ...(unreadable === ""
      ? []
      : [
          attention(
            "secrets",
            `no key of this shell opens the stored secrets of ${unreadable}: set SERVICE_SECRETS_KEY to it, or store them again with tocsin secrets put; ignore this if the servers have the key elsewhere`,
          ),
        ]),
    ...(former === ""
      ? []
      : [attention("secrets", `the second key opens ${former}: restart a server that has both keys`)]),
    ...(second === undefined || former !== ""
      ? []
      : [
          attention(
            "secrets",
            `no stored secret needs the second key of SERVICE_SECRETS_KEY (${second}): remove it, or write it first if it is the new one`,
          ),
        ]),
  ]
  if (findings.length > 0 || found.length === 0) return findings satisfies Findings
  return [
    ok("secrets", `${plural(found.length, "receiver")} with stored secrets, which this shell's key opens`),
  ]
})
