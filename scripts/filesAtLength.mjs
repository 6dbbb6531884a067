// Plain JavaScript, for any Node.js from 20 on.
import process from "node:process"

/**
 * Files that `npm test` leaves to `npm run test:long`, as globs. Each needs much processor time, for browsers, processes,
 * databases or compilers, and proves with them what cheaper tests prove of the same code (CONTRIBUTING.md, "Tests at
 * length").
 *
 * @type {ReadonlyArray<string>}
 */
export const FILES_AT_LENGTH = [
  // Installations of tarballs and packages, and programs of others beside a server.
  "test/deploy/agentInstall.test.ts",
  "test/deploy/agentPackage.test.ts",
  "test/deploy/highAvailability.test.ts",
  "test/deploy/image.test.ts",
  "test/examples/*.test.ts",
  "test/library/examples.test.ts",
  "test/library/hosts.test.ts",
  "test/packages/packages.test.ts",
  "test/proxies/*.test.ts",
  "test/senders/bounces.test.ts",
  "test/senders/documented.test.ts",
  "test/senders/mailPrograms.test.ts",
  "test/senders/mails.test.ts",
  "test/senders/pagers.test.ts",
  "test/senders/senders.test.ts",
  // Commands and programs of the documentation.
  "test/docs/codeBlocks.test.ts",
  // Processes: crashes, replicas, failover, settings; agents beside them.
  "packages/agent/test/agentSuite.test.ts",
  "packages/agent/test/checks/plugins.test.ts",
  "packages/agent/test/clock/Clock.test.ts",
  "packages/agent/test/commands/report.test.ts",
  "packages/agent/test/commands/run.test.ts",
  "packages/agent/test/commands/try.test.ts",
  "packages/agent/test/jobs/handOver.test.ts",
  "packages/agent/test/main.test.ts",
  "packages/agent/test/probes/connections.test.ts",
  "test/agent/*.test.ts",
  "test/failover/*.test.ts",
  "test/faults/faults.test.ts",
  "test/observability/telemetry.test.ts",
  "test/operations/operations.test.ts",
  "test/processes/everyReceiver.test.ts",
  "test/processes/extension*.test.ts",
  "test/processes/failedSync.test.ts",
  "test/processes/policy.test.ts",
  "test/processes/postgresAway.test.ts",
  "test/processes/replicas.test.ts",
  "test/processes/senderCrash.test.ts",
  "test/processes/startFailures.test.ts",
  "test/processes/startTogether.test.ts",
  "test/processes/stop.test.ts",
  "test/processes/storedPolicy.test.ts",
  "test/processes/storedSecrets.test.ts",
  "test/processes/systemdNotices.test.ts",
  "test/processes/threadPool.test.ts",
  "test/processes/watches.test.ts",
  // Commands beside a running server, and against each storage.
  "test/cli/backup.test.ts",
  "test/cli/besideServer.test.ts",
  "test/cli/copy.test.ts",
  "test/cli/doctor.test.ts",
  "test/cli/exits.test.ts",
  "test/cli/incidentLog.test.ts",
  "test/cli/playedIntegrations.test.ts",
  // Pages, messages and acts in browsers; others are in each run.
  "test/browsers/messages.test.ts",
  "test/browsers/ringing.test.ts",
  "test/browsers/senses.test.ts",
  "test/console/checks.test.ts",
  "test/console/current.test.ts",
  "test/console/enrolment.test.ts",
  "test/console/exports.test.ts",
  "test/console/frame.test.ts",
  "test/console/frames.test.ts",
  "test/console/invitation.test.ts",
  "test/console/keptMails.test.ts",
  "test/console/keys.test.ts",
  "test/console/lists.test.ts",
  "test/console/longLists.test.ts",
  "test/console/look.test.ts",
  "test/console/newWatch.test.ts",
  "test/console/outdated.test.ts",
  "test/console/pages.test.ts",
  "test/console/policy.test.ts",
  "test/console/policyForms.test.ts",
  "test/console/receiverForms.test.ts",
  "test/console/receivers.test.ts",
  "test/console/report.test.ts",
  "test/console/room.test.ts",
  "test/console/search.test.ts",
  "test/console/signIn.test.ts",
  "test/console/silences.test.ts",
  "test/console/silent.test.ts",
  "test/console/start.test.ts",
  "test/console/wall.test.ts",
  "test/console/watches.test.ts",
  "test/console/watching.test.ts",
  // Storages in other ways than by default, and costs of their statements.
  "packages/adapter-pg/test/cache/cachedDecisions.test.ts",
  "packages/adapter-pg/test/cost.test.ts",
  "packages/adapter-pg/test/lists/pageStatement.test.ts",
  "packages/adapter-sqlite/test/lists/pageReads.test.ts",
  "packages/adapter-sqlite/test/log/powerLoss.test.ts",
  "test/depth/plans.test.ts",
  "test/library/keyValueSuite.test.ts",
  "test/storage/damagedValues.test.ts",
  "test/storage/pgBouncer.test.ts",
  "test/storage/pgUncached.test.ts",
  // More stories of the same kind.
  "bench/test/memory.test.ts",
  "test/delivery/peopleScenario.test.ts",
  "test/firings/beforeEpisodes.test.ts",
  "test/firings/handoverCases.test.ts",
  "test/firings/stories[34].test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/library/delivery.test.ts",
  "test/library/logFile.test.ts",
  "test/openapi/answers.test.ts",
]

/** Those that this run leaves out: `npm test` says so, unless its caller names files or titles, or TEST_FILES=all. */
export const filesLeftOut = () => (process.env["TEST_FILES"] === "sample" ? FILES_AT_LENGTH : [])

/** A line for people about them. */
export const lineOfFilesLeftOut = () =>
  `left out: ${FILES_AT_LENGTH.length} files that take long, npm run test:long runs them (scripts/filesAtLength.mjs)\n`
