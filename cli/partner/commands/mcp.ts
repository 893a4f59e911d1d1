import { command, flag } from '../../shared/command.ts'
import { sandboxArgs } from '../client.ts'

export const mcp = command({
  examples: ['partnerctl mcp', 'partnerctl mcp --live-reads'],
  args: {
    'live-reads': flag('Let the agent also read live data, which it can never change'),
    ...sandboxArgs,
  },
  whyNoJson: 'Standard output is for MCP messages alone: leave out --json',
  async run({ args }) {
    // Loaded on demand, because only this command needs the packages that the module imports.
    const { serveAgent } = await import('../mcp/server.ts')
    await serveAgent(args, args['live-reads'] ?? false)
  },
})
