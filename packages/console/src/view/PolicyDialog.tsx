import { useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { asFailure } from "../api/ApiFailure.ts"
import { countText } from "../format/times.ts"
import { firingsText } from "../state/policyActions.ts"
import { applyChange, operationsOf, previewOf } from "../state/policyChanges.ts"
import { itemText, type PolicyItem } from "../state/policyText.ts"
import { refresh } from "../state/revisions.ts"
import { message } from "../state/useAction.ts"
import { useLater } from "../state/useLater.ts"
import { Fields } from "./Fields.tsx"
import { ActionButton, CopyText, Fault, QuietButton } from "./forms.tsx"
import { useResource } from "./usePages.ts"

/** While its fields change, the preview waits for a pause. */
const TYPING_MILLIS = 400

interface PreviewProps {
  readonly policy: PolicyInForce
  readonly item: PolicyItem
  readonly former: string | undefined
}

/** The lines of a change, and whom it would notify at once. */
const Preview = ({ former, item, policy }: PreviewProps) => {
  const asked = useSignal(item)
  const text = JSON.stringify(item)
  useLater(() => (asked.value = item), TYPING_MILLIS, [text])
  const shown = asked.value
  const { failure, value } = useResource(
    `change ${policy.hash} ${former ?? ""} ${JSON.stringify(shown)}`,
    [],
    () => previewOf(policy, operationsOf(policy.policy, shown, former)),
    true,
  )
  const notified = value?.firings ?? []
  const count = notified.reduce((sum, each) => sum + each.count, 0)
  return (
    <>
      <pre>{itemText(item)}</pre>
      <p role="status" class="preview">
        {failure !== undefined
          ? failure.message
          : value === undefined
            ? "Checking …"
            : value.issues.length > 0
              ? value.issues.map((issue) => `${issue.path} ${issue.message}`).join("; ")
              : count === 0
                ? "It notifies nobody at once."
                : `It notifies at once: ${countText(count, "notification")}, ${notified.map((each) => `${each.count} to ${each.receiver}`).join(", ")}.`}
      </p>
      {value?.warnings?.map(({ message: warning, path }) => (
        <p key={path + warning} class="lead">
          {path} {warning}
        </p>
      ))}
    </>
  )
}

interface PolicyDialogProps {
  readonly title: string
  readonly policy: PolicyInForce
  /** Undefined while fields are missing. */
  readonly item: PolicyItem | undefined
  /** The fields that are missing. */
  readonly missing: ReadonlyArray<string>
  /** The name or the position of the entry that is changed. */
  readonly former?: string | undefined
  readonly onClose: () => void
  /** The fields. */
  readonly children: ComponentChildren
}

/** A form over one entry of the policy. It says what it changes before it does (docs/rules.md#policy). */
export const PolicyDialog = (props: PolicyDialogProps) => {
  const { children, former, item, missing, onClose, policy, title } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const fault = useSignal("")
  useEffect(() => dialog.current?.showModal(), [])
  const apply = async () => {
    if (item === undefined) return undefined
    fault.value = ""
    try {
      const applied = await applyChange(policy, operationsOf(policy.policy, item, former))
      if (applied === undefined) return undefined
      onClose()
      message.value = {
        text: `Applied version ${applied.version}${firingsText(applied.firings, "it")}`,
      }
    } catch (error) {
      const failure = asFailure(error)
      fault.value =
        failure.status === 412
          ? "Another policy came into force meanwhile. What you typed is still here: look at it again, and apply it."
          : failure.message
      refresh()
    }
    return undefined
  }
  return (
    <dialog ref={dialog} class="ask form" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      <Fields>
        {children}
        {item === undefined ? (
          <p class="lead">Still missing: {missing.join(", ")}</p>
        ) : policy.fixed === undefined ? (
          <Preview policy={policy} item={item} former={former} />
        ) : (
          <>
            <p class="lead">The policy is not changed here: {policy.fixed}. These are the lines:</p>
            <CopyText text={itemText(item)} />
          </>
        )}
        <Fault text={fault.value} />
        <div class="actions">
          {policy.fixed === undefined && (
            <ActionButton kind="main" isDisabled={item === undefined} does={apply}>
              Apply
            </ActionButton>
          )}
          <QuietButton does={onClose}>Cancel</QuietButton>
        </div>
      </Fields>
    </dialog>
  )
}
