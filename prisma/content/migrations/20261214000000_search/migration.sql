-- Full-text search (ADR 28). The functions are the same in content and orders.

-- Returns the language of a document by its words: that of which most of the frequent words occur; English when fewer than two do.
CREATE FUNCTION "search_language"("words" tsvector) RETURNS regconfig LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    "all" INT := length("words");
    "en" INT := "all" - length(ts_delete("words", ARRAY['the', 'and', 'of', 'to', 'is', 'with', 'for', 'that', 'this', 'it', 'are', 'you']));
    "de" INT := "all" - length(ts_delete("words", ARRAY['der', 'und', 'die', 'das', 'ist', 'nicht', 'ein', 'eine', 'mit', 'von', 'den', 'für']));
    "fr" INT := "all" - length(ts_delete("words", ARRAY['le', 'et', 'les', 'des', 'est', 'une', 'dans', 'pour', 'du', 'pas', 'qui', 'sur']));
    "es" INT := "all" - length(ts_delete("words", ARRAY['el', 'y', 'los', 'las', 'es', 'una', 'en', 'por', 'del', 'con', 'pero', 'muy']));
    "it" INT := "all" - length(ts_delete("words", ARRAY['il', 'e', 'gli', 'di', 'è', 'che', 'della', 'per', 'non', 'sono', 'nel', 'più']));
    "pt" INT := "all" - length(ts_delete("words", ARRAY['o', 'e', 'os', 'do', 'da', 'é', 'uma', 'em', 'não', 'com', 'são', 'mais']));
BEGIN
    RETURN CASE greatest("en", "de", "fr", "es", "it", "pt", 1)
        WHEN 1 THEN 'english'::regconfig
        WHEN "en" THEN 'english'::regconfig
        WHEN "de" THEN 'german'::regconfig
        WHEN "fr" THEN 'french'::regconfig
        WHEN "es" THEN 'spanish'::regconfig
        WHEN "it" THEN 'italian'::regconfig
        ELSE 'portuguese'::regconfig
    END;
END
$$;

-- Returns what is searched of a document: its title with weight A, its body with weight B. It has every word as it is written and, at the
-- same position, its stem in the language of the document. The search path is kept for a dump, which is restored with an empty one.
CREATE FUNCTION "search_vector"("title" TEXT, "body" TEXT) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT AS $$
DECLARE
    "titleWords" tsvector := to_tsvector('simple'::regconfig, "title");
    "bodyWords" tsvector := to_tsvector('simple'::regconfig, "body");
    "language" regconfig := "search_language"("titleWords" || "bodyWords");
BEGIN
    RETURN setweight(("titleWords"::text || ' ' || to_tsvector("language", "title")::text)::tsvector, 'A')
        || setweight(("bodyWords"::text || ' ' || to_tsvector("language", "body")::text)::tsvector, 'B');
END
$$;

-- Returns the query for a word or phrase, with its stems in every language; an empty query for a stop word of the query's language.
CREATE FUNCTION "search_term"("term" TEXT, "language" regconfig) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE BEGIN ATOMIC
    SELECT CASE WHEN numnode(phraseto_tsquery("language", "term")) = 0 THEN phraseto_tsquery("language", "term") ELSE
        phraseto_tsquery('simple'::regconfig, "term")
        || phraseto_tsquery('english'::regconfig, "term") || phraseto_tsquery('german'::regconfig, "term")
        || phraseto_tsquery('french'::regconfig, "term") || phraseto_tsquery('spanish'::regconfig, "term")
        || phraseto_tsquery('italian'::regconfig, "term") || phraseto_tsquery('portuguese'::regconfig, "term")
    END;
END;

-- Returns the query for words that begin with this one.
CREATE FUNCTION "search_prefix"("term" TEXT) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE BEGIN ATOMIC
    SELECT CASE WHEN numnode("query") = 0 THEN "query" ELSE ("query"::text || ':*')::tsquery END
    FROM (SELECT phraseto_tsquery('simple'::regconfig, "term") AS "query") AS "exact";
END;

-- Returns the query with every word restricted to the weights, such as 'A' for titles.
CREATE FUNCTION "search_within"("query" tsquery, "weights" TEXT) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE BEGIN ATOMIC
    SELECT CASE WHEN "weights" = '' OR numnode("query") = 0 THEN "query"
        ELSE regexp_replace("query"::text, $$('(?:[^']|'')*')(?::(\*))?$$, '\1:\2' || "weights", 'g')::tsquery END;
END;

-- Words of public documents, as they are written and as stems, by which misspelt words of queries are corrected.
CREATE TABLE "search_words" (
    "word" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "search_words_pkey" PRIMARY KEY ("word")
);

-- Enables the correction of misspelt words. The extension is trusted: the owner of a database may create it without being superuser.
-- Returns false, and changes nothing, where the server does not ship it or the role may not create it; all other searches still work.
CREATE FUNCTION "search_enable_corrections"() RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    IF NOT EXISTS (SELECT FROM pg_index WHERE "indrelid" = '"search_words"'::regclass AND pg_get_indexdef("indexrelid") LIKE '%gin_trgm_ops%') THEN
        CREATE INDEX ON "search_words" USING GIN ("word" gin_trgm_ops);
    END IF;
    RETURN true;
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR invalid_schema_name THEN
    RAISE WARNING 'Misspelt words are not corrected: extension pg_trgm is not available (%). Install it, then run "npm run search:rebuild".', SQLERRM;
    RETURN false;
END
$$;
SELECT "search_enable_corrections"();

-- Returns a word as it is written and its stems in every language: one of them is in "search_words" if a document has the word.
CREATE FUNCTION "search_lexemes"("word" TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE BEGIN ATOMIC
    SELECT tsvector_to_array(
        to_tsvector('simple'::regconfig, "word")
        || to_tsvector('english'::regconfig, "word") || to_tsvector('german'::regconfig, "word")
        || to_tsvector('french'::regconfig, "word") || to_tsvector('spanish'::regconfig, "word")
        || to_tsvector('italian'::regconfig, "word") || to_tsvector('portuguese'::regconfig, "word"));
END;

-- Posts of any status are searched by their author and by moderators in `postsConnection`, in the moment in which they are written.
ALTER TABLE "posts" ADD COLUMN "words" tsvector GENERATED ALWAYS AS ("search_vector"("title", "body")) STORED;
DROP INDEX "posts_search_title_idx";
DROP INDEX "posts_search_body_idx";
DROP INDEX "posts_search_idx";
CREATE INDEX "posts_words_idx" ON "posts" USING GIN ("words");
CREATE INDEX "posts_title_words_idx" ON "posts" USING GIN (ts_filter("words", '{a}'));

-- The index of `search`: published posts, their comments and active accounts, nothing that is not public. A projection of events keeps it
-- up to date. Posts and comments are shown from their own tables; of accounts, which another subgraph owns, the searched strings are here.
-- `words` also contains '$POST' or another type, which no parsed string does, so that one index finds words of one type.
CREATE TABLE "search_documents" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "postId" TEXT,
    "name" TEXT,
    "bio" TEXT,
    "words" tsvector NOT NULL,
    "titleWords" tsvector NOT NULL GENERATED ALWAYS AS (ts_filter("words", '{a}') || array_to_tsvector(ARRAY['$' || "type"])) STORED,
    "createdAt" TIMESTAMPTZ(0) NOT NULL,

    CONSTRAINT "search_documents_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "search_documents_type" CHECK ("type" IN ('USER', 'POST', 'COMMENT'))
);
CREATE INDEX "search_documents_words_idx" ON "search_documents" USING GIN ("words");
CREATE INDEX "search_documents_titleWords_idx" ON "search_documents" USING GIN ("titleWords");
CREATE INDEX "search_documents_createdAt_id_idx" ON "search_documents"("createdAt", "id");
-- The comments of a post, which leave the index with it.
CREATE INDEX "search_documents_postId_idx" ON "search_documents"("postId") WHERE "postId" IS NOT NULL;

-- One row: when a build of the index was requested, and when the one that is searched was begun. A content process makes a build that is
-- due; the first one is.
CREATE TABLE "search_builds" (
    "onlyRow" BOOLEAN NOT NULL DEFAULT true,
    "requestedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "builtAt" TIMESTAMPTZ(3),
    "failure" TEXT,

    CONSTRAINT "search_builds_pkey" PRIMARY KEY ("onlyRow"),
    CONSTRAINT "search_builds_once" CHECK ("onlyRow")
);
INSERT INTO "search_builds" DEFAULT VALUES;
