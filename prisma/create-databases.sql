-- One database a subgraph; each subgraph migrates its own when it starts.
CREATE DATABASE trestle_users;
CREATE DATABASE trestle_orders;
CREATE DATABASE trestle_content;
