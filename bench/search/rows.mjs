/** Fills the content database with generated posts whose words have the frequencies of a language (Zipf's law), inside PostgreSQL. */

// cspell:ignore bdfghjklmnprtvwz bdfgklmnprtvz

/** Different words of all posts. */
export const WORDS = 50_000;
const BODY_WORDS = 40;

/** Syllables, so that words have prefixes in common; no word is a stop word or a stem of another. */
const SYLLABLES = {
  first: [
    'bal',
    'cor',
    'dim',
    'fen',
    'gar',
    'hol',
    'jun',
    'kes',
    'lam',
    'mor',
    'nel',
    'pir',
    'qua',
    'rus',
    'sab',
    'tol',
    'ulm',
    'vex',
    'wan',
    'zor',
  ],
  second: Array.from('bdfghjklmnprtvwz')
    .flatMap((consonant) => ['a', 'o', 'u'].map((vowel) => consonant + vowel))
    .concat(['xa', 'xo']),
  third: Array.from('bdfgklmnprtvz')
    .flatMap((consonant) => ['ak', 'on', 'ur', 'im'].map((end) => consonant + end))
    .slice(0, 50),
};

/** Returns the word of this rank, 1 for the most frequent. Word `r` is about `1 / (r · ln WORDS)` of all words. */
export function wordOf(rank) {
  const { first, second, third } = SYLLABLES;
  const i = (rank * 7919) % WORDS;
  return first[i % 20] + second[Math.floor(i / 20) % 50] + third[Math.floor(i / 1000) % 50];
}

const [FIRST, SECOND, THIRD] = [SYLLABLES.first, SYLLABLES.second, SYLLABLES.third].map(
  (list) => `ARRAY[${list.map((each) => `'${each}'`).join(', ')}]`,
);
const wordAt = (at) => `(${FIRST})[${at} % 20 + 1] || (${SECOND})[(${at} / 20) % 50 + 1] || (${THIRD})[(${at} / 1000) % 50 + 1]`;
const ALL_WORDS = `SELECT unnest(ARRAY['the', 'and', 'of', 'to']) UNION SELECT ${wordAt('at')} FROM (SELECT (rank::bigint * 7919 % ${String(WORDS)})::int AS at FROM generate_series(1, ${String(WORDS)}) rank) r`;

/** A word is drawn by its rank: `exp(random() * ln(n))` has the density 1 / rank. `i`, the number of the row, makes it another draw for each row. */
const draw = (count) => `(SELECT string_agg(${wordAt('d.at')}, ' ')
  FROM (SELECT (least(${String(WORDS)}, floor(exp(random() * ln(${String(WORDS)}::float8)))::bigint) * 7919 % ${String(WORDS)})::int + 0 * i AS at
    FROM generate_series(1, ${String(count)}) n) d)`;

/** Inserts published posts and their documents in the index. */
export async function fillContent(sql, rows) {
  await sql('ALTER TABLE posts DISABLE TRIGGER USER');
  await withoutIndexes(sql, 'posts', () =>
    sql(`INSERT INTO posts (id, "authorId", title, body, status, "createdAt", "updatedAt")
      SELECT 'pst_' || lpad(i::text, 26, '0'), 'usr_' || lpad((i % ${String(Math.ceil(rows / 100))})::text, 26, '0'), ${draw(5)},
        ${draw(BODY_WORDS)} || ' the and of to', 'PUBLISHED', timestamptz '2020-01-01' + i * interval '1 minute', timestamptz '2020-01-01' + i * interval '1 minute'
      FROM generate_series(1, ${String(rows)}) i`),
  );
  await sql('ALTER TABLE posts ENABLE TRIGGER USER');
  await withoutIndexes(sql, 'search_documents', () =>
    sql(`INSERT INTO search_documents (id, type, words, "createdAt")
      SELECT id, 'POST', words || array_to_tsvector(ARRAY['$POST']), "createdAt" FROM posts`),
  );
  await sql(`INSERT INTO search_words ${ALL_WORDS} ON CONFLICT DO NOTHING`);
  await sql('UPDATE search_builds SET "builtAt" = clock_timestamp()');
  await sql('VACUUM ANALYZE');
}

/** Inserts products. */
export async function fillOrders(sql, rows) {
  await sql('ALTER TABLE products DISABLE TRIGGER USER');
  await withoutIndexes(sql, 'products', () =>
    sql(`INSERT INTO products (name, description, category, price, currency, stock)
      SELECT ${draw(5)}, ${draw(BODY_WORDS)} || ' the and of to', 'tools', i % 10000 + 1, 'USD', i % 100 FROM generate_series(1, ${String(rows)}) i`),
  );
  await sql('ALTER TABLE products ENABLE TRIGGER USER');
  await sql(`INSERT INTO search_words ${ALL_WORDS} ON CONFLICT DO NOTHING`);
  await sql('VACUUM ANALYZE');
}

/** Drops the indexes of a table but its key, calls `load`, and creates them again, which is faster. */
async function withoutIndexes(sql, table, load) {
  const indexes = await sql(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
     WHERE i.indrelid = '${table}'::regclass AND NOT i.indisprimary`,
  );
  for (const { name } of indexes) await sql(`DROP INDEX ${name}`);
  await load();
  for (const { definition } of indexes) await sql(definition);
}
