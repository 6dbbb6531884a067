import { effect, signal, type Signal } from "@preact/signals"
import { token } from "../state/session.ts"
import { CopyText, QuietButton } from "./forms.tsx"

export interface Secret {
  readonly title: string
  readonly texts: ReadonlyArray<string>
}

/** A secret that stays, whatever its reader opens meanwhile, until they have copied it or sign out. */
export const keptSecret = (): Signal<Secret | undefined> => {
  const shown = signal<Secret | undefined>(undefined)
  effect(() => {
    if (token.value === "") shown.value = undefined
  })
  return shown
}

export const ShownOnce = ({ of: shown }: { readonly of: Signal<Secret | undefined> }) =>
  shown.value === undefined ? null : (
    <div class="secret" role="status">
      <p>
        <b>{shown.value.title}</b>. Copy it now: it is not shown again.
      </p>
      {shown.value.texts.map((text) => (
        <CopyText key={text} text={text} />
      ))}
      <QuietButton does={() => (shown.value = undefined)}>Done</QuietButton>
    </div>
  )
