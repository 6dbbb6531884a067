import type { PolicyCheck } from "@tocsin/client"
import { useMemo, useRef } from "preact/hooks"
import { QuietButton } from "./forms.tsx"
import { Mark } from "./states.tsx"

/** One more would help no reader. */
const MOST_SHOWN = 100

type Found = PolicyCheck["issues"][number] | NonNullable<PolicyCheck["warnings"]>[number]
const lineOf = (found: Found): number | undefined =>
  "line" in found && typeof found.line === "number" ? found.line : undefined

interface EditorProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly check: PolicyCheck | undefined
}

/**
 * A field with the number of each line, and marks of the lines with problems. It is as long as its text, so that
 * numbers and lines scroll together; Tab leaves it, and undo, search and the pointer are those of the browser.
 */
export const PolicyEditor = ({ text, onText, check }: EditorProps) => {
  const field = useRef<HTMLTextAreaElement>(null)
  const count = text.split("\n").length
  const places = useMemo(() => Array.from({ length: count }, (_, place) => place + 1).join("\n"), [count])
  const found = [
    ...(check?.issues ?? []).map((one) => [one, "critical"] as const),
    ...(check?.warnings ?? []).map((one) => [one, "warning"] as const),
  ].slice(0, MOST_SHOWN)
  const goTo = (line: number): void => {
    const lines = text.split("\n")
    const begin = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
    field.current?.focus({ preventScroll: true })
    field.current?.setSelectionRange(begin, begin + (lines[line - 1]?.length ?? 0))
    document.getElementById(`line-${line}`)?.scrollIntoView({ block: "center" })
  }
  return (
    <>
      <div class="editor">
        <pre aria-hidden="true">{places}</pre>
        {Array.from(
          new Map(found.toReversed().map(([one, state]) => [lineOf(one), state])),
          ([line, state]) =>
            line === undefined ? null : (
              <i key={line} id={`line-${line}`} class={`is-${state}`} style={{ top: `${line - 1}lh` }} />
            ),
        )}
        <textarea
          ref={field}
          aria-label="Policy"
          aria-describedby="outcome"
          aria-invalid={(check?.issues.length ?? 0) > 0}
          wrap="off"
          spellcheck={false}
          autoComplete="off"
          autoCapitalize="off"
          rows={count + 1}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </div>
      {found.length > 0 && (
        <ul class="plain problems" aria-label="Problems and warnings">
          {found.map(([one, state], place) => {
            const line = lineOf(one)
            return (
              <li class="row" key={place}>
                <Mark state={state} word={state === "critical" ? "problem" : "warning"} />
                {line !== undefined && <QuietButton does={() => goTo(line)}>Line {line}</QuietButton>}
                <span class="subject">
                  {one.path === "" ? "The policy" : <code>{one.path}</code>} {one.message}
                </span>
              </li>
            )
          })}
        </ul>
      )}
      {(check?.issues.length ?? 0) > MOST_SHOWN && <p class="lead">And more.</p>}
    </>
  )
}
