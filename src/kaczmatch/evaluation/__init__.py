"""The evaluation of a swipe log: `evaluate` and `tune` return typed results, `reporting` shows them."""
