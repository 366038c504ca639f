-- Searches in bounded time, whatever the words (ADR 28): the index of the documents also has the time and the pairs of words of each.

-- Returns a key for each pair of neighbouring words: one of 65,536, so that an index of them stays small.
CREATE FUNCTION "search_pairs"("words" tsvector) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT BEGIN ATOMIC
    WITH "placed" AS MATERIALIZED (SELECT u."lexeme", p."place" FROM unnest("words") u, unnest(u."positions") p("place"))
    SELECT coalesce(array_agg(DISTINCT 'p' || left(encode(sha256(convert_to(a."lexeme" || ' ' || b."lexeme", 'UTF8')), 'hex'), 4)), '{}')
    FROM "placed" a JOIN "placed" b ON b."place" = a."place" + 1;
END;

-- Returns the keys of the periods in which a time is: 8 minutes, and each next one 8 times as long, up to 4 years.
CREATE FUNCTION "search_periods"("time" TIMESTAMPTZ) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT BEGIN ATOMIC
    SELECT array_agg(chr(96 + "level") || floor(extract(epoch FROM "time") / 8 ^ "level")::bigint) FROM generate_series(3, 9) "level";
END;

-- Returns the keys of a document. Neither has a position, so that PostgreSQL need not compare documents that the index found.
CREATE FUNCTION "search_keys"("words" tsvector, "time" TIMESTAMPTZ) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT array_to_tsvector("search_pairs"("words") || "search_periods"("time"));
END;

-- Returns the query for the periods from one time to the other: the longest that lie between them, and shorter ones up to both ends.
CREATE FUNCTION "search_between"("since" TIMESTAMPTZ, "until" TIMESTAMPTZ) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
DECLARE
    "first" BIGINT := floor(extract(epoch FROM "since") / 8 ^ 3);
    "last" BIGINT := floor(extract(epoch FROM "until") / 8 ^ 3);
    "keys" TEXT[] := '{}';
    "name" TEXT;
BEGIN
    FOR "level" IN 3..9 LOOP
        "name" := chr(96 + "level");
        WHILE "first" <= "last" AND ("first" & 7 <> 0 OR "level" = 9) LOOP
            "keys" := "keys" || ("name" || "first");
            "first" := "first" + 1;
        END LOOP;
        WHILE "first" <= "last" AND "last" & 7 <> 7 LOOP
            "keys" := "keys" || ("name" || "last");
            "last" := "last" - 1;
        END LOOP;
        EXIT WHEN "first" > "last";
        "first" := "first" >> 3;
        "last" := "last" >> 3;
    END LOOP;
    RETURN array_to_string("keys", ' | ')::tsquery;
END
$$;

-- Returns the query for the pairs of words that each document with the phrase has; NULL when there is no such pair.
CREATE FUNCTION "search_phrase"("phrase" TEXT) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT CASE WHEN bool_and(cardinality("pairs") > 0) THEN string_agg(DISTINCT '(' || array_to_string("pairs", ' & ') || ')', ' | ')::tsquery END
    FROM (
        SELECT "words", "search_pairs"("words") AS "pairs"
        FROM unnest(ARRAY['simple', 'english', 'german', 'french', 'spanish', 'italian', 'portuguese']::regconfig[]) "language",
            to_tsvector("language", "phrase") "words"
    ) "branches" WHERE length("words") > 0;
END;

-- Returns a query without the distances of words: what matches the given one, and more. Lexemes contain no spaces.
CREATE FUNCTION "search_loosened"("query" tsquery) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT BEGIN ATOMIC
    SELECT regexp_replace("query"::text, ' <(-|\d+)> ', ' & ', 'g')::tsquery;
END;

-- Returns the query for documents without a word; an empty one for a phrase, of which documents may have the words.
CREATE FUNCTION "search_without"("query" tsquery) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT BEGIN ATOMIC
    SELECT CASE WHEN strpos("query"::text, ' <') > 0 THEN ''::tsquery ELSE !! "query" END;
END;

-- Returns the query for both, either of which may be NULL: that is no condition. An empty query is none either.
CREATE FUNCTION "search_both"("left" tsquery, "right" tsquery) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE BEGIN ATOMIC
    SELECT coalesce(l && r, l, r)
    FROM (SELECT CASE WHEN numnode("left") > 0 THEN "left" END AS l, CASE WHEN numnode("right") > 0 THEN "right" END AS r) "queries";
END;

-- Returns the query for the words of documents that begin with this one, of which an index reads less than of a prefix; NULL when they are
-- more than `most`, or no single word.
CREATE FUNCTION "search_completions"("term" TEXT, "most" INT) RETURNS tsquery LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
    "prefix" TEXT := array_to_string(tsvector_to_array(to_tsvector('simple'::regconfig, "term")), ' ');
    "found" TEXT[];
BEGIN
    IF "prefix" = '' THEN RETURN ''::tsquery; END IF;
    IF strpos("prefix", ' ') > 0 THEN RETURN NULL; END IF;
    "found" := ARRAY(
        SELECT "word" FROM "search_words" WHERE "word" >= "prefix" AND "word" < "prefix" || chr(1114111) ORDER BY "word" LIMIT "most" + 1);
    IF cardinality("found") > "most" THEN RETURN NULL; END IF;
    RETURN coalesce((SELECT string_agg('''' || replace(replace(w, '\', '\\'), '''', '''''') || '''', ' | ') FROM unnest("found") w), '')::tsquery;
END
$$;

-- Returns whether the index of the documents that are searched has keys: one from before has none until it is built anew. Keys are the only
-- expression of an index. Its definition is not read, because that fails while a table is being replaced by a new one.
CREATE FUNCTION "search_has_keys"() RETURNS BOOLEAN LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM pg_index WHERE "indrelid" = 'search_documents'::regclass AND "indexprs" IS NOT NULL);
$$;

-- Returns the newest documents, at most `most`, that match in their titles or at all. It reads the index for one period after the other,
-- each of them as long as it has to be for the rest by what the ones before had, so that it reads no more than it returns, or little.
--   matching  what the documents match
--   indexed   what the index can find of it without words of which it would read too much; NULL when nothing is left
--   complete  what the index can find of it; NULL when it cannot find any
--   pairs     the pairs of words that each of the documents has; NULL when none is known
--   first     how many of the newest documents are in the first period
CREATE FUNCTION "search_newest"(
    "inTitles" BOOLEAN, "matching" tsquery, "indexed" tsquery, "complete" tsquery, "pairs" tsquery, "most" INT, "first" INT)
RETURNS SETOF TEXT LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET work_mem = '64MB' AS $$
DECLARE
    -- Documents that the index cannot tell apart are compared when they are at most so many times as many as the results.
    "farthest" CONSTANT INT := 5;
    "newest" CONSTANT TIMESTAMPTZ := (SELECT max("createdAt") FROM "search_documents");
    "oldest" CONSTANT TIMESTAMPTZ := (SELECT min("createdAt") FROM "search_documents");
    -- The period is from "since" to before "until"; NULL is no bound. Without keys in the index there is one period.
    "hasKeys" CONSTANT BOOLEAN := "search_has_keys"();
    "since" TIMESTAMPTZ := CASE WHEN "hasKeys" THEN
        (SELECT d."createdAt" FROM "search_documents" d ORDER BY d."createdAt" DESC OFFSET "first" LIMIT 1) END;
    "until" TIMESTAMPTZ;
    -- The length of what has been searched, by the older half of the first one: the very newest may be far apart.
    "length" INTERVAL := greatest(interval '10 minutes', 2 * (
        (SELECT d."createdAt" FROM "search_documents" d ORDER BY d."createdAt" DESC OFFSET "first" / 2 LIMIT 1) - "since"));
    "factor" FLOAT;
    "words" tsquery;
    "periods" tsquery;
    "source" TEXT;
    "count" INT;
    "total" INT := 0;
BEGIN
    LOOP
        IF "since" <= "oldest" THEN "since" := NULL; END IF;
        "words" := CASE WHEN NOT "hasKeys" THEN "matching" WHEN "since" IS NULL THEN "complete" ELSE "indexed" END;
        "periods" := CASE WHEN "hasKeys" THEN "search_between"("since", coalesce("until", "newest")) END;
        -- OFFSET 0 keeps PostgreSQL from any other plan than to read the index of words.
        "source" := format('FROM (SELECT "id", "createdAt", "words", "titleWords" FROM "search_documents"'
            || CASE WHEN "words" IS NULL THEN '' ELSE ' WHERE %I @@ $1' END
            -- The index finds what bodies exclude, too.
            || CASE WHEN "inTitles" AND strpos("words"::text, '!') > 0 THEN ' AND "words" @@ $1' ELSE '' END
            || CASE WHEN "words" IS NULL OR "periods" IS NULL THEN '' ELSE ' AND "search_keys"("words", "createdAt") @@ $2' END
            || CASE WHEN "words" IS NULL OR "pairs" IS NULL OR NOT "hasKeys" THEN '' ELSE ' AND "search_keys"("words", "createdAt") @@ $7' END
            || CASE WHEN "words" IS NULL THEN '' ELSE ' OFFSET 0' END || ') d WHERE d."createdAt" >= $3 AND d."createdAt" < $4',
            CASE WHEN "inTitles" THEN 'titleWords' ELSE 'words' END);
        RETURN QUERY EXECUTE 'SELECT d."id" ' || "source" || ' AND ts_match_vq(d."words", $5)'
            -- A title does not have what is excluded, but the body may.
            || CASE WHEN "inTitles" THEN ' AND ts_match_vq(d."titleWords", $5)' ELSE '' END
            || ' ORDER BY d."createdAt" DESC, d."id" DESC LIMIT $6'
            USING "words", "periods", coalesce("since", '-infinity'), coalesce("until", 'infinity'), "matching", "most" - "total", "pairs";
        GET DIAGNOSTICS "count" = ROW_COUNT;
        "total" := "total" + "count";
        EXIT WHEN "since" IS NULL OR "total" >= "most";
        IF "indexed" <> "complete" AND "total" * "farthest" < "most" THEN
            EXECUTE 'SELECT count(*) ' || "source" INTO "count" USING "words", "periods", "since", coalesce("until", 'infinity'), NULL::tsquery, 0, "pairs";
            IF "count" * "farthest" < "most" THEN "complete" := "indexed"; END IF;
        END IF;
        "until" := "since";
        "factor" := greatest(1, 1.25 * ("most" - "total") / nullif("total", 0));
        "since" := CASE WHEN "total" * CASE WHEN "indexed" = "complete" THEN "most" ELSE "farthest" END >= "most"
            THEN "until" - least("length" * "factor", "until" - "oldest") END;
        "length" := "length" * (1 + "factor");
    END LOOP;
END
$$;

-- An index with documents is not changed here, because that takes minutes for a million: a content process builds a new one when it starts,
-- and searches use the old one meanwhile.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM "search_documents") THEN
        DROP INDEX "search_documents_words_idx", "search_documents_titleWords_idx";
        CREATE INDEX "search_documents_keys_idx" ON "search_documents" USING GIN ("words", "titleWords", "search_keys"("words", "createdAt"));
    END IF;
END
$$;
