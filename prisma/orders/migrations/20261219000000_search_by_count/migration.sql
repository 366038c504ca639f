-- Searches whose words are much rarer, or much more frequent, in the newest rows than in older ones, and tables whose rows are far apart in
-- one year and of the same hour in another (ADR 28). The function is the same in content and orders.

-- Returns times of rows of a table with about as many rows between any two of them; none before the table was analysed.
CREATE FUNCTION "search_times"("table" TEXT) RETURNS SETOF TIMESTAMPTZ LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT unnest(s.histogram_bounds::text::timestamptz[])
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = 'createdAt'
    WHERE c.oid = to_regclass(quote_ident("table"));
$$;

-- Returns the ids of rows of a table, at most `most`, that match. It reads the index for one period after the other. Each of them has as many
-- rows as it has to have for the rest by what the ones before had, so that it reads no more than it returns, or little; rows are counted
-- because their times say nothing about their number. The table has the columns "id", "createdAt" and "words", an index of times, and may
-- have an index with keys.
--   fields    the expressions that all match; the index is searched for the first, of which the others have all words
--   matching  what the fields match
--   indexed   what the index can find of it without words of which it would read too much; NULL when nothing is left
--   complete  what the index can find of it; NULL when it cannot find any
--   likely    what the index can find of it by the words of public documents; NULL when these are not needed, or too many. Rows that have
--             nothing of it and are not in the first period are read last, when the others are too few
--   pairs     the pairs of words that each of the rows has; NULL when none is known
--   first     how many of the newest rows are in the first period; an eighth of them when there are likely words
--   isSorted  whether the rows are the newest ones; otherwise, when more match, they may be any
CREATE FUNCTION "search_candidates"(
    "table" TEXT, "fields" TEXT[], "matching" tsquery, "indexed" tsquery, "complete" tsquery, "likely" tsquery, "pairs" tsquery, "most" INT,
    "first" INT, "isSorted" BOOLEAN)
RETURNS SETOF TEXT LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 SET jit = off SET work_mem = '64MB' AS $$
DECLARE
    -- Rows that the index cannot tell apart are compared when they are at most so many times as many as the results.
    "farthest" CONSTANT INT := 5;
    -- A period has at most so many times as many rows as all before it: words may be rare in the newest rows only.
    "growth" CONSTANT INT := 5;
    -- So many rows are counted. More are estimated by the statistics of their times, with so many rows between two of them.
    "counted" CONSTANT INT := 16384;
    "share" CONSTANT FLOAT := (SELECT greatest(1, c.reltuples) FROM pg_class c WHERE c.oid = to_regclass(quote_ident("table")))
        / greatest(1, (SELECT count(*) - 1 FROM "search_times"("table")));
    -- Without keys in the index there is one period.
    "hasKeys" CONSTANT BOOLEAN := "search_has_keys"("table");
    "newest" TIMESTAMPTZ;
    "oldest" TIMESTAMPTZ;
    -- The period is from "since" to before "until"; NULL is no bound.
    "since" TIMESTAMPTZ;
    "until" TIMESTAMPTZ;
    -- The end of the first period.
    "rest" TIMESTAMPTZ;
    "isRest" BOOLEAN := false;
    -- The rows of the period, and of those before.
    "rows" FLOAT;
    "before" FLOAT := 0;
    "words" tsquery;
    "periods" tsquery;
    "columns" TEXT;
    "matches" TEXT;
    "source" TEXT;
    "count" INT;
    "total" INT := 0;
BEGIN
    IF numnode("likely") = 0 THEN "likely" := NULL; END IF;
    "rows" := CASE WHEN "likely" IS NULL THEN "first" ELSE greatest(1, "first" / 8) END;
    SELECT string_agg(format('%s AS "field%s"', f."expression", f."n"), ', '), string_agg(format('ts_match_vq(d."field%s", $5)', f."n"), ' AND ')
    INTO "columns", "matches" FROM unnest("fields") WITH ORDINALITY f("expression", "n");
    IF "hasKeys" THEN
        EXECUTE format('SELECT max("createdAt"), min("createdAt") FROM %I', "table") INTO "newest", "oldest";
    END IF;
    LOOP
        IF "hasKeys" AND NOT "isRest" THEN
            IF "rows" <= "counted" THEN
                EXECUTE format('SELECT "createdAt" FROM %I WHERE "createdAt" < $1 ORDER BY "createdAt" DESC OFFSET $2 LIMIT 1', "table")
                INTO "since" USING coalesce("until", 'infinity'), "rows"::int;
            ELSE
                "since" := (SELECT b FROM "search_times"("table") b WHERE b < coalesce("until", 'infinity') ORDER BY b DESC
                    OFFSET floor("rows" / "share") LIMIT 1);
            END IF;
            IF "since" <= "oldest" THEN "since" := NULL; END IF;
        END IF;
        "words" := CASE WHEN NOT "hasKeys" THEN "matching" WHEN "isRest" THEN "complete" WHEN "before" > 0 AND "likely" IS NOT NULL THEN "likely"
            WHEN "since" IS NULL THEN "complete" ELSE "indexed" END;
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
            || CASE WHEN "isRest" THEN ' AND NOT ts_match_vq(d."field1", $8)' ELSE '' END
            || CASE WHEN "isSorted" THEN ' ORDER BY d."createdAt" DESC, d."id" DESC' ELSE '' END || ' LIMIT $6'
            USING "words", "periods", coalesce("since", '-infinity'), coalesce("until", 'infinity'), "matching", "most" - "total", "pairs", "likely";
        GET DIAGNOSTICS "count" = ROW_COUNT;
        "total" := "total" + "count";
        EXIT WHEN "isRest" OR "total" >= "most";
        IF "since" IS NULL THEN
            EXIT WHEN "likely" IS NULL OR "rest" IS NULL;
            "isRest" := true;
            "until" := "rest";
            CONTINUE;
        END IF;
        IF "indexed" <> "complete" AND "total" * "farthest" < "most" THEN
            -- Either few rows have what the index finds, or few of those match: then it does not read too much of the other words.
            EXECUTE 'SELECT count(*) ' || "source" INTO "count" USING "words", "periods", "since", coalesce("until", 'infinity'), NULL::tsquery, 0, "pairs";
            IF "count" * "farthest" < (CASE WHEN "likely" IS NULL THEN "most" ELSE "most" / 8 END) THEN "complete" := "indexed"; ELSE "indexed" := "complete"; END IF;
        END IF;
        "indexed" := coalesce("indexed", "complete");
        "until" := "since";
        "rest" := coalesce("rest", "until");
        "before" := "before" + "rows";
        "rows" := "before" * greatest(0.5, least("growth", 1.25 * ("most" - "total") / nullif("total", 0)));
    END LOOP;
END
$$;

-- For processes of the release before, until they are replaced.
CREATE OR REPLACE FUNCTION "search_candidates"(
    "table" TEXT, "fields" TEXT[], "matching" tsquery, "indexed" tsquery, "complete" tsquery, "pairs" tsquery, "most" INT, "first" INT,
    "isSorted" BOOLEAN)
RETURNS SETOF TEXT LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT "search_candidates"("table", "fields", "matching", "indexed", "complete", NULL::tsquery, "pairs", "most", "first", "isSorted");
$$;
