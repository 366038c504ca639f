/** The query of the compared servers: the default fields of a user in REST. */
export const USER_QUERY = 'query User($id: ID!) { user(id: $id) { id email name bio age role isActive createdAt updatedAt } }';
