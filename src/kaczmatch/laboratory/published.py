"""The numbers the paper prints."""

from __future__ import annotations

# Table 2: like rate, Align@20, Δs under row-norm sampling, label noise 0.2.
METRICS = {
    "tk": {"like_rate": 0.800, "align_at_20": 0.710, "delta_s": 0.948},
    "block-tk": {"like_rate": 0.800, "align_at_20": 0.698, "delta_s": 0.968},
    "block-nk": {"like_rate": 0.800, "align_at_20": 0.698, "delta_s": 0.994},
    "nk": {"like_rate": 0.800, "align_at_20": 0.626, "delta_s": 0.738},
    "k-nonorm": {"like_rate": 0.800, "align_at_20": 0.710, "delta_s": 0.948},
    "ogd": {"like_rate": 0.800, "align_at_20": 0.716, "delta_s": 0.933},
}

# How near a mean over seeds has to come to count as reproduced.
TOLERANCE = {"like_rate": 0.005, "align_at_20": 0.02, "delta_s": 0.005}

# Section 8.3: final alignment at the lowest and the highest label noise. The paper gives no upper end for NK.
NOISE: dict[str, tuple[float, float | None]] = {
    "block-nk": (0.61, 0.60),
    "tk": (0.59, 0.53),
    "k-nonorm": (0.59, 0.53),
    "ogd": (0.59, 0.53),
    "nk": (0.48, None),
}
LABEL_NOISE = (0.10, 0.15, 0.20, 0.25, 0.30, 0.35)

# Section 8.2: Block-NK under cosine subsampling, and the like rate there.
ADAPTIVE_BLOCK_NK_AT_3000 = 0.93
ROW_NORM_BLOCK_NK_AT_3000 = 0.63
ADAPTIVE_LIKE_RATE = 0.45

# Table 1: α, step fraction, equivalent η.
ALPHA = ((0.01, 0.990, 0.990), (0.10, 0.909, 0.909), (1.0, 0.500, 0.500), (9.0, 0.100, 0.100))
