// The proof that the notifier does what receivers and operators rely on.
import { notifierSuite } from "tocsin/testing"
import { describe, it } from "vitest"
import { pager } from "./pager.ts"

notifierSuite({ describe, it }, { name: "pager", make: (address) => pager({ address }) })
