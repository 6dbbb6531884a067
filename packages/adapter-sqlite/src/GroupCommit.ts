import type { StorageError } from "@tocsin/core/ports/Storage"
import { Workspace } from "@tocsin/core/workspace/Workspace"
import { Effect } from "effect"
