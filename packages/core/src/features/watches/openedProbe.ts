import { Result } from "effect"
import type { StoredProbe } from "@tocsin/contract/watches/WatchProbe"
import { type SecretPlace, secretsOf, withSecrets } from "@tocsin/contract/watches/watchSecrets"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import type { SecretCipher } from "../../kernel/ports/SecretCipher.ts"
import type { WatchProbes } from "../../kernel/ports/WatchProbes.ts"
import { openProbe } from "./watchHeaders.ts"
import type { WatchRecord } from "./WatchRecord.ts"

interface Opening {
  readonly cipher: SecretCipher | undefined
  readonly policy: Pick<PolicyInForce["Service"], "current">
}

/** The secrets of a watch of the policy, and where they are. */
export const policySecrets = ({ watches = [] }: PolicyDocument, name: CheckId) => {
  const watch = watches.find((one) => one.name === name)
  return watch && secretsOf<SecretPlace>(watch)
}

/** A probe with its secrets, or what is missing: without them, its page would answer otherwise. */
export type OpenedProbe = Result.Result<StoredProbe, string>

/** Opens the secrets of a watch; of one of the policy, by the probes of this process. */
export const openedProbe = (
  { cipher, policy }: Opening,
  probes: Pick<WatchProbes, "open">,
  watch: WatchRecord,
): OpenedProbe => {
  if (watch.origin === "policy") {
    const places = policySecrets(policy.current().document, watch.name)
    if (places === undefined) return Result.succeed(watch.probe)
    return Result.map(probes.open(places), (secrets) => withSecrets(watch.probe, secrets))
  }
  const { probe } = openProbe(watch, cipher)
  return probe === undefined
    ? Result.fail(
        `no key of SERVICE_SECRETS_KEY opens its secrets: give the servers the key ${watch.headers?.key_id ?? ""}, or change the watch with its secrets`,
      )
    : Result.succeed(probe)
}
