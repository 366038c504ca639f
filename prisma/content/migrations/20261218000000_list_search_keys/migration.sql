-- The lists of posts are searched as `search` is (ADR 28): by one index of the words, the words of titles, and keys. The functions are the
-- same in content and orders.

-- Returns the words of a phrase at their places: the stems in this language, and what the language leaves out (stop words) as it is written.
CREATE FUNCTION "search_placed"("language" regconfig, "phrase" TEXT) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT BEGIN ATOMIC
    SELECT coalesce(string_agg('''' || replace(replace(w."lexeme", '\', '\\'), '''', '''''') || ''':' || w."place", ' '), '')::tsvector
    FROM (
        SELECT DISTINCT ON (p."place") p."place", u."lexeme"
        FROM (
            SELECT 1 AS "choice", s.* FROM unnest(to_tsvector("language", "phrase")) s
            UNION ALL SELECT 2, s.* FROM unnest(to_tsvector('simple'::regconfig, "phrase")) s
        ) u, unnest(u."positions") p("place")
        ORDER BY p."place", u."choice"
    ) w;
END;

-- Returns the query for a word or phrase in one language. Stop words of a phrase must occur; a stop word alone is an empty query.
CREATE FUNCTION "search_wording"("language" regconfig, "term" TEXT) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT CASE
        WHEN numnode(phraseto_tsquery('simple'::regconfig, "term")) IN (1, numnode(phraseto_tsquery("language", "term")))
        THEN phraseto_tsquery("language", "term")
        ELSE coalesce((
            SELECT string_agg('''' || replace(replace(w."lexeme", '\', '\\'), '''', '''''') || '''', ' <-> ' ORDER BY p."place")
            FROM unnest("search_placed"("language", "term")) w, unnest(w."positions") p("place")
        ), '')::tsquery
    END;
END;

-- Returns the query for a word or phrase, with its stems in every language; an empty query for stop words of the query's language. Languages
-- with the same stems are one branch of the query, because each branch is compared with every document.
CREATE OR REPLACE FUNCTION "search_term"("term" TEXT, "language" regconfig) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT CASE WHEN numnode(phraseto_tsquery("language", "term")) = 0 THEN phraseto_tsquery("language", "term") ELSE (
        SELECT string_agg(DISTINCT '(' || b."query"::text || ')', ' | ')::tsquery
        FROM unnest(ARRAY['simple', 'english', 'german', 'french', 'spanish', 'italian', 'portuguese']::regconfig[]) l("language"),
            "search_wording"(l."language", "term") b("query")
        WHERE numnode(b."query") > 0
    ) END;
END;

-- Returns the query for the pairs of words that each document with the phrase has; NULL when there is no such pair.
CREATE OR REPLACE FUNCTION "search_phrase"("phrase" TEXT) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT CASE WHEN bool_and(cardinality("pairs") > 0) THEN string_agg(DISTINCT '(' || array_to_string("pairs", ' & ') || ')', ' | ')::tsquery END
    FROM (
        SELECT "search_pairs"("search_placed"("language", "phrase")) AS "pairs"
        FROM unnest(ARRAY['simple', 'english', 'german', 'french', 'spanish', 'italian', 'portuguese']::regconfig[]) "language"
    ) "branches";
END;

-- Returns whether a table has a complete index with keys. Its definition is not read, because that fails while a table is being replaced.
CREATE FUNCTION "search_has_keys"("table" TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT EXISTS (
        SELECT FROM pg_index i JOIN pg_depend d ON d."classid" = 'pg_class'::regclass AND d."objid" = i."indexrelid"
        WHERE i."indrelid" = to_regclass(quote_ident("table")) AND i."indisvalid"
            AND d."refclassid" = 'pg_proc'::regclass AND d."refobjid" = 'search_keys'::regproc);
$$;

-- Returns the ids of rows of a table, at most `most`, that match. It reads the index for one period after the other, each of
-- them as long as it has to be for the rest by what the ones before had, so that it reads no more than it returns, or little. The table has
-- the columns "id", "createdAt" and "words", and may have an index with keys.
--   fields    the expressions that all match; the index is searched for the first, of which the others have all words
--   matching  what the fields match
--   indexed   what the index can find of it without words of which it would read too much; NULL when nothing is left
--   complete  what the index can find of it; NULL when it cannot find any
--   pairs     the pairs of words that each of the rows has; NULL when none is known
--   first     how many of the newest rows are in the first period
--   isSorted  whether the rows are the newest ones; otherwise, when more match, they may be any
CREATE FUNCTION "search_candidates"(
    "table" TEXT, "fields" TEXT[], "matching" tsquery, "indexed" tsquery, "complete" tsquery, "pairs" tsquery, "most" INT, "first" INT,
    "isSorted" BOOLEAN)
RETURNS SETOF TEXT LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET jit = off SET work_mem = '64MB' AS $$
DECLARE
    -- Rows that the index cannot tell apart are compared when they are at most so many times as many as the results.
    "farthest" CONSTANT INT := 5;
    -- Without keys in the index there is one period.
    "hasKeys" CONSTANT BOOLEAN := "search_has_keys"("table");
    "newest" TIMESTAMPTZ;
    "oldest" TIMESTAMPTZ;
    -- The period is from "since" to before "until"; NULL is no bound.
    "since" TIMESTAMPTZ;
    "until" TIMESTAMPTZ;
    "half" TIMESTAMPTZ;
    "length" INTERVAL;
    "factor" FLOAT;
    "words" tsquery;
    "periods" tsquery;
    "columns" TEXT;
    "matches" TEXT;
    "source" TEXT;
    "count" INT;
    "total" INT := 0;
BEGIN
    SELECT string_agg(format('%s AS "field%s"', f."expression", f."n"), ', '), string_agg(format('ts_match_vq(d."field%s", $5)', f."n"), ' AND ')
    INTO "columns", "matches" FROM unnest("fields") WITH ORDINALITY f("expression", "n");
    IF "hasKeys" THEN
        EXECUTE format('SELECT (SELECT max("createdAt") FROM %1$I), (SELECT min("createdAt") FROM %1$I),
            (SELECT "createdAt" FROM %1$I ORDER BY "createdAt" DESC OFFSET $1 LIMIT 1),
            (SELECT "createdAt" FROM %1$I ORDER BY "createdAt" DESC OFFSET $1 / 2 LIMIT 1)', "table")
        INTO "newest", "oldest", "since", "half" USING "first";
    END IF;
    -- The length of what has been searched, by the older half of the first period: the very newest may be far apart.
    "length" := greatest(interval '10 minutes', 2 * ("half" - "since"));
    LOOP
        IF "since" <= "oldest" THEN "since" := NULL; END IF;
        "words" := CASE WHEN NOT "hasKeys" THEN "matching" WHEN "since" IS NULL THEN "complete" ELSE "indexed" END;
        "periods" := CASE WHEN "hasKeys" THEN "search_between"("since", coalesce("until", "newest")) END;
        -- OFFSET 0 keeps PostgreSQL from any other plan than to read the index of words.
        "source" := format('FROM (SELECT "id", "createdAt", %s FROM %I', "columns", "table")
            || CASE WHEN "words" IS NULL THEN '' ELSE format(' WHERE %s @@ $1', "fields"[1]) END
            -- The index finds what the other fields exclude, too.
            || CASE WHEN strpos("words"::text, '!') > 0 AND cardinality("fields") > 1
                THEN (SELECT string_agg(format(' AND %s @@ $1', f), '') FROM unnest("fields"[2:]) f) ELSE '' END
            || CASE WHEN "words" IS NULL OR "periods" IS NULL THEN '' ELSE ' AND "search_keys"("words", "createdAt") @@ $2' END
            || CASE WHEN "words" IS NULL OR "pairs" IS NULL OR NOT "hasKeys" THEN '' ELSE ' AND "search_keys"("words", "createdAt") @@ $7' END
            || CASE WHEN "words" IS NULL THEN '' ELSE ' OFFSET 0' END || ') d WHERE d."createdAt" >= $3 AND d."createdAt" < $4';
        RETURN QUERY EXECUTE 'SELECT d."id"::text ' || "source" || ' AND ' || "matches"
            || CASE WHEN "isSorted" THEN ' ORDER BY d."createdAt" DESC, d."id" DESC' ELSE '' END || ' LIMIT $6'
            USING "words", "periods", coalesce("since", '-infinity'), coalesce("until", 'infinity'), "matching", "most" - "total", "pairs";
        GET DIAGNOSTICS "count" = ROW_COUNT;
        "total" := "total" + "count";
        EXIT WHEN "since" IS NULL OR "total" >= "most";
        IF "indexed" <> "complete" AND "total" * "farthest" < "most" THEN
            -- Either few rows have what the index finds, or few of those match: then it does not read too much of the other words.
            EXECUTE 'SELECT count(*) ' || "source" INTO "count" USING "words", "periods", "since", coalesce("until", 'infinity'), NULL::tsquery, 0, "pairs";
            IF "count" * "farthest" < "most" THEN "complete" := "indexed"; ELSE "indexed" := "complete"; END IF;
        END IF;
        "indexed" := coalesce("indexed", "complete");
        "until" := "since";
        "factor" := greatest(1, 1.25 * ("most" - "total") / nullif("total", 0));
        "since" := CASE WHEN "total" * CASE WHEN "indexed" = "complete" THEN "most" ELSE "farthest" END >= "most"
            THEN "until" - least("length" * "factor", "until" - "oldest") END;
        "length" := "length" * (1 + "factor");
    END LOOP;
END
$$;

-- For processes of the release before, until they are replaced.
CREATE OR REPLACE FUNCTION "search_newest"(
    "inTitles" BOOLEAN, "matching" tsquery, "indexed" tsquery, "complete" tsquery, "pairs" tsquery, "most" INT, "first" INT)
RETURNS SETOF TEXT LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT "search_candidates"('search_documents', CASE WHEN "inTitles" THEN ARRAY['"titleWords"', '"words"'] ELSE ARRAY['"words"'] END,
        "matching", "indexed", "complete", "pairs", "most", "first", true);
$$;

-- An index of posts that exist is created by the first content process that starts, without a lock that writes wait for: it takes minutes for
-- a million. Searches use the old indexes meanwhile.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM "posts") THEN
        DROP INDEX "posts_words_idx", "posts_title_words_idx";
        CREATE INDEX "posts_keys_idx" ON "posts" USING GIN ("words", ts_filter("words", '{a}'), "search_keys"("words", "createdAt"))
            WITH (gin_pending_list_limit = 64);
    END IF;
END
$$;

-- Every search reads the whole list of pending entries, which takes 10 ms for the 4 MB that it has by default.
DO $$
DECLARE
    "index" REGCLASS;
BEGIN
    FOR "index" IN SELECT "indexrelid" FROM pg_index WHERE "indrelid" = 'search_documents'::regclass AND "indexprs" IS NOT NULL LOOP
        EXECUTE format('ALTER INDEX %s SET (gin_pending_list_limit = 64)', "index");
    END LOOP;
END
$$;
