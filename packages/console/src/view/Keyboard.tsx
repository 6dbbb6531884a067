import { useEffect, useRef } from "preact/hooks"
import { type KeyCommand, nextKey } from "../state/keys.ts"
import { go, route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"

export type PageCommand = Exclude<KeyCommand["command"], "go" | "help" | "filter"> | "selectAll"
type Handler = (command: PageCommand) => void

/** Carries out commands of keys on the page that is open. */
let handler: { readonly current: Handler } | undefined

export const useKeys = (handle: Handler): void => {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => {
    handler = latest
    return () => {
      if (handler === latest) handler = undefined
    }
  }, [])
}

export const carryOut = (command: PageCommand): void => handler?.current(command)

/** The element that a key leads to: the one of a page whose address asks for it by this name. */
export const useWanted = <Wanted extends HTMLElement>(name: string, isHere = true) => {
  const element = useRef<Wanted>(null)
  const isWanted = isHere && route.value.parameters["focus"] === name
  useEffect(() => {
    if (!isWanted) return
    element.current?.focus()
    // So that the same key leads here again.
    setParameters({ focus: "" })
  }, [isWanted])
  return element
}

/** Elements that take keys as text. A box only takes the space bar, which is no command. */
const TYPING = "input:not([type=checkbox]), select, textarea, [contenteditable]"

/** The target of keys in a row: the link to its page or else its box or its first button, if any. */
export const linkOf = (row: Element): HTMLElement | null =>
  row.querySelector<HTMLElement>("a.main") ?? row.querySelector<HTMLElement>("input, button")

const moveFocus = (step: 1 | -1): void => {
  const links = Array.from(document.querySelectorAll(":is(.rows, .part) li")).flatMap(
    (row) => linkOf(row) ?? [],
  )
  const at = links.findIndex((link) => link.closest("li")?.contains(document.activeElement) === true)
  const next = links[at === -1 ? 0 : at + step]
  next?.focus()
  next?.scrollIntoView({ block: "nearest" })
}

/** The panel with the meanings of keys. */
export const HELP = "keys"

export const openPanel = () => document.querySelector<HTMLElement>(":popover-open")

export const useKeyboard = (): void => {
  const afterG = useRef(false)
  useEffect(() => {
    const follow = (does: KeyCommand, event: KeyboardEvent): void => {
      if (does.command === "go") return go(linkTo(does.page))
      if (does.command === "filter") {
        const field = document.querySelector<HTMLElement>("[type=search]")
        if (field !== null) event.preventDefault()
        return field?.focus()
      }
      if (does.command === "help") return void document.getElementById(HELP)?.togglePopover()
      if (does.command === "down") return moveFocus(1)
      if (does.command === "up") return moveFocus(-1)
      // Enter on a link or a button does that already.
      if (does.command === "open") return
      event.preventDefault()
      carryOut(does.command)
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      // A dialog takes all keys: its Escape must not also leave the page, nor a letter act behind it.
      if (document.querySelector("dialog[open]") !== null) return
      // The browser closes the panel.
      if (event.key === "Escape" && openPanel() !== null) return
      const { target } = event
      if (target instanceof HTMLElement && target.matches(TYPING)) {
        if (event.key === "Escape") target.blur()
        return
      }
      const next = nextKey(afterG.current, event.key)
      afterG.current = next.afterG
      if (next.does !== undefined) follow(next.does, event)
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [])
}
