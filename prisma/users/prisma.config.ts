/** Prisma's own tools (`prisma migrate …`) for the users database; the processes apply migrations themselves. */
import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
  datasource: { url: process.env['USERS_DATABASE_URL'] ?? '' },
});
