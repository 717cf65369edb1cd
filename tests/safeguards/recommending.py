"""Who is found, how they are ranked, and what is learned and measured."""

from __future__ import annotations

from safeguards.fault import Fault

RECOMMENDING = (
    Fault(
        "the bound on how loud an account is heard",
        "learners/population/traits.py",
        "heard = min(1.0, new_loud * usual / max(loud * abs(weight), 1e-300))",
        "heard = 1.0",
        "tests/unit/learners/test_trait_abuse.py -k surprised",
    ),
    Fault(
        "that a term of one kind is for that kind",
        "recommend/people/vocabulary.py",
        "if kinds is not None and not term.is_for(kinds):",
        "if False:",
        "tests/unit/service/test_kinds.py",
    ),
    Fault(
        "the other side's age range",
        "recommend/people/filters.py",
        "        & (greatest >= candidates.youngest)\n",
        "",
        "tests/unit/recommend/test_filters.py",
    ),
    Fault(
        "full-width signs taken for formulas",
        "formats/cells.py",
        "\\uff1d",
        "",
        "tests/functional/test_transfer.py -k full_width",
    ),
    Fault(
        "an order of admirers that is the same in every process",
        "recommend/decks/eligible.py",
        "np.unique(self.view.numbers(ids))",
        "self.view.numbers(set(ids))",
        "tests/unit/recommend/test_deck.py -k order_in_which",
    ),
    Fault(
        "private addresses refused by webhooks",
        "adapters/addresses.py",
        "return address.is_global and not",
        "return not",
        "tests/unit/adapters tests/functional/test_webhooks.py",
    ),
    Fault(
        "decks in the order of the viewer's side alone",
        "recommend/decks/recommender.py",
        "private_order: bool = True",
        "private_order: bool = False",
        "tests/functional/abuse/test_trilateration.py",
    ),
    Fault(
        "decks that are counted while exposure moves to another index",
        "recommend/decks/exposure.py",
        "            since[: len(before)] -= before\n",
        "            since[: len(before)] = 0.0\n",
        "tests/unit/recommend/test_exposure.py -k dealt",
    ),
    Fault(
        "that whoever is over the exposure cap and is shown again stays over it",
        "recommend/decks/exposure.py",
        "                if now > limit:  # they were shown again\n",
        "                if False:\n",
        "tests/unit/recommend/test_exposure.py -k over",
    ),
    Fault(
        "that decks which ask in another order do not look for everybody over the exposure cap",
        "recommend/decks/exposure.py",
        "            self._most_below = float(self._cards.max(where=~over, initial=0.0))\n",
        "            self._most_below = limit\n",
        "tests/unit/recommend/test_exposure.py -k order",
    ),
    Fault(
        "that people far away are filtered row by row where some of a chunk are near",
        "recommend/index/filter_kernel.py",
        "        if not farthest * (1.0 + _MARGIN) <= reach[0]:\n",
        "        if False:\n",
        "tests/unit/recommend/test_index_changes.py -k close",
    ),
    Fault(
        "that what the people of a chunk have in common is measured when they change in place",
        "recommend/index/candidate_index.py",
        "            self._table.measure(np.unique(places // CHUNK))\n",
        "",
        "tests/unit/recommend/test_index_changes.py -k neighbours",
    ),
    Fault(
        "that those who have learned something come first in their chunk",
        "recommend/index/chunks.py",
        "            self._learned_first([chunk])\n",
        "",
        "tests/unit/recommend/test_index_files.py -k overwritten_in",
    ),
    Fault(
        "whose row it is that moves, if it was overwritten in a file",
        "recommend/index/chunks.py",
        "        first = self.home[rows.person] == sources\n",
        "        first = rows.i_am > 0\n",
        "tests/unit/recommend/test_index_files.py -k overwritten_in",
    ),
    Fault(
        "that a row which moves is written as a whole",
        "recommend/index/chunks.py",
        "            column[chunk, ..., row] = np.moveaxis(values, -1, 0)\n",
        "            if (column[chunk, ..., row] != np.moveaxis(values, -1, 0)).any():\n"
        "                column[chunk, ..., row] = np.moveaxis(values, -1, 0)\n",
        "tests/unit/recommend/test_index_files.py -k has_moved",
    ),
    Fault(
        "that of many admirers those come whom the viewer likes",
        "recommend/decks/recommender.py",
        "pool.part(admirers, admirers=True)",
        "pool.part(admirers)",
        "tests/unit/recommend/test_deck.py -k admirers",
    ),
    Fault(
        "that people who were answered are not dealt as new",
        "recommend/decks/eligible.py",
        "        excluded = np.concatenate([never, cooling, repeats])",
        "        excluded = np.concatenate([never, cooling, repeats[:0]])",
        "tests/unit/service/test_deck_order.py",
    ),
    Fault(
        "that an open like does not come back",
        "recommend/decks/eligible.py",
        "{profile.id, *blocked, *answers.liked}",
        "{profile.id, *blocked}",
        "tests/unit/service/test_deck_order.py",
    ),
    Fault(
        "that a smaller state is not paid for with log-loss",
        "evaluation/measures/recommendation.py",
        "cheap = [name for name in smaller if name not in costly]",
        "cheap = smaller",
        "tests/unit/evaluation/test_holdout_ranking.py -k bytes",
    ),
)
