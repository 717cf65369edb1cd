"""Tables in and out: CSV, JSON Lines, Parquet. `columns` names them, `swipe_table` and `people_table` read them."""
