import { type Signal, useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { asFailure } from "../api/ApiFailure.ts"
import { countText } from "../format/times.ts"
import { applyChange, firingsText, previewOf } from "../state/policyActions.ts"
import {
  type Entry,
  entryAt,
  isChanged,
  type Operation,
  operationsOf,
  type Path,
  presentOf,
  removalOf,
} from "../state/policyEntries.ts"
import { entryText, flowText } from "../state/policyText.ts"
import { forgetDrafts, useBegan } from "../state/drafts.ts"
import { refresh } from "../state/revisions.ts"
import { confirmed } from "../state/useAction.ts"
import { useLater } from "../state/useLater.ts"
import { Dialog } from "./Dialog.tsx"
import { Difference } from "./Difference.tsx"
import { Fields } from "./Fields.tsx"
import { STILL_HERE } from "./formFault.ts"
import { CopyText } from "./copies.tsx"
import { ActionButton, Fault, GivesUp } from "./forms.tsx"
import { StillHere } from "./StillHere.tsx"
import { useResource } from "./usePages.ts"

/** While its fields change, the preview waits for a pause. */
const TYPING_MILLIS = 400

/** A form over the policy gets this from the button that opens it. */
export interface PolicyFormProps {
  readonly policy: PolicyInForce
  /** The entry that it changes; without one there, it adds one. */
  readonly path?: Path | undefined
  /** The name by which its texts wait. */
  readonly name: string
  readonly onClose: () => void
}

/** The entry that a form changes, as it was when the form opened, or when the texts that wait for it began. */
export const useEntry = <Value extends object>({
  name,
  path,
  policy,
}: Pick<PolicyFormProps, "name" | "path" | "policy">): Signal<Entry<Value> | undefined> =>
  useBegan(name, path && entryAt<Value>(policy.policy, path))

interface PolicyDialogProps extends Omit<PolicyFormProps, "path"> {
  readonly title: string
  /** Where a new entry goes. */
  readonly path: Path
  readonly entry: Signal<Entry | undefined>
  /** The entry as the fields say it, with what they do not ask for. */
  readonly value: object
  /** The keys of the entry for which there is no field. */
  readonly kept?: object | undefined
  readonly missing: ReadonlyArray<string>
  /** Whether it is not known yet what a field means. */
  readonly isAwaited?: boolean
  /** Whether its checks are none, about which it asks before it is applied. */
  readonly isOfNone?: boolean
  /** The fields. */
  readonly children: ComponentChildren
}

/** A problem of an entry without where it stands in the policy. */
const ownWords = ([key = ""]: Path) => {
  const place = new RegExp(`^${key}[[.]\\S*\\.(?=\\w+ )`)
  const named = new RegExp(`^${key}\\[[^\\]]*\\](?= )`)
  // A form needs no quotes.
  return (problem: string) => problem.replace(place, "").replace(named, "It").replace(" in quotes", "")
}

interface PreviewProps extends Pick<PolicyDialogProps, "path" | "policy" | "value"> {
  readonly former: Entry | undefined
  /** A problem of the entry in the words of its form. */
  readonly wordsOf?: (problem: string) => string
}

/** The lines of a change, and whom it would notify at once. */
export const Preview = ({ former, path, policy, value, wordsOf = ownWords(path) }: PreviewProps) => {
  const operations = operationsOf(policy.policy, path, value, former)
  const asked = useSignal(operations)
  const text = JSON.stringify(operations)
  useLater(() => (asked.value = operations), TYPING_MILLIS, [text])
  const shown = asked.value
  const { failure, value: check } = useResource(
    `change ${policy.hash} ${JSON.stringify(shown)}`,
    [],
    async () => (shown.length === 0 ? undefined : previewOf(policy, shown)),
    true,
  )
  if (operations.length === 0) return <p class="lead">It changes nothing.</p>
  const notified = check?.firings ?? []
  const count = notified.reduce((sum, each) => sum + each.count, 0)
  return (
    <>
      {former === undefined ? (
        <pre>{entryText(path, value)}</pre>
      ) : (
        <Difference
          label="Change"
          before={entryText(former.path, former.value)}
          after={entryText(former.path, value)}
        />
      )}
      <p role="status" class={check !== undefined && check.issues.length > 0 ? "failure" : "preview"}>
        {failure !== undefined
          ? failure.message
          : check === undefined
            ? "Checking …"
            : check.issues.length > 0
              ? check.issues.map((issue) => wordsOf(`${issue.path} ${issue.message}`)).join("; ")
              : count === 0
                ? "It notifies nobody at once."
                : `It notifies at once: ${countText(count, "notification")}, ${notified.map((each) => `${each.count} to ${each.receiver}`).join(", ")}.`}
      </p>
      {check?.warnings?.map(({ message: warning, path: place }) => (
        <p key={place + warning} class="lead">
          {place} {warning}
        </p>
      ))}
    </>
  )
}

/** A sentence about an entry that somebody changed while its form was open. */
const conflictOf = (present: Entry | undefined): string =>
  present === undefined
    ? `Somebody removed this entry meanwhile. ${STILL_HERE}: apply it to add it again.`
    : `Somebody changed this entry meanwhile, to ${flowText(present.value)}. ${STILL_HERE}: apply it to replace that.`

/** A failure of an edit as a form says it. A policy that came meanwhile is read. */
export const refusalOf = (error: unknown): string => {
  refresh()
  const { message: why, status } = asFailure(error)
  return status === 412
    ? `Another policy came into force meanwhile. ${STILL_HERE}: look at it again, and apply it.`
    : why
}

/** An entry as it is now, and a sentence if that is another than its form began with. */
export const useConflict = <Value extends object>(
  policy: PolicyInForce,
  entry: Signal<Entry<Value> | undefined>,
) => {
  const former = entry.value
  const present = former && presentOf(policy.policy, former)
  const conflict = former !== undefined && isChanged(present, former) ? conflictOf(present) : ""
  // One that moved is followed, so that it is known where it is when it changes.
  useEffect(() => {
    if (conflict === "") entry.value = present
  }, [policy.hash])
  return { conflict, present }
}

/** Asks before an entry is removed: who would be notified at once. */
const mayRemove = async (policy: PolicyInForce, operations: ReadonlyArray<Operation>) => {
  const { firings } = await previewOf(policy, operations)
  return confirmed(`Remove this from the policy${firingsText(firings, "that")}?`, "Remove this entry")
}

/** Asks before an entry is applied that no check has: a mistake, unless its checks are still to come. */
const mayBeOfNone = () =>
  confirmed("0 checks: nothing comes of it until one matches. Apply it?", "Apply", false)

const useApply = ({ entry, isOfNone, name, onClose, path, policy, value }: PolicyDialogProps) => {
  const fault = useSignal("")
  const { conflict, present } = useConflict(policy, entry)
  const carryOut =
    (operations: (present: Entry | undefined) => ReadonlyArray<Operation>, removes = false) =>
    async () => {
      fault.value = conflict
      entry.value = present
      if (conflict !== "") return undefined
      try {
        const made = operations(present)
        if (removes ? !(await mayRemove(policy, made)) : isOfNone && !(await mayBeOfNone())) return undefined
        const applied = await applyChange(policy, made)
        if (applied === undefined) return undefined
        forgetDrafts(name)
        onClose()
        return { text: `Applied version ${applied.version}${firingsText(applied.firings, "it")}` }
      } catch (error) {
        fault.value = refusalOf(error)
        return undefined
      }
    }
  const apply = carryOut((former) => operationsOf(policy.policy, path, value, former))
  const remove = carryOut((former) => removalOf(policy.policy, former), true)
  return { apply, conflict, fault, former: present, remove }
}

/** A form over one entry of the policy. It says what it changes before it does (docs/rules.md#policy). */
export const PolicyDialog = (props: PolicyDialogProps) => {
  const { children, isAwaited = false, kept = {}, missing, name, onClose, path, policy, title, value } = props
  const { apply, conflict, fault, former, remove } = useApply(props)
  const isMissing = missing.length > 0
  return (
    <Dialog name={title} onClose={onClose}>
      <h2>{title}</h2>
      <Fields>
        {children}
        {conflict === "" && <StillHere form={name} />}
        {Object.entries(kept).map(([key, part]) => (
          <p key={key} class="lead">
            Stays as it is: <code>{`${key}: ${flowText(part)}`}</code>
          </p>
        ))}
        {isMissing ? (
          <p class="lead">Still missing: {missing.join(", ")}</p>
        ) : policy.fixed !== undefined ? (
          <>
            <p class="lead">The policy is not changed here: {policy.fixed}. These are the lines:</p>
            <CopyText text={entryText(former?.path ?? path, value)} />
          </>
        ) : conflict === "" ? (
          <Preview {...{ former, path, policy, value }} />
        ) : (
          <p role="status">{conflict}</p>
        )}
        <Fault text={fault.value} />
        <div class="actions">
          {policy.fixed === undefined && (
            <ActionButton kind="main" isDisabled={isMissing || isAwaited} does={apply}>
              Apply
            </ActionButton>
          )}
          <GivesUp form={name} does={onClose} />
          {policy.fixed === undefined && removalOf(policy.policy, former).length > 0 && (
            <ActionButton kind="danger" does={remove}>
              Remove it
            </ActionButton>
          )}
        </div>
      </Fields>
    </Dialog>
  )
}
