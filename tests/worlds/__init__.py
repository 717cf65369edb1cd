"""The miniature worlds that tests share. One word means the same thing in all of them.

| module | what it has |
| --- | --- |
| `clock` | `NOON`, when every world begins, and a `Clock` that stands still until it is told to go on |
| `crowd` | people, their learned tastes and a candidate index: the library without a service |
| `logs` | logs of swipes, made at random |
| `town` | `Town`: the whole service in this process, on any store |
| `simulated` | `SimulatedTown`: a town whose people decide for themselves, so that the truth is known |
| `attack` | `AttackedTown`: a town in which one account asks again and again |
| `served` | `Service`: the same over HTTP on a free port, composed as in production |
| `receiver` | an app that gets webhooks |
| `stores`, `postgres`, `ports` | a store of each kind; a PostgreSQL server per worker, a database per test; free ports |

People are `about(…)`, move in with `move_in`, are seen in a `deck`, and `swipe`. A couple is a woman and a man who look for each
other.
"""
