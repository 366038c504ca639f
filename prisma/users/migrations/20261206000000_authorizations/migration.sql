-- The access that accounts have given to OAuth clients: each grant with what people recognize it by.
CREATE VIEW "authorizations" AS
SELECT g."grantId" AS "id",
       g."accountId" AS "userId",
       c."id" AS "clientId",
       c."name" AS "clientName",
       array_remove(string_to_array(g."payload" -> 'openid' ->> 'scope', ' '), '') AS "scopes",
       date_trunc('second', g."createdAt") AS "createdAt",
       (SELECT date_trunc('second', max(u."createdAt")) FROM "oauth_records" u
        WHERE u."grantId" = g."grantId" AND u."kind" = 'RefreshToken') AS "lastUsedAt",
       date_trunc('second', g."expiresAt") AS "expiresAt"
FROM "oauth_records" g
JOIN "oauth_clients" c ON c."id" = g."payload" ->> 'clientId'
WHERE g."kind" = 'Grant' AND g."grantId" IS NOT NULL AND g."expiresAt" > now();
