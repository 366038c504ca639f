-- Events that a consumer of this subgraph has set aside, because their effect failed again and again, and those of the same subject behind
-- them (ADR 24). The same file in every subgraph.
CREATE TABLE "dead_letters" (
    -- The order in which the events of a subject are consumed.
    "number" BIGSERIAL NOT NULL,
    "consumer" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "eventId" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "event" JSONB NOT NULL,
    -- Of the last attempt; null for an event that waits behind another.
    "error" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- Set by an operator: the event is consumed again.
    "replayAt" TIMESTAMPTZ(3),

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("number")
);
CREATE UNIQUE INDEX "dead_letters_consumer_source_eventId_key" ON "dead_letters"("consumer", "source", "eventId");
CREATE INDEX "dead_letters_consumer_source_subject_number_idx" ON "dead_letters"("consumer", "source", "subject", "number");

-- The event behind the position whose effect has failed so many times.
ALTER TABLE "feed_positions" ADD COLUMN "failedEventId" TEXT, ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0;
