/** Prisma's own tools (`prisma migrate …`) for the registry database; the processes apply migrations themselves. */
import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
  datasource: { url: process.env['REGISTRY_DATABASE_URL'] ?? '' },
});
