"""HTTP: the route table, who comes in, and one file for each family of routes."""
