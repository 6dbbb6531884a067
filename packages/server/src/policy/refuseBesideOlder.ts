import * as Older from "@tocsin/core/usecases/refuseOlder"
import { StartFailure } from "../StartFailure.ts"

/** Refuses to start with a policy beside a server of an older version (docs/rules.md#older-versions). */
export const refuseBesideOlder = Older.refuseBesideOlder(
  new StartFailure({
    message:
      "a server of an older version runs on the same database and would not follow the policy: stop or upgrade that server first, or unset SERVICE_POLICY_FILE",
  }),
)
