"""How the tuple of the least value is found: a tournament, an order by value, or a scan of all."""
