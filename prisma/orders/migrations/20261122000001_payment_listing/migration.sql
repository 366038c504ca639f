-- One index for each filter and sort of `paymentsConnection`, as orders have them: the first for a customer's own, the others for administrators, who list all.
CREATE INDEX "payments_customerId_createdAt_id_idx" ON "payments"("customerId", "createdAt", "id");
CREATE INDEX "payments_status_createdAt_id_idx" ON "payments"("status", "createdAt", "id");
CREATE INDEX "payments_status_id_idx" ON "payments"("status", "id");
CREATE INDEX "payments_amount_id_idx" ON "payments"("amount", "id");
CREATE INDEX "payments_createdAt_id_idx" ON "payments"("createdAt", "id");
