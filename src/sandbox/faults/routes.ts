import type { Access } from '../../http/access.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import { routes } from '../../http/route.ts'
import type { SandboxContext } from '../sandbox-context.ts'
import { findRules, replaceRules } from '../store.ts'
import { countedRule, type FaultRule } from './rule.ts'
import { faultsWrite, SandboxFaults, type SentRule } from './schema.ts'

/**
 * Routes for the rules that inject faults into a sandbox's requests and hints (decisions §22).
 *
 * @param operations returns the routes of the sandbox, such as `POST /sandbox/bookings`, by operation id
 */
export function faultRoutes(app: SandboxContext, operations: () => ReadonlyMap<string, string>) {
  const access: Access = { permission: 'any', environment: 'steers' }
  const show = async (sandboxId: number) => ({
    rules: ((await findRules(app.db, sandboxId))?.rules ?? []).map(serializeRule),
  })
  const body = faultsWrite((id) => operations().has(id))
  return routes(app, { prefix: '/faults', tags: ['Sandbox'] })
    .get(
      '',
      {
        access,
        response: { 200: Envelope(SandboxFaults) },
        detail: { operationId: 'listSandboxFaults', summary: 'List the fault rules of the sandbox' },
      },
      async (context) => ok(context, await show(context.caller.ownerId)),
    )
    .put(
      '',
      {
        access: { ...access, body: 'json' },
        body,
        current: ({ caller }) => show(caller.ownerId),
        response: { 200: Envelope(SandboxFaults) },
        detail: {
          operationId: 'setSandboxFaults',
          summary: 'Replace all fault rules of the sandbox',
        },
      },
      async (context) => {
        const rules = context.body.rules.map((sent) => toRule(sent, operations()))
        await replaceRules(app.db, context.caller.ownerId, rules)
        return ok(context, { rules: rules.map(serializeRule) })
      },
    )
    .delete(
      '',
      {
        access,
        response: { 200: Envelope(SandboxFaults) },
        detail: { operationId: 'clearSandboxFaults', summary: 'Remove all fault rules of the sandbox' },
      },
      async (context) => {
        await replaceRules(app.db, context.caller.ownerId, [])
        return ok(context, { rules: [] })
      },
    )
}

function toRule(sent: SentRule, operations: ReadonlyMap<string, string>): FaultRule {
  const operation = sent.operation ?? null
  return countedRule({
    fault: sent.fault,
    operation,
    route: operation === null ? null : (operations.get(operation) ?? null),
    event: sent.event ?? null,
    after: sent.after ?? 0,
    times: sent.times ?? 1,
    retry_after_seconds: sent.retry_after_seconds ?? 5,
    delay_milliseconds: sent.delay_milliseconds ?? 2000,
  })
}

function serializeRule({ route: _, lasts_milliseconds: __, until: ___, ...rule }: FaultRule) {
  return rule
}
