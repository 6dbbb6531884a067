import { effect, signal, useSignal } from "@preact/signals"
import type {
  AppliedPolicy,
  PolicyCheck,
  PolicyInForce,
  PolicyTrial,
  PolicyVersionList,
} from "@tocsin/client"
import { useRef } from "preact/hooks"
import { countText } from "../format/times.ts"
import { changePolicy, firingsText } from "../state/policyActions.ts"
import { draftOf, keepDraft } from "../state/drafts.ts"
import { call, me, whenSignedOut } from "../state/session.ts"
import { useLater } from "../state/useLater.ts"
import { useResource } from "../view/usePages.ts"

export const PATH = "ops/v1/policy"
export const NOTHING = "No policy is set: every receiver is notified of every incident, immediately."

/** A stored version with its text, which few readers want: one may have a MiB. */
type Version = Pick<AppliedPolicy, "hash" | "text" | "version">

export const textOfVersion = async (version: number): Promise<string> => {
  const query = { version }
  const { items } = await call<PolicyVersionList>("GET", `${PATH}/versions`, { query })
  return items[0]?.text ?? ""
}

/** The stored versions without their texts, and the newest of them with its text, which is read once. */
export const useVersions = () => {
  const latest = useRef<Version | undefined>(undefined)
  return useResource("policy versions", ["policy"], async () => {
    const query = { without_texts: true }
    const { items } = await call<PolicyVersionList>("GET", `${PATH}/versions`, { query })
    const [newest] = items
    const { hash, version } = latest.current ?? {}
    if (newest?.hash !== hash || newest?.version !== version)
      latest.current = newest && { ...newest, text: await textOfVersion(newest.version) }
    return { items, stored: latest.current }
  })
}

const POLICY = "policy"

/** A text that is not applied yet, by its writer. It waits while its writer looks at other pages. */
interface Draft {
  readonly by: string | undefined
  /** The hash of the policy that it is to replace. */
  readonly base: string
  readonly text: string
}
export const draft = signal(draftOf<Draft>(POLICY))
effect(() => keepDraft(POLICY, draft.value))
whenSignedOut(async () => (draft.value = undefined))

/** The check waits for a pause in the typing. */
const TYPING_MILLIS = 400

/** The problems of a text, or what it would send; those of the text before until they are known. */
export const useCheck = (text: string) => {
  const asked = useSignal(text)
  useLater(() => (asked.value = text), TYPING_MILLIS, [text])
  const body = asked.value
  const isEmpty = body.trim() === ""
  const reading = useResource<PolicyCheck | undefined>(
    `check of ${body}`,
    // The policy in force decides what it would send.
    ["policy"],
    async () => (isEmpty ? undefined : await call<PolicyCheck>("POST", `${PATH}/check`, { body })),
    true,
  )
  const shown = useRef<PolicyCheck | undefined>(undefined)
  if (reading.value !== undefined || isEmpty) shown.current = reading.value
  const { current: check } = shown
  const count = check?.issues.length ?? 0
  const ended = count === 0 ? `Valid${firingsText(check?.firings, "it")}.` : countText(count, "problem")
  const isCurrent = body === text && reading.value !== undefined
  return { check, failure: reading.failure, outcome: isCurrent ? ended : "Checking …" }
}

/** Longer than the minute after which the service ends a trial. */
const TRIAL_MILLIS = 70_000

export interface EditingProps {
  readonly policy: PolicyInForce
  /** The newest stored version; none before the first one. */
  readonly stored: Version | undefined
  readonly onApplied: (version: AppliedPolicy) => void
}

/** The text that its writer changes, and what can be done with it. */
export const useEditing = ({ onApplied, policy, stored }: EditingProps) => {
  const trial = useSignal<{ readonly text: string; readonly result: PolicyTrial } | undefined>(undefined)
  const by = me.value?.name
  const newest = stored?.hash ?? policy.hash
  const before = stored?.text ?? ""
  const mine = draft.value?.by === by && draft.value?.text !== before ? draft.value : undefined
  const replaced = mine?.base ?? newest
  const text = mine?.text ?? before
  return {
    before,
    mine,
    text,
    trial,
    isOutdated: replaced !== newest,
    keep: () => (draft.value = { by, base: newest, text }),
    discard: () => (draft.value = undefined),
    edit: (next: string) => (draft.value = next === before ? undefined : { by, base: replaced, text: next }),
    apply: async () => {
      const applied = await changePolicy("PUT", PATH, { body: text, ifMatch: replaced })
      if (applied === undefined) return undefined
      onApplied(applied)
      draft.value = undefined
      trial.value = undefined
      return { text: `Applied version ${applied.version}${firingsText(applied.firings, "it")}` }
    },
    attempt: async () => {
      const options = { body: text, query: { since: "30d" }, timeoutMillis: TRIAL_MILLIS }
      trial.value = { text, result: await call<PolicyTrial>("POST", `${PATH}/try`, options) }
      return undefined
    },
  }
}
