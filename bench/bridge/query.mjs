/** What the peers ask the gateway for: the fields that the bridge shows of a user. */
export const USER_QUERY = 'query User($id: ID!) { user(id: $id) { id email name bio age role isActive createdAt updatedAt } }';
