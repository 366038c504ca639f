-- One database for each subgraph, which migrates it when it starts.
CREATE DATABASE trestle_users;
CREATE DATABASE trestle_orders;
CREATE DATABASE trestle_content;
