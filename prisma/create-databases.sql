-- One database for each subgraph and for the registry, which migrate them when they start.
CREATE DATABASE trestle_users;
CREATE DATABASE trestle_orders;
CREATE DATABASE trestle_content;
CREATE DATABASE trestle_registry;
