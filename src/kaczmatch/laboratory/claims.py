"""Each claim of the paper: what we measured, the verdict, and the command that shows it."""

from __future__ import annotations

import numpy as np

from kaczmatch.laboratory.results import Part, Table
from kaczmatch.laboratory.study import Laboratory, Study
from kaczmatch.learners.hinge import Hinge
from kaczmatch.learners.influence import influence
from kaczmatch.learners.registry import learner
from kaczmatch.learners.replay import replay
from kaczmatch.simulation.condition import HONEST, HONEST_ADAPTIVE, PAPER
from kaczmatch.simulation.trace import trace
from kaczmatch.simulation.world import world

REPRODUCED, MISLEADING, FALSE, CANNOT_TELL = "reproduced", "reproduced but misleading", "false", "cannot tell"


def claims_part(laboratory: Laboratory) -> Part:
    paper, honest = laboratory.study(PAPER), laboratory.study(HONEST)
    rows = [*_mathematics(), *_experiments(paper, honest, laboratory)]
    words = [
        "Each claim as we read it, what we measured, and a verdict. “Reproduced but misleading” means that the number comes out and the conclusion "
        "drawn from it does not follow. What we infer about how the paper was run is called an inference; its code is not published."
    ]
    numbered = [{"claim": n, **row} for n, row in enumerate(rows, 1)]
    return Part("claims", "The paper's claims", words, [Table("claims", "Claims and verdicts", numbered)])


def _row(where: str, says: str, measured: str, verdict: str, command: str) -> dict[str, str]:
    return {"where": where, "says": says, "measured": measured, "verdict": verdict, "command": command}


def _mathematics() -> list[dict[str, str]]:
    test = "pytest tests/paper"
    nk = learner("nk", direction="unit", hinge=Hinge(theta=0.95, delta=0.05))
    log = {"user": [0] * 20, "features": np.eye(21)[1:], "label": [1] * 20}
    weight = influence(nk, log, prior=np.eye(21)[0]).prior_weight
    tk = learner("tk", alpha=9.0, hinge=Hinge(theta=0.95, delta=0.05))
    step = float(np.linalg.norm(tk.swipe(tk.start(np.zeros(9)), np.ones(9), "like").cells))
    rng = np.random.default_rng(0)
    random = {"user": [0] * 64, "features": (rng.random((64, 60)) < 0.5).astype(float), "label": rng.choice([-1, 1], 64)}
    apart = np.abs(replay(learner("tk"), random)[0].cells - replay(learner("block-tk", k=1), random)[0].cells[:60]).max()
    tops = [np.linalg.eigvalsh(a @ a.T)[-1] / 32 for a in (rng.random((50, 32, 60)) < 0.5).astype(float)]
    return [
        _row("Prop. 1", "with |r| = 1 normalisation leaves at most ηⁿ of the prior: 10⁻⁶ after 20 swipes at η = 0.5",
             f"{weight:.3f} after 20 orthogonal swipes; and more than 1 a step where â = v⁰, r = −1", FALSE, test),
        _row("Prop. 2", "‖v‖ grows by at most R/(1 + α)", f"a step of {step:.3f} at α = 9 with nine tags, above 0.100; the bound is 1/(2√α)", FALSE, test),
        _row("Table 1", "on unit rows TK is gradient descent with η = 1/(1 + α)", "equal to rounding for all four α", REPRODUCED,
             "kaczmatch reproduce table-alpha"),
        _row("Eq. 7", "Block-TK with k = 1 is TK", f"largest difference after 64 swipes {apart:.0e}", REPRODUCED, test),
        _row("Section 5.2", "the eigenvalues of AAᵀ range from 0 to k", f"of the raw rows it uses the top one is {np.mean(tops):.1f} k", FALSE, test),
        _row("Section 6.1", "the both-way score is √(forward · backward)", "not a number for mixed signs; two dislikes of −0.5 score +0.5", FALSE, test),
        _row("Section 4.2", "TK's step is distinct from any fixed-rate gradient descent",
             "true; it is Passive-Aggressive-II's step (α = 1/(2C)) on a cosine margin", REPRODUCED, test),
    ]  # fmt: skip


def _experiments(paper: Study, honest: Study, laboratory: Laboratory) -> list[dict[str, str]]:
    last = f"_at_{paper.condition.swipes}"
    six = ("tk", "block-tk", "block-nk", "nk", "k-nonorm", "ogd")

    def p(name: str, metric: str) -> float:
        return paper.mean(name, metric)

    def h(name: str, metric: str) -> float:
        return honest.mean(name, metric)

    unit_stability = _unit_stability(laboratory)
    adaptive = _adaptive_at(laboratory, (200, 3_000))
    rate = _clean_rate(laboratory)
    table, tables = "kaczmatch reproduce table-metrics", "kaczmatch reproduce table-metrics --condition honest"
    centred = max(abs(p(name, "centred" + last)) for name in six)
    return [
        _row("Abstract", "Block-NK achieves the highest alignment (Align@20 = 0.698)",
             f"its own table has TK 0.710 and OGD 0.716; ours Block-NK {p('block-nk', 'align_at_20'):.3f}, TK {p('tk', 'align_at_20'):.3f}, "
             f"OGD {p('ogd', 'align_at_20'):.3f}", FALSE, table),
        _row("Section 8.1", "NK fails (Align@20 0.626, Δs 0.738) because normalisation forgets",
             f"Align@20 {p('nk', 'align_at_20'):.3f}, Δs {p('nk', 'delta_s'):.3f}; along the unit vector of its own eq. 3 Δs is {unit_stability:.3f}, and under honest "
             f"labels that NK ends at {h('nk-unit', 'final_alignment'):.3f} beside Block-NK's {h('block-nk', 'final_alignment'):.3f}", MISLEADING, tables),
        _row("Section 8.1", "TK and K-NoNorm are equivalent",
             f"Align@20 {p('tk', 'align_at_20'):.3f} and {p('k-nonorm', 'align_at_20'):.3f}, Δs {p('tk', 'delta_s'):.3f} and {p('k-nonorm', 'delta_s'):.3f}",
             REPRODUCED, table),
        _row("Section 8.1", "Block-NK dominates on stability (Δs = 0.994)",
             f"Δs {p('block-nk', 'delta_s'):.3f}; but a vector that never learns has 1, and there is nothing to learn in these labels", MISLEADING, table),
        _row("Remark 3", "the like rate of 0.80 affects label generation only, not the alignment metrics",
             f"{rate:.4f} of clean labels are likes: no preference in them. Centred alignment of the six at the end is within {centred:.3f} of 0, and all-ones "
             f"({p('all-ones', 'final_alignment'):.3f}) is above each of them", FALSE, table),
        _row("Section 8.3", "Block-NK is the most robust to noise (0.61 to 0.60)",
             "the numbers come out; the profile is flat because nothing is learned at any noise level. Under honest labels it falls with noise like the others",
             MISLEADING, "kaczmatch reproduce noise --condition honest"),
        _row("Section 8.2", "cosine subsampling substantially improves alignment (0.93 against 0.63 at 3,000)",
             f"the two panels use two labelling rules. With honest labels in both, Block-NK at 3,000: {adaptive[1][1]:.3f} against {adaptive[1][0]:.3f} by row norms",
             MISLEADING, "kaczmatch reproduce adaptive --condition honest"),
        _row("Section 8.2", "row-norm sampling is preferable until about 200 interactions",
             f"Block-NK at 200, honest labels: row-norm {adaptive[0][0]:.3f}, cosine {adaptive[0][1]:.3f}; a difference within the spread over seeds decides nothing",
             CANNOT_TELL, "kaczmatch reproduce adaptive --condition honest"),
        _row("Section 9.1", "α provides no measurable benefit",
             f"TK and K-NoNorm end at {h('tk', 'final_alignment'):.3f} and {h('k-nonorm', 'final_alignment'):.3f} under honest labels: r/‖a‖² with ‖a‖² near 30 hardly "
             "notices α = 1. In Block-NK a larger α raises the plateau", MISLEADING, "kaczmatch reproduce convergence"),
        _row("Table 2", "every method starts alike (no prior is mentioned)",
             f"inference: the Align@20 column fits a 0/1 prior that agrees with the soulmate in 70 % of its bits. All-ones gives {p('all-ones', 'align_at_20'):.3f}, "
             f"below the paper's 0.716 for OGD, and so does any vector that knows nothing of the soulmate", CANNOT_TELL, table),
    ]  # fmt: skip


def _unit_stability(laboratory: Laboratory) -> float:
    return laboratory.study(PAPER).mean("nk-unit", "delta_s")


def _adaptive_at(laboratory: Laboratory, times: tuple[int, ...]) -> list[tuple[float, float]]:
    """Block-NK's alignment after some swipes by row norms and by cosine subsampling, honest labels, first seed."""
    found = []
    for condition in (HONEST, HONEST_ADAPTIVE):
        sized = laboratory.plan.sized(condition)
        laboratory.tick(f"block-nk, {sized.sampling} sampling")
        mean = trace(learner("block-nk"), world(sized, 0)).alignment.mean(axis=0)
        found.append([float(mean[min(t, sized.swipes) - 1]) for t in times])
    return list(zip(*found, strict=True))


def _clean_rate(laboratory: Laboratory) -> float:
    """Share of likes among the paper's labels before any is flipped."""
    return float(world(laboratory.plan.sized(PAPER), 0).likes.mean())
