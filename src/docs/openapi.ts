import { toOpenAPISchema } from '@elysiajs/openapi/openapi'
import type { AnyElysia } from 'elysia'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'

/** The OpenAPI document of all routes, made from the same schemas that check requests and answers. */
export function openApiDocument(app: AnyElysia, config: Config) {
  const { paths, components } = toOpenAPISchema(app)
  return {
    openapi: '3.1.2',
    info: { title: 'Partner interface', version: packageJson.version, description: packageJson.description },
    servers: [{ url: config.publicUrl }],
    paths,
    components: {
      ...components,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}
