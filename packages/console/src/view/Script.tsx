import { type ReadonlySignal, signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { useLater } from "../state/useLater.ts"
import { QuietButton } from "./forms.tsx"
import { Empty } from "./states.tsx"

/** A script besides the first, which is loaded once something of it is to be shown. */
interface Script<Module> {
  readonly module: ReadonlySignal<Module | "loading" | "failed" | undefined>
  readonly load: () => void
}

export const scriptOf = <Module,>(read: () => Promise<Module>): Script<Module> => {
  const module = signal<Module | "loading" | "failed" | undefined>(undefined)
  const load = (): void => {
    if (module.peek() !== undefined && module.peek() !== "failed") return
    module.value = "loading"
    read().then(
      (loaded) => (module.value = loaded),
      () => (module.value = "failed"),
    )
  }
  return { module, load }
}

const AGAIN_MILLIS = 10_000

interface LoadedProps<Module> {
  readonly of: Script<Module>
  readonly draw: (module: Module) => ComponentChildren
}

export const Loaded = <Module extends object>({ of, draw }: LoadedProps<Module>) => {
  useEffect(of.load, [of])
  const module = of.module.value
  useLater(of.load, module === "failed" ? AGAIN_MILLIS : undefined, [module])
  if (typeof module === "object") return <>{draw(module)}</>
  return module === "failed" ? (
    <Empty title="This could not be loaded">
      <QuietButton does={of.load}>Try again</QuietButton>
    </Empty>
  ) : (
    <p class="lead">Loading…</p>
  )
}
