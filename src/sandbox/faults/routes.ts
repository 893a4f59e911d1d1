import { Elysia } from 'elysia'
import type { Access, CheckInput } from '../../http/access.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import type { SandboxContext } from '../context.ts'
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
  return new Elysia({ prefix: '/faults', tags: ['Sandbox'] })
    .use(guard(app))
    .get('', async (context) => ok(context, await show(context.caller.ownerId)), {
      access,
      response: { 200: Envelope(SandboxFaults) },
      detail: { operationId: 'listSandboxFaults', summary: 'List the fault rules of the sandbox' },
    })
    .put(
      '',
      async (context) => {
        const rules = context.body.rules.map((sent) => toRule(sent, operations()))
        await replaceRules(app.db, context.caller.ownerId, rules)
        return ok(context, { rules: rules.map(serializeRule) })
      },
      {
        access: { ...access, body: 'json', current: ({ caller }: CheckInput) => show(caller.ownerId) },
        body,
        response: { 200: Envelope(SandboxFaults) },
        detail: {
          operationId: 'setSandboxFaults',
          summary: 'Replace all fault rules of the sandbox',
        },
      },
    )
    .delete(
      '',
      async (context) => {
        await replaceRules(app.db, context.caller.ownerId, [])
        return ok(context, { rules: [] })
      },
      {
        access,
        response: { 200: Envelope(SandboxFaults) },
        detail: { operationId: 'clearSandboxFaults', summary: 'Remove all fault rules of the sandbox' },
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
