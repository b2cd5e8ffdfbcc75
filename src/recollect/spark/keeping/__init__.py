"""The state of a bounded join on Spark: one shard and how it is kept between micro-batches."""
