"""Files that users write in TOML: lines, tables and values, and what is wrong with them."""
